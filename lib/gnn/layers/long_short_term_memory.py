"""LSTM reduction of node embeddings."""

from lib.gnn.backend import keras, seeded_uniform, tf
from lib.gnn.layers.padding import filled, padded, places


class LstmReduction(keras.layers.Layer):
    """Last state of an LSTM over a kernel's nodes in topological order, from the papers

    > Long Short-Term Memory (Neural Computation 1997), Sepp Hochreiter, Jürgen Schmidhuber

    > A Learned Performance Model for Tensor Processing Units (MLSys 2021), section 3.3,
    > Samuel J. Kaufman, Phitchaya Mangpo Phothilimthana et al.

    **Computes**, for each segment s with nodes i = 1, 2, ...:

        h_i, c_i = lstm(x_i, h_(i-1), c_(i-1));  out_s = the last h

    Segments of more than 128 nodes are cut into pieces of 128, and the pieces' last h averaged.

    **Input**: (x float32[n, channels], segment int32[n]); segments never fall, and each of 0..s-1 occurs. Nodes of a
    segment stand in topological order, as the node table has them.

    **Output**: float32[s, channels].

    **Arguments**: `channels`: units; `seed`: of the weights.
    """

    def __init__(self, channels: int, seed: int, **kwargs):
        super().__init__(**kwargs)
        self.built = True  # by the first call, not by a symbolic one before
        self._lstm = keras.layers.LSTM(
            channels,
            kernel_initializer=seeded_uniform(seed),
            recurrent_initializer=keras.initializers.Orthogonal(seed=seed + 1),
            name="lstm",
        )

    def call(self, inputs):
        """Reduce `inputs` = (x, segment)."""
        x, segment = inputs
        where = places(segment)
        last = self._lstm(padded(x, where), mask=filled(where))
        return tf.math.segment_mean(last, where.segment)
