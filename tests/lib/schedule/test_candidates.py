"""Tile candidates by hand and by brute force; the canonical order."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.program.kernel_builder import KernelRow, KernelsBuilder, OperandRow, OpRow
from lib.program.kernels import ABSENT, INPUT, OUTPUT, PARALLEL, REDUCTION, WINDOW
from lib.schedule.candidates import MOST_COMBINATIONS, first_tile, next_tile, tile_at, tile_candidates
from lib.schedule.default import default_tiles
from tests.datapath_examples import tpu_v3
from tests.kernel_examples import convolution_relu, dot, reduction


def candidates_of(row: KernelRow) -> list[list[int]]:
    builder = KernelsBuilder()
    builder.add(row)
    found = tile_candidates(builder.build(), tpu_v3())
    return [found.extent[found.offset[j] : found.offset[j + 1]].tolist() for j in range(8)]


def permuted_copy(*extents: int) -> KernelRow:
    """A copy of up to eight dimensions."""
    loops = (*extents, *[1] * (8 - len(extents)))
    kind = tuple(PARALLEL if j < len(extents) else 0 for j in range(8))
    stride = tuple(int(j < len(extents)) for j in range(8))
    order = tuple(reversed(range(len(extents))))
    n = int(np.prod(extents))
    operands = [OperandRow(INPUT, stride, order, n, 2), OperandRow(OUTPUT, stride, order, n, 2)]
    return KernelRow(6, loops, kind, 0, operands, [OpRow("copy", stride, n, 2, (0,))])


def test_a_major_dimension_has_the_distinct_quotients():
    assert candidates_of(permuted_copy(10, 64, 128))[0] == [10, 5, 4, 3, 2, 1]


def test_dot_is_cut_in_whole_registers():
    found = candidates_of(dot(rows=64, columns=1000, contracted=2048))
    assert found[0] == [64, 32, 16]  # second of the output: sixteen rows of bfloat16
    assert found[3] == [1000, 512, 384, 256, 128]  # most minor
    assert found[4] == [2048, 1024, 768, 512, 384, 256, 128]  # most minor of the input
    assert all(found[j] == [1] for j in (1, 2, 5, 6, 7))


def test_a_dimension_below_the_register_tile_stays_whole():
    assert candidates_of(convolution_relu(width=14, out_c=96, in_c=24))[2:5] == [[14], [96], [24]]


def test_a_reduced_second_dimension_is_cut_in_rows():
    assert candidates_of(reduction())[2:4] == [[56, 28, 19, 14, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1], [56, 32, 16]]


def test_a_small_window_is_whole_or_a_tap_and_a_large_one_a_loop_like_others():
    assert candidates_of(convolution_relu(kernel=3))[5:7] == [[3, 1], [3, 1]]
    assert candidates_of(convolution_relu(kernel=16))[5] == [16, 1]
    assert candidates_of(convolution_relu(kernel=20))[5] == [20, 10, 7, 5, 4, 3, 2, 1]


def filter_gradient(images: int, size: int, channels: int, classes: int) -> KernelRow:
    """Of the 1 x 1 convolution to `classes` at the end of a U-Net: images are contracted, pixels are the window."""
    window, pixels = (PARALLEL, ABSENT, ABSENT, PARALLEL, REDUCTION, WINDOW, WINDOW, ABSENT), images * size * size
    return KernelRow(
        0, (channels, 1, 1, classes, images, size, size, 1), window, 0,
        [
            OperandRow(INPUT, (1, 1, 1, 0, 1, 1, 1, 0), (0, 2, 1, 4), pixels * channels, 2),
            OperandRow(INPUT, (0, 0, 0, 1, 1, 1, 1, 0), (3, 6, 5, 4), pixels * classes, 2),
            OperandRow(OUTPUT, (1, 0, 0, 1, 0, 0, 0, 0), (3, 0), channels * classes, 2),
        ],
        [OpRow("convolution", (1, 0, 0, 1, 1, 1, 1, 0), channels * classes, 2, (0, 1))],
    )  # fmt: skip


def test_a_large_window_is_cut_finer_where_whole_registers_of_one_operand_make_the_other_too_large():
    """The second operand wants 128 x 16 pixels in its registers, where the first has 64 channels on 128 lanes and 8
    images on 16 rows: 8 MiB of 8 MiB. With images of 64 x 64 it is 4 MiB, and nothing is cut finer."""
    row = filter_gradient(images=8, size=256, channels=64, classes=2)
    assert candidates_of(row)[5][-2:] == [2, 1]
    builder = KernelsBuilder()
    builder.add(row)
    _, seconds, fits = default_tiles(builder.build(), tpu_v3())
    assert fits.all()
    assert np.isfinite(seconds).all()
    assert candidates_of(filter_gradient(images=8, size=64, channels=64, classes=2))[5] == [64, 32, 16]


@settings(deadline=None)  # compiles on the first call
@given(st.integers(1, 5000))
def test_candidates_are_the_rounded_quotients_by_brute_force(extent):
    rows, lanes = extent, 3 * extent + 1
    found = candidates_of(permuted_copy(extent, rows, lanes))
    for j, (whole, multiple) in enumerate([(extent, 1), (rows, 16), (lanes, 128)]):
        quotients = -(-whole // np.arange(1, whole + 1))
        expected = np.unique(np.minimum(-(-quotients // multiple) * multiple, whole))[::-1]
        if len(expected) ** 3 < MOST_COMBINATIONS:  # else thinned
            assert found[j] == expected.tolist()


def test_a_huge_space_is_thinned_but_keeps_whole_and_smallest():
    found = candidates_of(permuted_copy(60, 60, 60, 60, 60, 60, 60))
    assert np.prod([len(c) for c in found]) <= MOST_COMBINATIONS
    assert all(c[0] == 60 and c[-1] == 1 for c in found[:5])


def test_canonical_order_is_lexicographic_largest_first():
    builder = KernelsBuilder()
    builder.add(permuted_copy(3, 32, 200))
    found = tile_candidates(builder.build(), tpu_v3())
    digits, tile, numbered = np.zeros(8, dtype=np.int64), np.ones(9, dtype=np.int64), np.zeros(8, dtype=np.int64)
    first_tile(found.offset, found.extent, 0, digits, tile)
    tiles, more = [], True
    while more:
        tile_at(found.offset, found.extent, 0, len(tiles), numbered)
        assert numbered.tolist() == tile[:8].tolist()
        tiles.append(tile[:3].tolist())
        more = next_tile(found.offset, found.extent, 0, digits, tile)
    assert tiles == [[b, r, c] for b in (3, 2, 1) for r in (32, 16) for c in (200, 128)]
