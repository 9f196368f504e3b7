"""Convolutional networks drawn at random, nobody's own: kernels of many shapes for a cost model to learn from.

What published networks have in common is that few shapes occur often. A drawn network has as many different ones as it
has layers.
"""

from random import Random

import keras
from keras import layers

KERNELS = (1, 1, 2, 3, 3, 3, 5, 7, (1, 3), (3, 1), (1, 5), (5, 1), (1, 7), (7, 1))
CHANNELS = (6, 8, 12, 16, 20, 24, 32, 40, 48, 64, 72, 96, 112, 128, 160, 192, 256)
ACTIVATIONS = ("relu", "relu6", "leaky_relu", "elu", "gelu", "swish", "hard_swish", "sigmoid", "tanh", "softplus")
SMALLEST_MAP = 4
"""Pixels a side, below which nothing makes a map smaller."""
LARGEST_MAP = 48
"""Pixels a side, above which nothing makes a map larger."""


def drawn_convolution_network(seed: int = 1, blocks: int = 6, input_shape: tuple = (32, 32, 3)) -> keras.Model:
    """Images to ten numbers by blocks that `seed` draws: their kind, channels, windows, strides, dilations, groups,
    normalisation and activation."""
    draw = Random(seed)
    image = x = keras.Input(input_shape)
    kinds = [_plain, _separable, _grouped, _branches, _residual, _gated, _transposed, _plain, _separable]
    draw.shuffle(kinds)
    for number in range(blocks):
        x = kinds[number % len(kinds)](draw, x)
        if draw.random() < 0.25 and _side(x) >= 2 * SMALLEST_MAP:
            pool = draw.choice((layers.MaxPooling2D, layers.AveragePooling2D))
            x = pool(draw.choice((2, 3)), strides=2, padding="same")(x)
    x = layers.GlobalAveragePooling2D()(x) if draw.random() < 0.5 else layers.Flatten()(x)
    return keras.Model(image, layers.Dense(10)(x))


def _side(x) -> int:
    return min(x.shape[1:3])


def _stride(draw: Random, x) -> int:
    return 2 if _side(x) >= 2 * SMALLEST_MAP and draw.random() < 0.35 else 1


def _finished(draw: Random, x):
    """A normalisation, or none, and an activation."""
    norm = draw.random()
    if norm < 0.55:
        x = layers.BatchNormalization()(x)
    elif norm < 0.7:
        x = layers.LayerNormalization()(x)
    return layers.Activation(draw.choice(ACTIVATIONS))(x)


def _plain(draw: Random, x, stride: int | None = None):
    stride = _stride(draw, x) if stride is None else stride
    window = draw.choice(KERNELS)
    dilation = 2 if stride == 1 and window == 3 and draw.random() < 0.25 else 1
    bias = draw.random() < 0.5
    channels = draw.choice(CHANNELS)
    convolution = layers.Conv2D(channels, window, stride, "same", dilation_rate=dilation, use_bias=bias)
    return _finished(draw, convolution(x))


def _separable(draw: Random, x):
    """A depthwise convolution, mostly between two of window 1."""
    if draw.random() < 0.6:
        x = _finished(draw, layers.Conv2D(draw.choice(CHANNELS), 1, use_bias=False)(x))
    depthwise = layers.DepthwiseConv2D(draw.choice((3, 3, 5, 7)), _stride(draw, x), "same", use_bias=False)
    x = _finished(draw, depthwise(x))
    return layers.Conv2D(draw.choice(CHANNELS), 1)(x)


def _grouped(draw: Random, x):
    groups = draw.choice((2, 4, 8))
    x = layers.Conv2D(groups * draw.choice((3, 4, 8, 12)), 1)(x)
    grouped = layers.Conv2D(groups * draw.choice((2, 4, 8, 16)), 3, _stride(draw, x), "same", groups=groups)
    return _finished(draw, grouped(x))


def _branches(draw: Random, x):
    """Two or three ways of their own, and mostly a pooled one, side by side."""
    ways = [_plain(draw, x, stride=1) for _ in range(draw.choice((2, 3)))]
    if draw.random() < 0.7:
        ways.append(layers.AveragePooling2D(3, 1, "same")(x))
    return layers.Concatenate()(ways)


def _residual(draw: Random, x):
    channels, window = draw.choice(CHANNELS), draw.choice((1, 3, 3, 5))
    x = layers.Conv2D(channels, 1, _stride(draw, x))(x)
    y = _finished(draw, layers.Conv2D(channels, window, padding="same", use_bias=False)(x))
    y = layers.Conv2D(channels, window, padding="same")(y)
    return layers.Activation(draw.choice(ACTIVATIONS))(x + y)


def _gated(draw: Random, x):
    """Channels scaled by what the whole map has of each (Hu et al., "Squeeze-and-Excitation Networks", 2018)."""
    channels = x.shape[-1]
    y = layers.GlobalAveragePooling2D(keepdims=True)(x)
    y = layers.Conv2D(max(2, channels // 4), 1, activation=draw.choice(("relu", "swish")))(y)
    return x * layers.Conv2D(channels, 1, activation=draw.choice(("sigmoid", "hard_sigmoid")))(y)


def _transposed(draw: Random, x):
    if 2 * max(x.shape[1:3]) > LARGEST_MAP:
        return _plain(draw, x)
    window = draw.choice((2, 3, 4, 5))
    return _finished(draw, layers.Conv2DTranspose(draw.choice(CHANNELS), window, 2, "same", use_bias=False)(x))
