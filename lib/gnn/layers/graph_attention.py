"""Graph attention along chosen ways of the data flow."""

from lib.gnn.backend import GATConv, keras, seeded_uniform, tf
from lib.gnn.layers.message_block import MessageBlock

HEADS = 4
"""Attention heads (Kaufman et al. 2021 use 4, as far as is known)."""


class GraphAttentionBlock(MessageBlock):
    """Spektral's GATConv in a :class:`MessageBlock`, from the paper

    > Graph Attention Networks (ICLR 2018), equations 3-5,
    > Petar Velickovic et al.

    **Computes**, with edges `both`, for each of 4 heads, with N(i) the producers of i and i itself:

        a_ij = softmax over j in N(i) of leaky_relu(s . W x_i + t . W x_j)
        f_i = relu(sum over j in N(i) of a_ij W x_j + b), the heads side by side
        g_i = the same with consumers in place of producers and weights of its own
        x'_i = x_i + [ f_i | g_i ] W'

    `directed` has f alone, `undirected` one over producers, consumers and i itself.

    **Input**, **output**, **arguments**: as :class:`MessageBlock`. A head has a fourth of a convolution's channels,
    one at least.
    """

    def _convolution(self, channels: int, seed: int, name: str):
        return _AttentionConvolution(
            max(1, channels // HEADS),
            attn_heads=HEADS,
            dropout_rate=0.0,
            activation="relu",
            kernel_initializer=_uniform_over_heads(seed),
            # a generator: the two attention vectors have one shape and shall differ
            attn_kernel_initializer=keras.initializers.GlorotUniform(keras.random.SeedGenerator(seed + 4)),
            name=name,
        )


class _AttentionConvolution(GATConv):
    """GATConv without a mask: Keras 3 hands it one of Nones, which it can't multiply by."""

    def call(self, inputs):
        return super().call(inputs)


def _uniform_over_heads(seed: int):
    """Glorot's initialiser for [inputs, heads, channels] as one matrix; by itself it takes the first axis for a window
    and draws numbers several times too small."""

    def draw(shape, dtype=None):
        inputs, heads, channels = shape
        return tf.reshape(seeded_uniform(seed)((inputs, heads * channels), dtype=dtype), shape)

    return draw
