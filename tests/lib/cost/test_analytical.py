"""The compiler's model: hand calculations on a toy of round numbers, and properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.code_fingerprint import ROOT
from lib.cost.analytical import (
    ARITHMETIC_SLOTS,
    DEPTHWISE_PASSES,
    FEW_CHANNELS,
    PART_NAMES,
    STEP_CYCLES,
    Analytical,
    matrix_cycles,
)
from lib.cost.cost_model import Reason
from lib.cost.left_out import LEFT_OUT
from lib.cost.simulator_constants import SimulatorConstants
from lib.cost.vector_work import INSTRUCTIONS
from lib.hardware.datapath import DIAGONAL, TAPS
from lib.program.kernel_builder import KernelRow, KernelsBuilder
from lib.program.kernels import KERNEL_CLASSES
from lib.schedule.default import default_tiles
from lib.schedule.schedules import schedules_for_tiles
from lib.schedule.tiles import tile_space
from lib.targets.recorded import read_recorded_file
from schemas.presets import FOLDER
from tests.datapath_examples import toy, tpu_v3
from tests.kernel_examples import convolution_relu, depthwise, dot, elementwise, example_kernels, reduction

STEP_S = STEP_CYCLES / 1e9
CALIBRATION = FOLDER / "tpu_tiles" / "calibration"


def priced(row: KernelRow, tile, datapath) -> tuple[float, dict[str, float]]:
    builder = KernelsBuilder()
    builder.add(row)
    costs = Analytical().cost(builder.build(), schedules_for_tiles([0], [tile]), datapath, parts=True)
    return costs.value[0], dict(zip(PART_NAMES, costs.parts[0].tolist(), strict=True))


def test_dot_bound_by_transfer():
    # Four steps over the contraction. A step loads 64 x 512 and 512 x 1000 elements of two bytes at 100 GB/s and
    # streams 64 rows through ceil(512 / 128) x ceil(1000 / 128) = 32 passes of the array, 128 cycles each for their
    # weights.
    load = (64 * 512 + 512 * 1000) * 2 / 100e9
    compute = 32 * 128 / 1e9
    store = 64 * 1000 * 2 / 100e9
    value, parts = priced(dot(64, 1000, 2048), (64, 1, 1, 1000, 512, 1, 1, 1), toy())
    assert value == pytest.approx(load + 3 * load + compute + store + 4 * STEP_S)
    assert parts["steps"] == 4
    assert parts["compute_s"] == parts["matrix_s"] == pytest.approx(4 * compute)
    assert parts["transfer_s"] == pytest.approx(4 * load + store)
    assert parts["exposed_s"] == pytest.approx(load + store)
    assert parts["vector_s"] == 0


def test_dot_bound_by_compute():
    load = (64 * 512 + 512 * 1000) * 2 / 1e12
    store = 64 * 1000 * 2 / 1e12
    value, _ = priced(dot(64, 1000, 2048), (64, 1, 1, 1000, 512, 1, 1, 1), toy(dram_bytes_per_s=1e12))
    assert value == pytest.approx(load + 4 * 4.096e-6 + store + 4 * STEP_S)


def test_an_operand_moves_when_its_tile_changes():
    whole_contraction, _ = (priced(dot(64, 1024, 2048), (64, 1, 1, 512, c, 1, 1, 1), toy())[1] for c in (2048, 512))
    assert whole_contraction["bytes_in"] == 64 * 2048 * 2  # stays over the two output tiles
    cut = priced(dot(64, 1024, 2048), (64, 1, 1, 512, 512, 1, 1, 1), toy())[1]
    assert cut["bytes_in"] == 2 * 64 * 2048 * 2  # comes again for each
    assert cut["bytes_weight"] == 1024 * 2048 * 2
    assert cut["bytes_out"] == 64 * 1024 * 2  # leaves once, complete
    batch_cut = priced(dot(64, 1024, 2048), (32, 1, 1, 1024, 512, 1, 1, 1), toy())[1]
    assert batch_cut["bytes_weight"] == 2 * 1024 * 2048 * 2


def test_partial_edge_tiles_count_in_full():
    parts = priced(dot(64, 1000, 2048), (64, 1, 1, 384, 2048, 1, 1, 1), toy())[1]
    assert parts["bytes_out"] == 64 * 3 * 384 * 2
    assert parts["matrix_s"] == pytest.approx(3 * 16 * 3 * 128 / 1e9)


def test_an_epilogue_runs_once_an_output_tile():
    row = convolution_relu()
    n = 4 * 28 * 32 * 256  # rows of 28 pixels fill registers of 16 x 128
    for tile in ((4, 28, 28, 256, 128, 3, 3, 1), (1, 14, 28, 128, 128, 1, 1, 1)):
        assert priced(row, tile, toy())[1]["vector_s"] == pytest.approx(n * 2 / ARITHMETIC_SLOTS / 128 / 1e9)


def test_elementwise_is_priced_by_cost_class():
    n, in_registers = 4 * 56 * 56 * 96, 4 * 56 * 64 * 128  # of 16 x 128
    value, parts = priced(elementwise(), (1, 56, 56, 96, 1, 1, 1, 1), toy())
    instructions = INSTRUCTIONS["simple"] + INSTRUCTIONS["transcendental"]
    vector = in_registers * instructions / ARITHMETIC_SLOTS / 128 / 1e9
    moved = n * 3 * 2 / 100e9
    assert parts["vector_s"] == pytest.approx(vector)
    assert parts["transfer_s"] == pytest.approx(moved)
    assert value == pytest.approx(moved + vector / 4 + 4 * STEP_S)  # transfers decide: 72 against 65 us


def test_a_reduction_works_at_every_element():
    _, parts = priced(reduction(), (1, 96, 56, 56, 1, 1, 1, 1), toy())
    assert parts["vector_s"] == pytest.approx(4 * 56 * 64 * 128 / ARITHMETIC_SLOTS / 128 / 1e9)  # in registers
    assert parts["bytes_out"] == 4 * 96 * 2


def test_a_narrow_dimension_leaves_the_lanes_to_a_wider_one():
    image = elementwise(batch=1, height=64, width=256, channels=3)  # width on lanes, height on sublanes: no padding
    parts = priced(image, (1, 64, 256, 3, 1, 1, 1, 1), toy())[1]
    instructions = INSTRUCTIONS["simple"] + INSTRUCTIONS["transcendental"]
    assert parts["vector_s"] == pytest.approx(64 * 256 * 3 * instructions / ARITHMETIC_SLOTS / 128 / 1e9)


def cycles(row: KernelRow, tile, rows=128, columns=128, mapping=DIAGONAL, efficiency=1.0):
    return matrix_cycles(
        np.array(tile),
        row.kernel_class,
        row.loops[4],
        row.base_dilation[0],
        row.base_dilation[1],
        mapping,
        efficiency,
        rows,
        columns,
    )


def test_a_convolution_takes_a_pass_a_tap_and_rounds_channels_up():
    assert cycles(convolution_relu(in_c=130), (1, 14, 14, 200, 130, 3, 3, 1)) == 9 * 2 * 2 * 196


def test_code_that_loses_a_quarter_of_the_peak_takes_four_thirds_as_long_on_dense_products_alone():
    tile = (1, 14, 14, 200, 130, 3, 3, 1)
    assert cycles(convolution_relu(in_c=130), tile, efficiency=0.75) == pytest.approx(9 * 2 * 2 * 196 / 0.75)
    tile = (1, 14, 14, 1, 1, 3, 3, 64)
    assert cycles(depthwise(), tile, efficiency=0.75) == cycles(depthwise(), tile)


def test_taps_of_a_first_layer_share_rows():
    assert cycles(convolution_relu(in_c=3, kernel=7), (1, 16, 16, 64, 3, 7, 7, 1)) == 2 * 256  # ceil(147 / 128)


def test_depthwise_lies_block_diagonally():
    assert cycles(depthwise(), (1, 14, 28, 1, 1, 3, 3, 192)) == 9 * (14 * 28 + 14 * 14)  # 64 left over, twice
    assert cycles(depthwise(), (1, 14, 28, 1, 1, 3, 3, 128)) == 9 * 14 * 28
    assert cycles(depthwise(), (1, 14, 28, 1, 1, 3, 3, 192), rows=32) == 6 * 9 * 14 * 28


def test_depthwise_channels_left_over_lie_on_the_diagonal_several_times():
    assert cycles(depthwise(channels=144), (1, 28, 28, 1, 1, 3, 3, 144)) == 9 * (784 + 128)  # 16 of them eight times
    assert cycles(depthwise(channels=160), (1, 28, 28, 1, 1, 3, 3, 160)) == 9 * (784 + 196)  # 32 of them four times
    assert cycles(depthwise(), (1, 28, 28, 1, 1, 3, 3, 32)) == 9 * 196  # four pixels at once
    assert cycles(depthwise(), (1, 7, 7, 1, 1, 3, 3, 32)) == 9 * 128  # a pass lasts 128 cycles all the same


def test_depthwise_taps_on_rows_where_the_datapath_maps_them_so():
    assert cycles(depthwise(), (1, 14, 28, 1, 1, 3, 3, 192), mapping=TAPS) == 2 * 14 * 28
    assert cycles(depthwise(kernel=5), (1, 14, 28, 1, 1, 5, 5, 192), rows=16, columns=64, mapping=TAPS) == 2 * 3 * 392


def test_a_depthwise_window_of_25_taps_takes_ten_passes():
    assert cycles(depthwise(kernel=5), (1, 14, 28, 1, 1, 5, 5, 128)) == 10 * 14 * 28
    assert cycles(depthwise(kernel=7), (1, 14, 28, 1, 1, 7, 7, 256)) == 2 * 20 * 14 * 28


def test_a_pass_lasts_as_long_as_the_next_weights_take():
    assert cycles(dot(1, 256, 512), (1, 1, 1, 256, 512, 1, 1, 1)) == 4 * 2 * 128
    assert cycles(dot(1, 256, 512), (1, 1, 1, 256, 512, 1, 1, 1), rows=64) == 8 * 2 * 64


def test_batched_dots_do_not_share_the_array():
    assert cycles(dot(256, 32, 64), (256, 1, 1, 32, 64, 1, 1, 12)) == 12 * 256


def test_zeros_between_inputs_take_no_pass():
    row = convolution_relu(in_c=128)
    row.base_dilation = (2, 2)
    assert cycles(row, (1, 16, 16, 128, 128, 3, 3, 1)) == 4 * 256


def test_a_tile_that_does_not_fit_has_no_cost():
    kernels = example_kernels()
    schedules = schedules_for_tiles([0, 2], [kernels.loops[0], kernels.loops[2]])
    costs = Analytical().cost(kernels, schedules, tpu_v3(global_buffer_bytes=2**20), parts=True)
    assert costs.reason.tolist() == [Reason.TILE_TOO_LARGE] * 2
    assert np.isnan(costs.value).all()
    assert np.isnan(costs.parts).all()
    assert np.isnan(costs.dram_bytes).all()
    nothing = {"global_buffer_bytes": 0, "l1_input_bytes": 0, "l1_weight_bytes": 0, "l1_output_bytes": 0}
    assert Analytical().cost(kernels, schedules, tpu_v3(**nothing)).reason.tolist() == [Reason.NO_BUFFER] * 2


def test_an_unknown_op_kind_is_named():
    kernels = example_kernels()
    kernels.op_kind[1] = 200
    with pytest.raises(ValueError, match=f"{kernels.fingerprint[0]}.*op kind 200"):
        Analytical().cost(kernels, schedules_for_tiles([0], [kernels.loops[0]]), toy())


def test_the_lowering_is_that_of_the_simulated_compiler():
    """Docs say that these rules are the same: the simulated machine runs the code that this compiler makes."""
    simulated = SimulatorConstants()
    assert (simulated.packed_in_channels, simulated.depthwise_passes) == (FEW_CHANNELS, DEPTHWISE_PASSES)


@pytest.mark.parametrize(("name", "least_us", "most_us"), [("05_fusion.245", 0.18, 0.21), ("07_copy.25", 0.2, 0.26)])
def test_the_step_cost_is_what_calibration_tiles_say(name, least_us, most_us):
    """Slope of measured time against tile steps, by least squares: a reduction and a copy of TpuGraphs on TPU-v3."""
    recorded = read_recorded_file(CALIBRATION / f"alexnet_tile_{name}.npz")
    costs = Analytical().cost(recorded.kernels, recorded.schedules, tpu_v3(), parts=True)
    known = costs.reason == Reason.OK
    steps = costs.parts[known, PART_NAMES.index("steps")]
    slope_us = np.polyfit(steps, recorded.runtime_s[known] * 1e6, 1)[0]
    assert least_us < slope_us < most_us
    assert slope_us == pytest.approx(STEP_CYCLES / 940, rel=0.25)


def test_documentation_lists_what_is_left_out():
    page = (ROOT / "docs" / "analytical.md").read_text(encoding="utf-8")
    for effect, instead in LEFT_OUT.items():
        assert f"| {effect} | {instead} |" in page


def test_giving_up_early_changes_no_default_tile():
    kernels = example_kernels()
    space = tile_space(kernels, tpu_v3(), 10**6, 0)
    seconds = Analytical().cost(kernels, space, tpu_v3()).value
    for k, (tile, best_s) in enumerate(zip(*default_tiles(kernels, tpu_v3())[:2], strict=True)):
        mine = space.kernel == k
        assert best_s == seconds[mine].min()
        assert tile.tolist() == space.tile[mine][seconds[mine].argmin()].tolist()


@settings(deadline=None)  # compiles on the first call
@given(st.sampled_from([1.0, 2.0, 3.5]), st.integers(0, 5), st.integers(0, 2**30))
def test_time_is_bounded_below_and_falls_with_bandwidth(factor, k, seed):
    kernels, slow = example_kernels(), toy()
    space = tile_space(kernels, slow, 5, seed)
    faster = Analytical().cost(kernels, space, toy(dram_bytes_per_s=factor * 100e9)).value
    costs = Analytical().cost(kernels, space, slow, parts=True)
    parts = dict(zip(PART_NAMES, costs.parts.T, strict=True))
    assert (faster <= costs.value).all()
    assert (costs.value >= parts["compute_s"]).all()
    assert (costs.value >= parts["transfer_s"] * (1 - 1e-12)).all()
    first, last = kernels.operand_offset[k], kernels.operand_offset[k + 1]
    if KERNEL_CLASSES[kernels.kernel_class[k]] != "window":  # a strided window may skip elements
        compulsory = (kernels.operand_elements[first:last] * kernels.operand_element_bytes[first:last]).sum()
        assert (costs.value[space.kernel == k] >= compulsory / 100e9 * (1 - 1e-12)).all()
