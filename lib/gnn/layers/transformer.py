"""Transformer reduction of node embeddings."""

import math

from lib.gnn.backend import keras, seeded_uniform, tf
from lib.gnn.layers.column_wise import ColumnWiseReduction
from lib.gnn.layers.padding import filled, padded, places, unpadded

HEADS = 4
"""Attention heads, as in the graph attention layer."""
FEED_FORWARD = 2
"""Units of the feed-forward part, times the channels."""
FORBIDDEN = -1e9
"""Added to the logits of places where no node is."""


class TransformerReduction(keras.layers.Layer):
    """One Transformer encoder layer over a kernel's nodes, then the column-wise reduction, from the papers

    > Attention Is All You Need (NeurIPS 2017), section 3.1, Ashish Vaswani et al.

    > A Learned Performance Model for Tensor Processing Units (MLSys 2021), section 3.3,
    > Samuel J. Kaufman, Phitchaya Mangpo Phothilimthana et al.

    **Computes**, for each segment, with the layer normalisation before each part and no positions, so that the order
    of nodes doesn't matter:

        y = x + attention(norm(x)) W;  z = y + relu(norm(y) W_1 + b_1) W_2 + b_2;  out = column_wise(z)

    Nodes attend to those of their own segment; in segments of more than 128 nodes, to those of the same piece of 128.

    **Input**: (x float32[n, channels], segment int32[n]); segments never fall, and each of 0..s-1 occurs.

    **Output**: float32[s, 3 channels].

    **Arguments**: `channels`: units; `seed`: of the weights. A head has a fourth of the channels, one at least.
    """

    def __init__(self, channels: int, seed: int, **kwargs):
        super().__init__(**kwargs)
        self.built = True  # by the first call, not by a symbolic one before
        self._head_channels = max(1, channels // HEADS)

        def dense(units: int, offset: int, name: str, activation: str | None = None, bias: bool = True):
            return keras.layers.Dense(
                units,
                activation=activation,
                use_bias=bias,
                kernel_initializer=seeded_uniform(seed + offset),
                name=name,
            )

        self._query_key_value = [
            dense(HEADS * self._head_channels, place, name, bias=False)
            for place, name in enumerate(("query", "key", "value"))
        ]
        self._attended = dense(channels, 3, "attended", bias=False)
        self._wide = dense(FEED_FORWARD * channels, 4, "wide", "relu")
        self._narrow = dense(channels, 5, "narrow")
        self._norm_attention = keras.layers.LayerNormalization(name="norm_attention")
        self._norm_feed_forward = keras.layers.LayerNormalization(name="norm_feed_forward")
        self._reduce = ColumnWiseReduction(name="reduce")

    def call(self, inputs):
        """Reduce `inputs` = (x, segment)."""
        x, segment = inputs
        x += self._attended(self._attention(self._norm_attention(x), segment))
        x += self._narrow(self._wide(self._norm_feed_forward(x)))
        return self._reduce((x, segment))

    def _attention(self, x, segment):
        """float32[n, HEADS * head channels]"""
        where = places(segment)
        query, key, value = (self._by_head(padded(layer(x), where)) for layer in self._query_key_value)
        logits = tf.matmul(query, key, transpose_b=True) / math.sqrt(self._head_channels)
        logits += tf.where(filled(where), 0.0, FORBIDDEN)[:, None, None, :]
        attended = tf.transpose(tf.matmul(tf.nn.softmax(logits), value), (0, 2, 1, 3))
        return unpadded(tf.reshape(attended, (*_sizes(attended, 2), HEADS * self._head_channels)), where)

    def _by_head(self, x):
        """float32[p, HEADS, longest, head channels] of x float32[p, longest, HEADS * head channels]."""
        return tf.transpose(tf.reshape(x, (*_sizes(x, 2), HEADS, self._head_channels)), (0, 2, 1, 3))


def _sizes(x, axes: int) -> list:
    """The first sizes of a tensor."""
    return tf.unstack(tf.shape(x)[:axes], axes)
