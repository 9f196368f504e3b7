"""GraphSAGE in both directions of the data flow."""

from lib.gnn.backend import GraphSageConv, keras, seeded_uniform, tf


class GraphSageBlock(keras.layers.Layer):
    """Two of Spektral's GraphSageConv layers, one along the edges and one against them, from the paper

    > Inductive Representation Learning on Large Graphs (NeurIPS 2017), algorithm 1,
    > William L. Hamilton, Rex Ying, Jure Leskovec

    **Computes**:

        f_i = relu(l2([ x_i | mean of x_j over producers j of i and i itself ] W_f + b_f))
        g_i = relu(l2([ x_i | mean of x_j over consumers j of i and i itself ] W_g + b_g))
        x'_i = x_i + [ f_i | g_i ] W

    f_i and g_i have half of the channels each. GraphSageConv scales each node to length 1 (l2), which
    loses magnitudes; the residual carries them on.

    **Input**: (x float32[n, channels], edge int32[e, 2] of source and target nodes).

    **Output**: float32[n, channels].

    **Arguments**: `channels`: units, an even number; `seed`: of the weights.
    """

    def __init__(self, channels: int, seed: int, **kwargs):
        super().__init__(**kwargs)

        def convolution(name: str, offset: int) -> GraphSageConv:
            return GraphSageConv(
                channels // 2,
                aggregate="mean",
                activation="relu",
                kernel_initializer=seeded_uniform(seed + offset),
                name=name,
            )

        self._forward = convolution("forward", 0)
        self._backward = convolution("backward", 1)
        self._join = keras.layers.Dense(
            channels, use_bias=False, kernel_initializer=seeded_uniform(seed + 2), name="join"
        )

    def call(self, inputs):
        """Apply the layer to `inputs` = (x, edge)."""
        x, edge = inputs
        forward = self._forward((x, _adjacency(x, edge)))
        backward = self._backward((x, _adjacency(x, edge[:, ::-1])))
        return x + self._join(tf.concat([forward, backward], axis=1))


def _adjacency(x, edge):
    """Spektral's adjacency: a[i, j] = 1 where i sends and j receives."""
    nodes = tf.shape(x, out_type=tf.int64)[0]
    return tf.SparseTensor(tf.cast(edge, tf.int64), tf.ones(tf.shape(edge)[:1]), tf.stack([nodes, nodes]))
