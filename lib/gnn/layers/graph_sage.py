"""GraphSAGE along chosen ways of the data flow."""

from lib.gnn.backend import GraphSageConv, seeded_uniform
from lib.gnn.layers.message_block import MessageBlock


class GraphSageBlock(MessageBlock):
    """Spektral's GraphSageConv in a :class:`MessageBlock`, from the paper

    > Inductive Representation Learning on Large Graphs (NeurIPS 2017), algorithm 1,
    > William L. Hamilton, Rex Ying, Jure Leskovec

    **Computes**, with edges `both`:

        f_i = relu(l2([ x_i | mean of x_j over producers j of i and i itself ] W_f + b_f))
        g_i = relu(l2([ x_i | mean of x_j over consumers j of i and i itself ] W_g + b_g))
        x'_i = x_i + [ f_i | g_i ] W

    `directed` has f alone, `undirected` one of the mean over producers, consumers and i itself. GraphSageConv scales
    each node to length 1 (l2), which loses magnitudes; the residual carries them on.

    **Input**, **output**, **arguments**: as :class:`MessageBlock`.
    """

    def _convolution(self, channels: int, seed: int, name: str):
        return GraphSageConv(
            channels, aggregate="mean", activation="relu", kernel_initializer=seeded_uniform(seed), name=name
        )
