"""The workloads of the FAST paper (Zhang et al., "A Full-Stack Search Technique for Domain Optimized Deep Learning
Accelerators", ASPLOS 2022): EfficientNet-B0 to B7, BERT-Base, ResNet50v2, and stand-ins for OCR-RPN and
OCR-Recognizer.

An entry of a study's workloads:

    fast-b7:
      builder: workflow.studies.fast_workloads:efficientnet
      arguments: {variant: b7}
      family: efficientnet
      batch: 8
"""

from math import ceil
from typing import NamedTuple

import keras
from keras import layers

from workflow.studies.builders import transformer_encoder


class Scaling(NamedTuple):
    """How a variant differs from EfficientNet-B0."""

    width: float
    """Multiplies the channels of every layer."""
    depth: float
    """Multiplies the blocks of every stage."""
    resolution: int
    """Height and width of the image, pixels."""


class Stage(NamedTuple):
    """MBConv blocks of one kind, before scaling."""

    blocks: int
    kernel: int
    """Height and width of the depthwise convolution."""
    stride: int
    """Of the first block; the others have 1."""
    expansion: int
    """Expanded channels for each input channel."""
    channels: int
    """Output channels."""


EFFICIENTNET_SCALING = {
    "b0": Scaling(1.0, 1.0, 224),
    "b1": Scaling(1.0, 1.1, 240),
    "b2": Scaling(1.1, 1.2, 260),
    "b3": Scaling(1.2, 1.4, 300),
    "b4": Scaling(1.4, 1.8, 380),
    "b5": Scaling(1.6, 2.2, 456),
    "b6": Scaling(1.8, 2.6, 528),
    "b7": Scaling(2.0, 3.1, 600),
}
"""Tan and Le, "EfficientNet", ICML 2019, with the multipliers and resolutions of the authors' code."""

EFFICIENTNET_STAGES = (
    Stage(blocks=1, kernel=3, stride=1, expansion=1, channels=16),
    Stage(blocks=2, kernel=3, stride=2, expansion=6, channels=24),
    Stage(blocks=2, kernel=5, stride=2, expansion=6, channels=40),
    Stage(blocks=3, kernel=3, stride=2, expansion=6, channels=80),
    Stage(blocks=3, kernel=5, stride=1, expansion=6, channels=112),
    Stage(blocks=4, kernel=5, stride=2, expansion=6, channels=192),
    Stage(blocks=1, kernel=3, stride=1, expansion=6, channels=320),
)
"""Tan and Le 2019, table 1, stages 2 to 8."""

STEM_CHANNELS = 32
TOP_CHANNELS = 1280
CLASSES = 1000

SQUEEZE_RATIO = 0.25
"""Width of squeeze-excite for each *expanded* channel. Tan and Le's code and Keras take a quarter of the block's input
channels; this ratio gives the weights of FAST's table 1 (MBConv blocks without batch normalisation, bfloat16)."""

CHANNEL_MULTIPLE = 8
"""Scaled channels are rounded to multiples of this (Tan and Le's code)."""


def efficientnet(variant: str = "b0", input_shape: tuple | None = None) -> keras.Model:
    """FAST's EfficientNet: images [batch, height, width, 3] to the probabilities of 1000 classes.

    `variant` is one of b0 to b7; `input_shape` replaces its native resolution. Batch normalisation is kept, as in
    Keras's models: at inference it is a scale and a shift of each channel. Left out are what Keras does to the image
    before the stem, and dropout and stochastic depth, which inference hasn't. Raises ValueError for another variant.
    """
    if variant not in EFFICIENTNET_SCALING:
        raise ValueError(f"no EfficientNet '{variant}'; there are {', '.join(EFFICIENTNET_SCALING)}")
    width, depth, resolution = EFFICIENTNET_SCALING[variant]
    image = keras.Input(input_shape or (resolution, resolution, 3))
    x = _convolution(image, _scaled_channels(STEM_CHANNELS, width), kernel=3, stride=2, name="stem")
    for number, stage in enumerate(EFFICIENTNET_STAGES, start=1):
        channels = _scaled_channels(stage.channels, width)
        for block in range(ceil(depth * stage.blocks)):
            stride = stage.stride if block == 0 else 1
            # Blocks are numbered as in FAST's figures 4 and 14: 1a, 2a, 2b ...
            name = f"block{number}{chr(ord('a') + block)}"
            x = _mbconv(x, channels, stage.kernel, stride, stage.expansion, name)
    x = _convolution(x, _scaled_channels(TOP_CHANNELS, width), kernel=1, stride=1, name="top")
    x = layers.GlobalAveragePooling2D()(x)
    probabilities = layers.Dense(CLASSES, activation="softmax", name="classifier")(x)
    return keras.Model(image, probabilities, name=f"efficientnet_{variant}")


