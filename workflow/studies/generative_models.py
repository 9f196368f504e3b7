"""Builders of models that make images: autoencoders, ConvDRAW, a generator and its discriminator."""

import keras
from keras import layers, ops


def dense_autoencoder(widths: tuple = (1000, 500, 250, 30), pixels: int = 784) -> keras.Model:
    """The deep autoencoder of Hinton and Salakhutdinov, "Reducing the Dimensionality of Data with Neural Networks"
    (2006): vectors [batch, pixels] to their reconstruction, through 30 numbers."""
    vector = x = keras.Input((pixels,))
    for width in widths[:-1]:
        x = layers.Dense(width, activation="sigmoid")(x)
    x = layers.Dense(widths[-1])(x)
    for width in (*reversed(widths[:-1]), pixels):
        x = layers.Dense(width, activation="sigmoid")(x)
    return keras.Model(vector, x)


def variational_autoencoder(
    width: int = 32, levels: int = 4, latent: int = 128, input_shape: tuple = (64, 64, 3)
) -> keras.Model:
    """A convolutional variational autoencoder (Kingma and Welling, "Auto-Encoding Variational Bayes", 2014): image and
    noise [batch, latent] to the reconstruction and the code's mean and logarithm of variance."""
    image, noise = keras.Input(input_shape), keras.Input((latent,))
    x = image
    for level in range(levels):
        x = layers.Conv2D(width * 2**level, 4, strides=2, padding="same", activation="relu")(x)
    small = x.shape[1:]
    x = layers.Flatten()(x)
    mean, log_variance = layers.Dense(latent)(x), layers.Dense(latent)(x)
    x = layers.Dense(small[0] * small[1] * small[2], activation="relu")(mean + noise * ops.exp(0.5 * log_variance))
    x = layers.Reshape(small)(x)
    for level in reversed(range(levels - 1)):
        x = layers.Conv2DTranspose(width * 2**level, 4, strides=2, padding="same", activation="relu")(x)
    x = layers.Conv2DTranspose(input_shape[-1], 4, strides=2, padding="same", activation="sigmoid")(x)
    return keras.Model([image, noise], [x, mean, log_variance])


def conv_draw(
    steps: int = 4, width: int = 64, latent: int = 12, kernel: int = 5, input_shape: tuple = (32, 32, 3)
) -> keras.Model:
    """Convolutional DRAW (Gregor et al., "Towards Conceptual Compression", 2016): `steps` rounds in which a
    convolutional LSTM reads image and error, a code is drawn, and another LSTM paints onto the canvas; one set of
    weights for all.

    Image [batch, h, w, c] and noise [batch, steps, h/2, w/2, latent] to the canvas and the statistics of all codes.
    Steps and widths are our choice.
    """
    height, across, colours = input_shape
    image, noise = keras.Input(input_shape), keras.Input((steps, height // 2, across // 2, latent))
    read = layers.Conv2D(width, kernel, strides=2, padding="same")
    posterior, prior = (layers.Conv2D(2 * latent, kernel, padding="same") for _ in range(2))
    encoder, decoder = (layers.Conv2D(4 * width, kernel, padding="same") for _ in range(2))
    paint = layers.Conv2DTranspose(colours, kernel, strides=2, padding="same")
    canvas = ops.zeros_like(image)
    nothing = ops.zeros_like(ops.repeat(image[:, ::2, ::2, :1], width, axis=-1))
    seen, seen_cell, drawn, drawn_cell = (nothing,) * 4
    codes = []
    for step in range(steps):
        error = image - ops.sigmoid(canvas)
        view = read(layers.Concatenate()([image, error]))
        seen, seen_cell = _lstm(encoder(layers.Concatenate()([view, seen, drawn])), seen_cell, width)
        statistics = posterior(seen)
        code = statistics[..., :latent] + noise[:, step] * ops.exp(0.5 * statistics[..., latent:])
        codes += [statistics, prior(drawn)]
        drawn, drawn_cell = _lstm(decoder(layers.Concatenate()([code, drawn, view])), drawn_cell, width)
        canvas = canvas + paint(drawn)
    return keras.Model([image, noise], [canvas, *codes])


def dcgan_generator(width: int = 128, code: int = 100, size: int = 64) -> keras.Model:
    """The generator of DCGAN (Radford et al., "Unsupervised Representation Learning with Deep Convolutional Generative
    Adversarial Networks", 2016): codes [batch, code] to images [batch, size, size, 3]; size is 4 times a power of 2."""
    numbers = keras.Input((code,))
    doublings = (size // 4).bit_length() - 1
    channels = width * 2 ** (doublings - 1)
    x = layers.Reshape((4, 4, channels))(layers.Dense(16 * channels, use_bias=False)(numbers))
    for level in reversed(range(doublings - 1)):
        x = layers.ReLU()(layers.BatchNormalization()(x))
        x = layers.Conv2DTranspose(width * 2**level, 5, strides=2, padding="same", use_bias=False)(x)
    x = layers.ReLU()(layers.BatchNormalization()(x))
    return keras.Model(numbers, layers.Conv2DTranspose(3, 5, strides=2, padding="same", activation="tanh")(x))


def dcgan_discriminator(width: int = 128, levels: int = 4, input_shape: tuple = (64, 64, 3)) -> keras.Model:
    """The discriminator of DCGAN: images to one logit, by convolutions of stride 2 with leaky ReLU."""
    image = x = keras.Input(input_shape)
    for level in range(levels):
        x = layers.Conv2D(width * 2**level, 5, strides=2, padding="same", use_bias=level == 0)(x)
        x = layers.LeakyReLU(0.2)(x if level == 0 else layers.BatchNormalization()(x))
    return keras.Model(image, layers.Dense(1)(layers.Flatten()(x)))


def _lstm(gates, cell, width: int):
    """(Output, cell) of a convolutional LSTM (Shi et al. 2015) from its four gates."""
    into, forget, out, new = (gates[..., number * width : (number + 1) * width] for number in range(4))
    cell = ops.sigmoid(forget) * cell + ops.sigmoid(into) * ops.tanh(new)
    return ops.sigmoid(out) * ops.tanh(cell), cell
