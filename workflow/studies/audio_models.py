"""Builders of models of sound: WaveNet, WaveRNN, a speech recogniser."""

import keras
from keras import layers, ops


def wavenet(
    blocks: int = 3, dilations: int = 8, channels: int = 64, skip: int = 256, samples: int = 4096
) -> keras.Model:
    """WaveNet (van den Oord et al., "WaveNet: A Generative Model for Raw Audio", 2016): quantised samples as numbers
    [batch, samples, 1] to logits of 256 levels for each next one.

    Causal convolutions of two taps, dilated by 1, 2, 4 ... in every block, gated by tanh and sigmoid, with residual and
    skip connections. `channels` and `skip` are our choice; the paper gives none.
    """
    sound = keras.Input((samples, 1))
    x = layers.Conv1D(channels, 2, padding="causal")(sound)
    skips = []
    for _ in range(blocks):
        for level in range(dilations):
            dilated = layers.Conv1D(2 * channels, 2, padding="causal", dilation_rate=2**level)(x)
            gated = ops.tanh(dilated[..., :channels]) * ops.sigmoid(dilated[..., channels:])
            skips.append(layers.Conv1D(skip, 1)(gated))
            x = x + layers.Conv1D(channels, 1)(gated)
    y = ops.relu(sum(skips[1:], skips[0]))
    y = layers.Conv1D(skip, 1, activation="relu")(y)
    return keras.Model(sound, layers.Conv1D(256, 1)(y))


@keras.saving.register_keras_serializable()
class WaveRNNCell(keras.layers.Layer):
    """One sample of WaveRNN: the state of a GRU, half of it for the coarse and half for the fine eight bits.

    Input [batch, features], states [batch, units] and the last sample [batch, 2]; output the new sample [batch, 2].
    The likeliest level is taken where the paper draws one. The fine half reads the coarse bits after they are known.
    """

    def __init__(self, units: int, **options):
        super().__init__(**options)
        self.units = units
        self.state_size = [units, 2]
        self.output_size = 2
        self.recurrent = layers.Dense(3 * units, use_bias=False)
        self.conditioning = layers.Dense(3 * units)
        self.coarse_input = layers.Dense(3 * units // 2, use_bias=False)
        self.fine_input = layers.Dense(3 * units // 2, use_bias=False)
        self.hidden = [layers.Dense(units // 2, activation="relu") for _ in range(2)]
        self.levels = [layers.Dense(256) for _ in range(2)]

    def build(self, input_shape):
        """Weights by the shape of a step's features."""
        half = (None, self.units // 2)
        self.recurrent.build((None, self.units))
        self.conditioning.build(input_shape)
        self.coarse_input.build((None, 2))
        self.fine_input.build((None, 3))
        for hidden, levels in zip(self.hidden, self.levels, strict=True):
            hidden.build(half)
            levels.build(half)
        self.built = True

    def call(self, features, states):
        """A step: (sample, new states)."""
        state, last = states
        old = ops.split(state, 2, axis=-1)
        given = ops.split(self.conditioning(features), 2, axis=-1)
        recurrent = ops.split(self.recurrent(state), 2, axis=-1)
        coarse_state = self._half(self.coarse_input(last) + given[0], recurrent[0], old[0])
        coarse = self._sample(0, coarse_state)
        fine_input = ops.concatenate([last, coarse], axis=-1)
        fine_state = self._half(self.fine_input(fine_input) + given[1], recurrent[1], old[1])
        sample = ops.concatenate([coarse, self._sample(1, fine_state)], axis=-1)
        return sample, [ops.concatenate([coarse_state, fine_state], axis=-1), sample]

    def _half(self, given, recurrent, old):
        """The GRU's new state of one half (equation 2 of the paper)."""
        update, reset, new = ops.split(given, 3, axis=-1)
        update_before, reset_before, new_before = ops.split(recurrent, 3, axis=-1)
        update = ops.sigmoid(update + update_before)
        new = ops.tanh(new + ops.sigmoid(reset + reset_before) * new_before)
        return update * old + (1 - update) * new

    def _sample(self, half: int, state):
        """The likeliest of 256 levels, between -1 and 1: [batch, 1]."""
        level = ops.argmax(self.levels[half](self.hidden[half](state)), axis=-1, keepdims=True)
        return ops.cast(level, "float32") / 127.5 - 1


def wavernn(units: int = 896, samples: int = 256, features: int = 80) -> keras.Model:
    """WaveRNN (Kalchbrenner et al., "Efficient Neural Audio Synthesis", 2018) that makes sound one sample after the
    other: features for each [batch, samples, features] to samples [batch, samples, 2]."""
    conditions = keras.Input((samples, features))
    return keras.Model(conditions, layers.RNN(WaveRNNCell(units), return_sequences=True)(conditions))


def speech_recogniser(
    frames: int = 200, frequencies: int = 161, units: int = 512, layers: int = 3, characters: int = 29
) -> keras.Model:
    """Deep Speech 2 (Amodei et al., "Deep Speech 2: End-to-End Speech Recognition in English and Mandarin", 2016), with
    fewer and narrower recurrent layers: spectrogram [batch, frames, frequencies, 1] to logits of characters for every
    second frame. Two convolutions, bidirectional GRUs with batch normalisation between them."""
    spectrogram = x = keras.Input((frames, frequencies, 1))
    for kernel, strides in (((11, 41), (2, 2)), ((11, 21), (1, 2))):
        x = keras.layers.Conv2D(32, kernel, strides=strides, padding="same", use_bias=False)(x)
        x = ops.clip(keras.layers.BatchNormalization()(x), 0.0, 20.0)
    x = keras.layers.Reshape((x.shape[1], x.shape[2] * x.shape[3]))(x)
    for _ in range(layers):
        gru = keras.layers.GRU(units, return_sequences=True)
        x = keras.layers.BatchNormalization()(keras.layers.Bidirectional(gru, merge_mode="sum")(x))
    return keras.Model(spectrogram, keras.layers.Dense(characters)(x))
