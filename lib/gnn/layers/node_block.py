"""A node layer without message passing: the set model's counterpart of a graph layer."""

from lib.gnn.backend import keras, seeded_uniform


class NodeBlock(keras.layers.Layer):
    """Residual dense layer on each node by itself, as in Deep Sets

    > Deep Sets (NeurIPS 2017), Manzil Zaheer et al.

    **Computes**: x' = x + relu(x W + b)

    **Input**: (x float32[n, channels], edge int32[e, 2], which is not looked at).

    **Output**: float32[n, channels].

    **Arguments**: `channels`: units; `seed`: of the weights.
    """

    def __init__(self, channels: int, seed: int, **kwargs):
        super().__init__(**kwargs)
        self.built = True  # by the first call, not by a symbolic one before
        self._dense = keras.layers.Dense(
            channels, activation="relu", kernel_initializer=seeded_uniform(seed), name="dense"
        )

    def call(self, inputs):
        """Apply the layer to `inputs` = (x, edge)."""
        x, _ = inputs
        return x + self._dense(x)