def bert_base(length: int = 128) -> keras.Model:
    """BERT-Base's encoder (Devlin et al. 2018): 12 layers of width 768, 12 heads, feed-forward networks of width 3072.

    Takes embedded tokens [batch, length, 768]: the look-up in the embedding table, a gather that does no arithmetic,
    is not part of the program. FAST's lengths are 128 and 1024.
    """
    return transformer_encoder(layers=12, width=768, heads=12, length=length)


def resnet50v2(input_shape: tuple = (224, 224, 3)) -> keras.Model:
    """ResNet50v2 (He et al., "Identity Mappings in Deep Residual Networks", ECCV 2016), Keras's."""
    return keras.applications.ResNet50V2(weights=None, input_shape=input_shape)


PYRAMID_CHANNELS = 256
"""Of every level of the feature pyramid and of the proposal head (Lin et al. 2017)."""
PYRAMID_LEVELS = {2: "conv2_block3_out", 3: "conv3_block4_out", 4: "conv4_block6_out", 5: "conv5_block3_out"}
"""Layers of Keras's ResNet50 by level: level n has 1/2**n of the image's resolution."""
ANCHORS = 3
"""Boxes a position, one for each aspect ratio (Lin et al. 2017, section 4.1)."""


def ocr_rpn_stand_in(input_shape: tuple = (1024, 1024, 3)) -> keras.Model:
    """A stand-in for OCR-RPN, the first stage of a text detector after Mask R-CNN, which is not public.

    This is the first stage of Mask R-CNN with ResNet-50 (He et al., "Mask R-CNN", ICCV 2017): feature pyramid (Lin et
    al., "Feature Pyramid Networks for Object Detection", CVPR 2017) and region proposals (Ren et al., "Faster R-CNN",
    NeurIPS 2015). The resolution is our choice.

    Takes images [batch, height, width, 3], height and width multiples of 32; returns for the levels 2 to 6 objectness
    [batch, h, w, 3] and box offsets [batch, h, w, 12]. The choice among the boxes is not part of it.
    """
    backbone = keras.applications.ResNet50(weights=None, include_top=False, input_shape=input_shape)
    finer = None
    pyramid = {}
    for level in sorted(PYRAMID_LEVELS, reverse=True):
        x = layers.Conv2D(PYRAMID_CHANNELS, 1)(backbone.get_layer(PYRAMID_LEVELS[level]).output)
        x = x if finer is None else x + finer
        pyramid[level] = layers.Conv2D(PYRAMID_CHANNELS, 3, padding="same")(x)
        finer = _twice_the_resolution(x)
    pyramid[6] = layers.MaxPooling2D(1, strides=2)(pyramid[5])

    hidden = layers.Conv2D(PYRAMID_CHANNELS, 3, padding="same", activation="relu")
    objectness = layers.Conv2D(ANCHORS, 1, activation="sigmoid")
    offsets = layers.Conv2D(4 * ANCHORS, 1)
    proposals = []
    for level in sorted(pyramid):
        x = hidden(pyramid[level])
        proposals += [objectness(x), offsets(x)]
    return keras.Model(backbone.input, proposals, name="ocr_rpn_stand_in")


LINE_HEIGHT = 32
"""Height of the image of a text line, pixels (Shi et al. 2017)."""
TEXT_CHARACTERS = 37
"""Digits, letters and the blank that stands for no new character (Shi et al. 2017)."""
TEXT_UNITS = 256
"""Of the recurrent layers in each direction (Shi et al. 2017)."""


