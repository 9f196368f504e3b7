"""Reduction of node embeddings to a sum of node scores."""

from lib.gnn.backend import keras, seeded_uniform, tf
from lib.gnn.layers.column_wise import SUM_WEIGHT


class PerNodeReduction(keras.layers.Layer):
    """Sum of a score of each node, from the paper

    > A Learned Performance Model for Tensor Processing Units (MLSys 2021), section 3.3,
    > Samuel J. Kaufman, Phitchaya Mangpo Phothilimthana et al.

    **Computes**, for each segment s with nodes N(s):

        out_s = 0.1 sum over i in N(s) of ( relu(x_i W + b) . v + c )

    **Input**: (x float32[n, channels], segment int32[n]); segments never fall, and each of 0..s-1 occurs.

    **Output**: float32[s, 1].

    **Arguments**: `channels`: units; `seed`: of the weights.
    """

    def __init__(self, channels: int, seed: int, **kwargs):
        super().__init__(**kwargs)
        self.built = True  # by the first call, not by a symbolic one before
        self._hidden = keras.layers.Dense(
            channels, activation="relu", kernel_initializer=seeded_uniform(seed), name="hidden"
        )
        self._score = keras.layers.Dense(1, kernel_initializer=seeded_uniform(seed + 1), name="score")

    def call(self, inputs):
        """Reduce `inputs` = (x, segment)."""
        x, segment = inputs
        return SUM_WEIGHT * tf.math.segment_sum(self._score(self._hidden(x)), segment)
