"""Contiguous runs of a tile in DRAM."""

import numpy as np
import pytest

from lib.cost import dma
from lib.gnn.dram_runs import contiguous_run, register_tile_bytes
from lib.schedule.node_table import END, FIRST, operand_table, set_extents
from tests.lib.cost.random_kernels import random_kernels, random_rows

LANES, SUBLANES = 128, 8


def test_runs_are_those_of_the_transfers():
    """Two ways to lay out the same geometry: by operand here, by dimension there."""
    generator = np.random.default_rng(5)
    kernels = random_kernels(generator, 270)
    tiles = random_rows(generator, kernels, 60).tile
    table = operand_table(kernels, SUBLANES, LANES)
    whole = dma.whole_extents(table, kernels.loops)
    extents = np.ones(9, dtype=np.int64)
    cut = 0
    for kernel in range(kernels.number):
        set_extents(extents, tiles[kernel])
        for operand in range(kernels.operand_offset[kernel], kernels.operand_offset[kernel + 1]):
            expected = dma.contiguous_run(
                table.dimension, whole, table.node[operand, FIRST], table.node[operand, END], extents, LANES
            )
            run = contiguous_run(
                kernels.operand_stride[operand], kernels.operand_order[operand],
                int(kernels.operand_element_bytes[operand]), kernels.loops[kernel], kernels.loop_kind[kernel],
                kernels.base_dilation[kernel], tiles[kernel], SUBLANES, LANES,
            )  # fmt: skip
            assert run == expected, (kernel, operand)
            cut += run[0] < kernels.operand_elements[operand]
    assert cut > 300


@pytest.mark.parametrize(("tiled", "expected"), [(True, 8192), (False, 6144)])
def test_register_tiles_move_whole(tiled, expected):
    """6 KiB are two register tiles of 8 x 128 words."""
    assert register_tile_bytes(6144.0, tiled, SUBLANES, LANES) == expected