def ocr_recognizer_stand_in(width: int = 512) -> keras.Model:
    """A stand-in for OCR-Recognizer, an LSTM that reads a line of text, which is not public.

    This is CRNN (Shi, Bai, Yao, "An End-to-End Trainable Neural Network for Image-based Sequence Recognition", TPAMI
    2017, table 1): convolutions that leave a row of features for every fourth column of pixels, two bidirectional
    LSTMs along the row with a dense layer between them (as in the authors' code), a softmax over characters. The width
    of the line is our choice.

    Takes grey images [batch, 32, width, 1]; returns probabilities [batch, width / 4 - 1, 37]. What picks the text from
    them is not part of it.
    """
    image = x = keras.Input((LINE_HEIGHT, width, 1))
    for block in (1, 2):
        x = layers.Conv2D(64 * block, 3, padding="same", activation="relu")(x)
        x = layers.MaxPooling2D(2)(x)
    for channels in (256, 512):
        normalised = channels == 512
        for _ in range(2):
            x = layers.Conv2D(channels, 3, padding="same", activation=None if normalised else "relu")(x)
            if normalised:
                x = layers.ReLU()(layers.BatchNormalization()(x))
        x = layers.MaxPooling2D((2, 1))(x)
    x = layers.Conv2D(512, 2, activation="relu")(x)
    x = layers.Reshape(x.shape[2:])(x)  # one pixel high
    x = layers.Bidirectional(layers.LSTM(TEXT_UNITS, return_sequences=True))(x)
    x = layers.Dense(TEXT_UNITS)(x)
    x = layers.Bidirectional(layers.LSTM(TEXT_UNITS, return_sequences=True))(x)
    return keras.Model(image, layers.Dense(TEXT_CHARACTERS, activation="softmax")(x), name="ocr_recognizer_stand_in")


def _scaled_channels(channels: int, width: float) -> int:
    """Rounds to the nearest multiple of 8, but not down by more than a tenth (Tan and Le's code)."""
    scaled = channels * width
    rounded = max(CHANNEL_MULTIPLE, int(scaled + CHANNEL_MULTIPLE / 2) // CHANNEL_MULTIPLE * CHANNEL_MULTIPLE)
    return rounded + CHANNEL_MULTIPLE if rounded < 0.9 * scaled else rounded


def _convolution(x, channels: int, kernel: int, stride: int, name: str):
    """Convolution, batch normalisation and swish."""
    x = layers.Conv2D(channels, kernel, strides=stride, padding="same", use_bias=False, name=f"{name}_conv")(x)
    return layers.Activation("swish")(layers.BatchNormalization(name=f"{name}_norm")(x))


def _mbconv(x, channels: int, kernel: int, stride: int, expansion: int, name: str):
    """Inverted residual block: expansion, depthwise convolution, squeeze-excite, projection."""
    block_input = x
    expanded = expansion * x.shape[-1]
    if expansion > 1:
        x = _convolution(x, expanded, kernel=1, stride=1, name=f"{name}_expand")
    depthwise = layers.DepthwiseConv2D(
        kernel, strides=stride, padding="same", use_bias=False, name=f"{name}_depthwise_conv"
    )
    x = layers.BatchNormalization(name=f"{name}_depthwise_norm")(depthwise(x))
    x = layers.Activation("swish")(x)

    squeezed = layers.GlobalAveragePooling2D(keepdims=True)(x)
    squeezed = layers.Conv2D(int(SQUEEZE_RATIO * expanded), 1, activation="swish", name=f"{name}_squeeze_conv")(
        squeezed
    )
    x *= layers.Conv2D(expanded, 1, activation="sigmoid", name=f"{name}_excite_conv")(squeezed)

    x = layers.Conv2D(channels, 1, use_bias=False, name=f"{name}_project_conv")(x)
    x = layers.BatchNormalization(name=f"{name}_project_norm")(x)
    return x + block_input if x.shape == block_input.shape else x


def _twice_the_resolution(x):
    """Nearest neighbours: [batch, h, w, c] to [batch, 2 h, 2 w, c]."""
    return keras.ops.repeat(keras.ops.repeat(x, 2, axis=1), 2, axis=2)
