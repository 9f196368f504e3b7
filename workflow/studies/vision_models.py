"""Builders of models of images: classifiers by patches, small residual networks, detection, segmentation."""

import keras
from keras import layers

from workflow.studies.language_models import LearnedPositions


def vision_transformer(
    blocks: int = 12, width: int = 192, heads: int = 3, patch: int = 16, input_shape: tuple = (224, 224, 3)
) -> keras.Model:
    """Vision Transformer (Dosovitskiy et al., "An Image is Worth 16x16 Words", 2021) in the sizes of DeiT-Tiny (Touvron
    et al. 2021) by default; the classes are read from the mean of all patches."""
    image = keras.Input(input_shape)
    x = LearnedPositions()(_patches(image, patch, width))
    for _ in range(blocks):
        normal = layers.LayerNormalization()(x)
        x = x + layers.MultiHeadAttention(heads, width // heads)(normal, normal)
        x = x + _two_layers(layers.LayerNormalization()(x), 4 * width)
    x = layers.GlobalAveragePooling1D()(layers.LayerNormalization()(x))
    return keras.Model(image, layers.Dense(1000)(x))


def mlp_mixer(
    blocks: int = 8,
    width: int = 512,
    token_width: int = 256,
    channel_width: int = 2048,
    patch: int = 16,
    input_shape: tuple = (224, 224, 3),
) -> keras.Model:
    """MLP-Mixer (Tolstikhin et al., "MLP-Mixer: An all-MLP Architecture for Vision", 2021), S/16 by default: layers
    across patches and layers across channels in turn."""
    image = keras.Input(input_shape)
    x = _patches(image, patch, width)
    for _ in range(blocks):
        turned = layers.Permute((2, 1))(layers.LayerNormalization()(x))
        x = x + layers.Permute((2, 1))(_two_layers(turned, token_width))
        x = x + _two_layers(layers.LayerNormalization()(x), channel_width)
    x = layers.GlobalAveragePooling1D()(layers.LayerNormalization()(x))
    return keras.Model(image, layers.Dense(1000)(x))


def resnet_cifar(depth: int = 20, version: int = 1, width: int = 16, input_shape: tuple = (32, 32, 3)) -> keras.Model:
    """Residual networks for small images (He et al., "Deep Residual Learning for Image Recognition", 2016, section 4.2;
    version 2 after "Identity Mappings in Deep Residual Networks", 2016): depth 6 n + 2, two convolutions a block.

    Raises ValueError for a depth or a version that there isn't.
    """
    if version not in (1, 2) or depth % 6 != 2:
        raise ValueError(f"depth {depth}, version {version}: depths are 6 n + 2, versions 1 and 2")
    image = keras.Input(input_shape)
    x = layers.Conv2D(width, 3, padding="same", use_bias=False)(image)
    for stage in range(3):
        for block in range(depth // 6):
            strides = 2 if stage and not block else 1
            x = (_basic_block if version == 1 else _preactivated_block)(x, width * 2**stage, strides)
    x = layers.GlobalAveragePooling2D()(x if version == 1 else _normalised(x))
    return keras.Model(image, layers.Dense(10)(x))


def u_net(width: int = 64, levels: int = 4, classes: int = 2, input_shape: tuple = (256, 256, 1)) -> keras.Model:
    """U-Net (Ronneberger et al., "U-Net: Convolutional Networks for Biomedical Image Segmentation", 2015), padded, so
    that the map of classes is as large as the image, a multiple of 2**levels."""
    image = x = keras.Input(input_shape)
    kept = []
    for level in range(levels):
        kept.append(_two_convolutions(x, width * 2**level))
        x = layers.MaxPooling2D(2)(kept[-1])
    x = _two_convolutions(x, width * 2**levels)
    for level in reversed(range(levels)):
        x = layers.Conv2DTranspose(width * 2**level, 2, strides=2)(x)
        x = _two_convolutions(layers.Concatenate()([kept[level], x]), width * 2**level)
    return keras.Model(image, layers.Conv2D(classes, 1)(x))


def single_shot_detector(width: int = 64, classes: int = 21, input_shape: tuple = (300, 300, 3)) -> keras.Model:
    """SSD300 (Liu et al., "SSD: Single Shot MultiBox Detector", 2016): VGG-16's convolutions, further ones on ever
    smaller maps, and on six of the maps class scores [batch, boxes, classes] and offsets [batch, boxes, 4] for 4 or 6
    boxes a position. `width`: channels of the first layer (the paper's: 64). Choosing among boxes is not part of it."""
    image = x = keras.Input(input_shape)
    for number, convolutions in enumerate((2, 2, 3)):
        for _ in range(convolutions):
            x = _relu_convolution(x, width * 2**number, 3)
        x = layers.MaxPooling2D(2, padding="same")(x)
    for _ in range(3):
        x = _relu_convolution(x, 8 * width, 3)
    maps = [layers.UnitNormalization()(x)]
    x = layers.MaxPooling2D(2, padding="same")(x)
    for _ in range(3):
        x = _relu_convolution(x, 8 * width, 3)
    x = layers.MaxPooling2D(3, strides=1, padding="same")(x)
    x = layers.Conv2D(16 * width, 3, padding="same", dilation_rate=6, activation="relu")(x)
    maps.append(_relu_convolution(x, 16 * width, 1))
    for channels, strides, padding in ((8, 2, "same"), (4, 2, "same"), (4, 1, "valid"), (4, 1, "valid")):
        x = _relu_convolution(maps[-1], channels * width // 2, 1)
        maps.append(layers.Conv2D(channels * width, 3, strides=strides, padding=padding, activation="relu")(x))
    scores, offsets = [], []
    for features, boxes in zip(maps, (4, 6, 6, 6, 4, 4), strict=True):
        scores.append(layers.Reshape((-1, classes))(layers.Conv2D(boxes * classes, 3, padding="same")(features)))
        offsets.append(layers.Reshape((-1, 4))(layers.Conv2D(boxes * 4, 3, padding="same")(features)))
    return keras.Model(image, [layers.Concatenate(axis=1)(scores), layers.Concatenate(axis=1)(offsets)])


def _patches(image, patch: int, width: int):
    """Each patch of the image as a vector: [batch, patches, width]."""
    x = layers.Conv2D(width, patch, strides=patch)(image)
    return layers.Reshape((x.shape[1] * x.shape[2], width))(x)


def _two_layers(x, hidden: int):
    return layers.Dense(x.shape[-1])(layers.Dense(hidden, activation="gelu")(x))


def _relu_convolution(x, channels: int, kernel: int):
    return layers.Conv2D(channels, kernel, padding="same", activation="relu")(x)


def _two_convolutions(x, channels: int):
    return _relu_convolution(_relu_convolution(x, channels, 3), channels, 3)


def _normalised(x):
    """Batch normalisation and ReLU."""
    return layers.ReLU()(layers.BatchNormalization()(x))


def _basic_block(x, channels: int, strides: int):
    y = _normalised(layers.Conv2D(channels, 3, strides=strides, padding="same", use_bias=False)(x))
    y = layers.BatchNormalization()(layers.Conv2D(channels, 3, padding="same", use_bias=False)(y))
    if strides > 1:
        x = layers.BatchNormalization()(layers.Conv2D(channels, 1, strides=strides, use_bias=False)(x))
    return layers.ReLU()(x + y)


def _preactivated_block(x, channels: int, strides: int):
    y = _normalised(x)
    if strides > 1:
        x = layers.Conv2D(channels, 1, strides=strides, use_bias=False)(y)
    y = layers.Conv2D(channels, 3, strides=strides, padding="same", use_bias=False)(y)
    return x + layers.Conv2D(channels, 3, padding="same", use_bias=False)(_normalised(y))
