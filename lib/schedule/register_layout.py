"""Which two dimensions of a tensor lie on a register's lanes and sublanes: a compiler's choice of layout."""

from numba import njit

from lib.program.kernels import NO_LOOP

NARROW = 8
"""A dimension is narrow if it fills less than this fraction (one eighth) of the lanes. Assumed; a TPU compiler lays
batch or width on lanes where features are few (an image of three channels would fill 3 of 128)."""


@njit(cache=True, error_model="numpy")
def is_narrow(extent, lanes) -> bool:
    """Whether a dimension of `extent` elements fills less than an eighth of the lanes."""
    return extent * NARROW < lanes


@njit(cache=True, error_model="numpy")
def register_loops(order, loops, lanes) -> tuple[int, int]:
    """Loops along the lanes and along the sublanes of a tensor (NO_LOOP where there is none).

    `order`: uint8[8] loops from the most minor dimension on (a row of `operand_order`); `loops`: int32[8] extents of
    the whole kernel, so that every tile of a tensor lies alike. Lanes take the most minor dimension that is not narrow
    (the most minor one if all are), sublanes the next one of more than one element; if none is left there, the most
    minor of those that the lanes passed over.
    """
    dimensions = lane = 0
    while dimensions < 8 and order[dimensions] != NO_LOOP:
        dimensions += 1
    if dimensions == 0:
        return NO_LOOP, NO_LOOP
    for position in range(dimensions):
        if not is_narrow(loops[order[position]], lanes):
            lane = position
            break
    for offset in range(1, dimensions):
        position = (lane + offset) % dimensions  # beyond the most major one come those passed over
        if loops[order[position]] > 1:
            return int(order[lane]), int(order[position])
    return int(order[lane]), NO_LOOP
