"""What the layers that send messages share: which way along the edges, and how the results join."""

from lib.gnn.backend import keras, seeded_uniform, tf

WAYS = {"both": ("forward", "backward"), "directed": ("forward",), "undirected": ("around",)}
"""Convolutions of a layer by the study's `edges`."""


class MessageBlock(keras.layers.Layer):
    """Convolutions along chosen ways of the edges, joined and added to the input, as in

    > Deep Residual Learning for Image Recognition (CVPR 2016), Kaiming He et al.

    **Computes**: x' = x + [ f_1(x) | f_2(x) ] W, where the f are a subclass's convolutions with an equal part of the
    channels each: with edges `both` one along the edges and one against them, with `directed` one along them, with
    `undirected` one along and against them with the same weights.

    **Input**: (x float32[n, channels], edge int32[e, 2] of source and target nodes, none twice).

    **Output**: float32[n, channels].

    **Arguments**: `channels`: units; `seed`: of the weights; `edges`: `both`, `directed` or `undirected`.
    """

    def __init__(self, channels: int, seed: int, edges: str = "both", **kwargs):
        super().__init__(**kwargs)
        self.built = True  # by the first call, not by a symbolic one before
        self._ways = WAYS[edges]
        units = channels // len(self._ways)
        self._convolutions = [self._convolution(units, seed + place, way) for place, way in enumerate(self._ways)]
        self._join = keras.layers.Dense(
            channels, use_bias=False, kernel_initializer=seeded_uniform(seed + 2), name="join"
        )

    def _convolution(self, channels: int, seed: int, name: str):
        """A layer of (x, sparse adjacency) to float32[n, any number]."""
        raise NotImplementedError

    def call(self, inputs):
        """Apply the layer to `inputs` = (x, edge)."""
        x, edge = inputs
        messages = [
            convolution((x, _adjacency(x, edge, way)))
            for way, convolution in zip(self._ways, self._convolutions, strict=True)
        ]
        return x + self._join(tf.concat(messages, axis=1))


def _adjacency(x, edge, way: str):
    """Spektral's adjacency: a[i, j] = 1 where i sends and j receives."""
    if way == "backward":
        edge = edge[:, ::-1]
    elif way == "around":
        edge = tf.concat([edge, edge[:, ::-1]], axis=0)
    nodes = tf.shape(x, out_type=tf.int64)[0]
    return tf.SparseTensor(tf.cast(edge, tf.int64), tf.ones(tf.shape(edge)[:1]), tf.stack([nodes, nodes]))
