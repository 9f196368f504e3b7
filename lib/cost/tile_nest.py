"""The loops of a schedule row that are really cut, and the tiles at their edges."""

from lib.schedule.node_table import NO_EXTENT, set_extents
from lib.schedule.uncounted import uncounted

SLOT, TRIPS, EDGE_BIT, REDUCES, ROLE, USED, DIGIT = range(7)
"""Columns of a loop of the nest: canonical loop; number of tiles; its bit among the loops whose last tile is smaller, 0
if it is not; 1 where the output does not extend along it. The others belong to the sum over steps, see
:mod:`lib.cost.pipeline`: what the current group says about its index; number of intervals and the one that the odometer
is at."""

MOST_MASKS = 256
"""Sets of the eight loops. An *edge mask* has the bits of the loops that are at a smaller last tile."""


@uncounted(forceinline=True)
def loops_cut(loops, tile, slots, output_loops, nest) -> tuple[int, int]:
    """Fill `nest` (int64[8, 7]) with the loops that have more than one tile, outermost first.

    `loops`: int64[8], without padding; `tile`: int64[9]; `slots`: loops from the outermost to the innermost;
    `output_loops`: bits of the loops that the output extends along. Returns the number of loops and of edge bits;
    an outer loop has the lower bit.
    """
    depth = edge_bits = 0
    for level in range(8):
        slot = slots[level]
        if tile[slot] >= loops[slot]:
            continue
        trips = (loops[slot] + tile[slot] - 1) // tile[slot]
        nest[depth, SLOT], nest[depth, TRIPS], nest[depth, EDGE_BIT] = slot, trips, 0
        if trips * tile[slot] != loops[slot]:
            nest[depth, EDGE_BIT] = 1 << edge_bits
            edge_bits += 1
        nest[depth, REDUCES] = 1 - ((output_loops >> slot) & 1)
        depth += 1
    return depth, edge_bits


@uncounted(forceinline=True)
def innermost_output_loop(nest, depth) -> tuple[int, bool]:
    """The innermost loop of the nest that the output extends along (-1: none), and whether a reducing loop lies outside
    of it, so that an output tile leaves as partial sums and comes back."""
    output_level = -1
    partial_sums = reducing = False
    for level in range(depth):
        if nest[level, REDUCES]:
            reducing = True
        else:
            output_level = level
            partial_sums = reducing
    return output_level, partial_sums


@uncounted(forceinline=True)
def edge_tiles(extents, tile, nest, depth, tiles) -> None:
    """Fill `tiles` (int64[MOST_MASKS, 9]) with a step's extents by edge mask. `extents`: int64[8] of the loops, with
    padding or without; `tile`: int64[9] away from edges."""
    for slot in range(NO_EXTENT):
        tiles[0, slot] = min(tile[slot], extents[slot])
    for level in range(depth):
        bit, slot = nest[level, EDGE_BIT], nest[level, SLOT]
        for mask in range(bit):
            set_extents(tiles[mask + bit], tiles[mask])
            tiles[mask + bit, slot] = extents[slot] - (nest[level, TRIPS] - 1) * tile[slot]
