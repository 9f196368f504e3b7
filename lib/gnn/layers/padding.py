"""Nodes of segments side by side, padded: what sequence layers need."""

from typing import NamedTuple

from lib.gnn.backend import tf

LONGEST = 128
"""Nodes of a piece at most. The paper's kernels have 41 on average and 1,000 at most: attention among all of
them would take 8 times the memory of attention within pieces, and sequences that long hardly train."""


class Places(NamedTuple):
    """Where n nodes in segments stand in p padded pieces: a segment's nodes in order, LONGEST a piece."""

    place: tf.Tensor
    """int32[n, 2]: piece and position in it."""
    shape: tf.Tensor
    """int32[2]: pieces and the longest one's length."""
    segment: tf.Tensor
    """int32[p] of each piece."""


def places(segment) -> Places:
    """The places of nodes by `segment` int32[n], which never falls and leaves none out."""
    counts = tf.math.segment_sum(tf.ones_like(segment), segment)
    position = tf.range(tf.size(segment)) - tf.gather(tf.cumsum(counts, exclusive=True), segment)
    pieces = (counts + LONGEST - 1) // LONGEST
    piece = tf.gather(tf.cumsum(pieces, exclusive=True), segment) + position // LONGEST
    longest = tf.minimum(tf.reduce_max(counts), LONGEST)
    return Places(
        place=tf.stack([piece, position % LONGEST], axis=1),
        shape=tf.stack([tf.reduce_sum(pieces), longest]),
        segment=tf.repeat(tf.range(tf.size(counts)), pieces),
    )


def padded(x, where: Places):
    """float32[p, longest, c] of x float32[n, c], zero where no node is."""
    return tf.scatter_nd(where.place, x, tf.concat([where.shape, tf.shape(x)[1:]], axis=0))


def filled(where: Places):
    """bool[p, longest]: whether a node is there."""
    return tf.scatter_nd(where.place, tf.ones(tf.shape(where.place)[:1], tf.int32), where.shape) > 0


def unpadded(x, where: Places):
    """float32[n, c] of x float32[p, longest, c]."""
    return tf.gather_nd(x, where.place)
