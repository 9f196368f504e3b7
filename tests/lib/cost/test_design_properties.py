"""What must hold for every kernel on every design: more of a resource never hurts, and nothing beats physics.

Candidate tiles are drawn once for the smaller design and held fixed, so that both designs choose from the same rows.
"""

from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lib.cost.simulator import Simulator
from lib.hardware.datapath import Datapath, peak_flops_per_s
from lib.program.kernels import NO_LOOP, OUTPUT, WINDOW, Kernels
from lib.schedule.best import best_of
from lib.schedule.schedules import Schedules
from lib.schedule.tiles import tile_space
from tests.lib.cost.random_designs import random_datapath, random_kernels_of_all_kinds

SEEDS = st.integers(0, 2**32 - 1)
SOME = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
FEW = settings(SOME, max_examples=20)
TILES = 12
ROUNDING = 1e-9

L1 = ("l1_input_bytes", "l1_weight_bytes", "l1_output_bytes")
L2 = ("l2_input_multiplier", "l2_weight_multiplier", "l2_output_multiplier")
DOUBLED = {
    "DRAM bandwidth": ("dram_bytes_per_s",),
    "DRAM channels with their bandwidth": ("dram_channels", "dram_bytes_per_s"),
    "clock": ("clock_hz",),
    "vector lanes": ("vector_lanes",),
    "L1 for inputs": L1[:1],
    "L1 for weights": L1[1:2],
    "L1 for outputs": L1[2:],
    "L1": L1,
    "L2 for inputs": L2[:1],
    "L2 for weights": L2[1:2],
    "L2 for outputs": L2[2:],
    "L2": L2,
    "global buffer": ("global_buffer_bytes",),
}
"""Not here: rows and columns of the arrays, as a larger array latches, fills and drains longer; and the mesh of PEs, as
all of them take part in an op and may ask more of the mesh (rarely, by a few percent). The register tile stays as it is
where lanes are doubled."""


def drawn(seed: int) -> tuple[Kernels, Datapath, Schedules]:
    """Kernels of all kinds, a design, and up to TILES tiles of each kernel that fit in it."""
    generator = np.random.default_rng(seed)
    kernels, datapath = random_kernels_of_all_kinds(generator), random_datapath(generator)
    return kernels, datapath, tile_space(kernels, datapath, TILES, seed)


@pytest.mark.parametrize("resource", DOUBLED)
@FEW
@given(seed=SEEDS)
def test_twice_as_much_never_makes_the_best_schedule_slower(resource, seed):
    kernels, datapath, tiles = drawn(seed)
    more = datapath._replace(**{name: 2 * getattr(datapath, name) for name in DOUBLED[resource]})
    before = best_of(kernels, tiles, datapath).seconds
    after = best_of(kernels, tiles, more).seconds
    slower = (after > before * (1 + ROUNDING)) | (np.isnan(after) & ~np.isnan(before))
    assert not slower.any(), f"kernels {np.flatnonzero(slower)} of {datapath}"


def every_row(tiles: Schedules) -> Schedules:
    """The tiles under every dataflow and loop order."""
    rows = Schedules(*(np.repeat(field, 9, axis=0) for field in tiles))
    combination = np.tile(np.arange(9), len(tiles.kernel))
    return rows._replace(dataflow=(combination // 3).astype(np.uint8), loop_order=(combination % 3).astype(np.uint8))


def touched(kernels: Kernels, k: int, operand: int) -> int:
    """Elements of an operand that the kernel needs: windows that lie apart leave out what is between them, zeros that a
    base dilation inserts are not stored."""
    stride, loops = kernels.operand_stride[operand], kernels.loops[k]
    count = 1
    for slot in kernels.operand_order[operand]:
        if slot == NO_LOOP:
            break
        window = slot + 4 if slot in (1, 2) and kernels.loop_kind[k, slot + 4] == WINDOW else -1
        if window < 0 or stride[window] == 0:
            count *= int(loops[slot]) if stride[slot] > 0 else 1
            continue
        dilation = int(kernels.base_dilation[k, slot - 1])
        places = {
            i * int(stride[slot]) + j * int(stride[window])
            for i, j in product(range(loops[slot] if stride[slot] > 0 else 1), range(loops[window]))
        }
        count *= sum(place % dilation == 0 for place in places)
    return min(count, int(kernels.operand_elements[operand]))


def compulsory_bytes(kernels: Kernels, k: int) -> tuple[int, int]:
    """(read, written) at least, whatever the schedule."""
    read = written = 0
    for operand in range(kernels.operand_offset[k], kernels.operand_offset[k + 1]):
        size = touched(kernels, k, operand) * int(kernels.operand_element_bytes[operand])
        if kernels.operand_role[operand] == OUTPUT:
            written += size
        else:
            read += size
    return read, written


def least_flops(kernels: Kernels, k: int) -> float:
    """Of the matrix op, products with inserted zeros left out."""
    if kernels.kernel_class[k] > 2:
        return 0.0
    taps = [
        np.ceil(kernels.loops[k, 5 + axis] / kernels.base_dilation[k, axis]) / kernels.loops[k, 5 + axis]
        for axis in range(2)
    ]
    return 2.0 * float(prod(kernels.loops[k].tolist())) * taps[0] * taps[1]


@SOME
@given(seed=SEEDS)
def test_no_schedule_beats_the_rooflines_or_moves_less_than_it_must(seed):
    kernels, datapath, tiles = drawn(seed)
    rows = every_row(tiles)
    costs = Simulator().cost(kernels, rows, datapath)
    priced = ~np.isnan(costs.value)
    for k in range(kernels.number):
        mine = priced & (rows.kernel == k)
        read, written = compulsory_bytes(kernels, k)
        assert (costs.dram_bytes[mine, :2].sum(axis=1) >= read * (1 - ROUNDING)).all()
        assert (costs.dram_bytes[mine, 2] >= written * (1 - ROUNDING)).all()
        assert (costs.value[mine] >= (read + written) / datapath.dram_bytes_per_s).all()
        assert (costs.value[mine] >= least_flops(kernels, k) / peak_flops_per_s(datapath)).all()
    moved = costs.dram_bytes.sum(axis=1)
    assert (costs.value[priced] >= moved[priced] / datapath.dram_bytes_per_s).all()


@SOME
@given(seed=SEEDS)
def test_what_stays_on_chip_never_costs_time(seed):
    """Each role less that moves makes a row no slower, so residency has something to choose from."""
    kernels, datapath, tiles = drawn(seed)
    datapath = datapath._replace(global_buffer_bytes=1 << 40)
    rows = every_row(tiles)
    seconds = [
        Simulator().cost(kernels, rows._replace(resident=np.full(len(rows.kernel), bits, dtype=np.uint8)), datapath)
        for bits in range(8)
    ]
    for bits in range(8):
        for role in range(3):
            more = bits | 1 << role
            assert (seconds[more].value <= seconds[bits].value * (1 + ROUNDING)).all()
            assert (seconds[more].dram_bytes <= seconds[bits].dram_bytes).all()
