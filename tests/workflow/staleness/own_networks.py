"""A builder of one's own beside the study."""

import keras


def network() -> keras.Model:
    vector = keras.Input((64,))
    return keras.Model(vector, keras.layers.Dense(32)(vector))
