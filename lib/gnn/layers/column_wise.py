"""Column-wise reduction of node embeddings."""

from lib.gnn.backend import keras, tf

SUM_WEIGHT = 0.1
"""Sums grow with the number of nodes (ten on average); this brings them to the size of means."""


class ColumnWiseReduction(keras.layers.Layer):
    """Column-wise reduction, from the paper

    > A Learned Performance Model for Tensor Processing Units (MLSys 2021), section 3.3,
    > Samuel J. Kaufman, Phitchaya Mangpo Phothilimthana et al.

    **Computes**, for each segment s with nodes N(s):

        out_s = [ mean of x_i | max of x_i | 0.1 sum of x_i ],  i in N(s), column by column

    **Input**: (x float32[n, c], segment int32[n]); segments never fall, and each of 0..s-1 occurs.

    **Output**: float32[s, 3 c].

    **Arguments**: of the other reductions, with no meaning here: there are no weights.
    """

    def __init__(self, channels: int = 0, seed: int = 0, **kwargs):
        super().__init__(**kwargs)
        self.built = True  # by the first call, not by a symbolic one before

    def call(self, inputs):
        """Reduce `inputs` = (x, segment)."""
        x, segment = inputs
        total = tf.math.segment_sum(x, segment)
        return tf.concat(
            [tf.math.segment_mean(x, segment), tf.math.segment_max(x, segment), SUM_WEIGHT * total], axis=1
        )
