"""What crosses the mesh, by hand: shared operands once, others for each PE, again for each pass that nothing keeps."""

import numpy as np
import pytest

from lib.cost.matrix_unit import fastest_mapping, split_over_pes
from lib.cost.mesh import PLANS, matrix_tile, matrix_traffic
from lib.cost.pe_memory import usable_array
from lib.cost.simulator_constants import SimulatorConstants
from lib.hardware.datapath import mesh_bytes_per_cycle
from lib.program.kernel_builder import KernelsBuilder
from lib.schedule.node_table import operand_table
from lib.schedule.schedules import INPUT_STATIONARY, OUTPUT_STATIONARY, WEIGHT_STATIONARY
from tests.kernel_examples import convolution_relu, depthwise, dot, elementwise
from tests.lib.cost.random_kernels import EDGE, TPU_V3, batched_dot
from tests.lib.cost.test_simulator import CYCLE, price

MIB = 1 << 20
MESHED = TPU_V3._replace(vector_path=1)
PIXELS, CHANNELS, GROUPS, CONTRACTION = range(4)


def plans(row, tile, datapath, *, split=(PIXELS, PIXELS), dataflow=WEIGHT_STATIONARY, dot=False, format_bytes=2):
    """Mesh bytes by plan, those that fit, for a split of the grid's axes."""
    builder = KernelsBuilder()
    builder.add(row)
    kernels = builder.build()
    tile, dilation = np.array([*tile, 1], dtype=np.int64), kernels.base_dilation[0]
    operands = operand_table(kernels, datapath.register_sublanes, datapath.register_lanes)
    array = usable_array(datapath, dataflow)
    share = split_over_pes(tile, dilation, *split, datapath.pes_x, datapath.pes_y)
    few = not dot and kernels.loops[0, 4] < 16
    mapping = fastest_mapping(
        dataflow, share, few, dot, datapath.depthwise_mapping, array, SimulatorConstants()
    )  # fmt: skip
    elements = matrix_tile(operands, 0, tile, dilation)
    found = {
        plan: matrix_traffic(plan, dataflow, mapping, elements, array, format_bytes, True).mesh_bytes
        for plan in range(PLANS)
    }
    return {plan: size for plan, size in found.items() if size < np.inf}


ONE = EDGE._replace(pes_x=1, pes_y=1)
"""32 x 32 cells; 8 KiB of L1, half of it for weights; registers for 4 KiB of sums."""
LAYER = convolution_relu(1, 8, 8, 64, 32)
WHOLE = (1, 8, 8, 64, 32, 3, 3, 1)
INPUTS, STREAMED, WEIGHTS, SUMS = 64 * 32, 64 * 32 * 9, 9 * 32 * 64, 64 * 64
"""Elements; window padding is not stored, so it does not cross. Streamed: inputs read once for each tap."""


def test_weight_stationary_plans_by_hand():
    found = plans(LAYER, WHOLE, ONE)
    # Of a channel 2,048 / 18,432 x 9 taps x 2 = 2 bytes a pixel are kept, 64 of 32 channels; sums of 32 columns 128.
    # All of a chunk: 8,192 / 192 = 42 pixels, so two chunks. Without sums it is the whole tile's 64 pixels.
    assert found[1] == (INPUTS + 2 * WEIGHTS) * 2
    assert found[5] == (2 * INPUTS + 2 * WEIGHTS) * 2  # the inputs of both folds of output channels
    assert found[3] == (INPUTS + WEIGHTS) * 2 + 2 * 4 * SUMS * 8  # sums leave and come back after each tap but one
    assert found[9] == (2 * STREAMED + WEIGHTS) * 2
    assert found[11] == (2 * STREAMED + WEIGHTS) * 2 + 2 * 4 * SUMS * 8
    assert 0 not in found  # 36 KiB of weights of all folds cannot stay
    roomy = ONE._replace(l1_weight_bytes=1 * MIB)
    assert plans(LAYER, WHOLE, roomy)[0] == (INPUTS + WEIGHTS) * 2


def test_what_pes_share_crosses_once():
    # Two PEs, each with half of the pixels: the same inputs in all, and weights once for both. A chunk is a PE's share.
    two = EDGE._replace(pes_y=1)
    assert plans(LAYER, WHOLE, two, split=(PIXELS, PIXELS))[1] == (INPUTS + WEIGHTS) * 2
    # Each with half of the output channels: one fold, so that the inputs of a tap cross once for both; two chunks.
    assert plans(LAYER, WHOLE, two, split=(CHANNELS, PIXELS))[9] == (STREAMED + WEIGHTS) * 2
    assert plans(LAYER, WHOLE, two, split=(CHANNELS, PIXELS))[5] == (INPUTS + 2 * WEIGHTS) * 2


def test_pes_that_split_the_contraction_send_their_sums():
    # Taps 5 and 4: each PE takes the inputs for its own taps. One PE's sums go to the other.
    two = EDGE._replace(pes_y=1)
    found = plans(LAYER, WHOLE, two, split=(CONTRACTION, PIXELS))
    assert found[9] == (2 * STREAMED + WEIGHTS) * 2 + 2 * 4 * SUMS
    assert found[5] == (2 * 2 * INPUTS + 2 * WEIGHTS) * 2 + 2 * 4 * SUMS


def test_input_stationary_plans_by_hand():
    # The 64 output channels stream as 64 vectors past 2 column folds of 32 pixels.
    found = plans(LAYER, WHOLE, ONE, dataflow=INPUT_STATIONARY)
    # Kept: sums of 32 pixels (128 bytes a vector, 64 in 8 KiB); inputs of 32 pixels are 2,048 bytes, so 48 are left.
    assert found[9] == (STREAMED + 2 * WEIGHTS) * 2
    assert found[8] == (INPUTS + 2 * WEIGHTS) * 2
    assert (
        min(plans(LAYER, WHOLE, ONE._replace(l1_weight_bytes=MIB), dataflow=INPUT_STATIONARY).values())
        == (INPUTS + WEIGHTS) * 2
    )


def test_output_stationary_plans_by_hand():
    # 2 x 2 folds of 32 pixels x 32 channels; inputs of 32 pixels are 2 KiB, weights of 32 channels 18 KiB.
    found = plans(LAYER, WHOLE, ONE, dataflow=OUTPUT_STATIONARY)
    assert found == {2: (INPUTS + 2 * WEIGHTS) * 2, 4: (2 * STREAMED + 2 * WEIGHTS) * 2}
    roomy = plans(LAYER, WHOLE, ONE._replace(l1_input_bytes=MIB), dataflow=OUTPUT_STATIONARY)
    assert roomy[0] == roomy[1] == (INPUTS + WEIGHTS) * 2
    assert roomy[3] == (2 * STREAMED + WEIGHTS) * 2


def test_private_memories_keep_only_their_own():
    # Each 4 KiB more than the fold needs. Inputs of a pixel take 64 bytes, sums 128 (and registers hold 4 KiB).
    private = ONE._replace(l1_shared=False, l1_input_bytes=1024, l1_weight_bytes=4096, l1_output_bytes=4096)
    assert 1 not in plans(LAYER, WHOLE, private)  # 16 pixels of inputs are less than a latch of 32
    assert plans(LAYER, WHOLE, private)[9] == (2 * STREAMED + WEIGHTS) * 2
    assert plans(LAYER, WHOLE, private._replace(l1_input_bytes=4096))[1] == (INPUTS + WEIGHTS) * 2
    # The same bytes in the wrong role keep nothing, and in a shared memory they do.
    assert 1 not in plans(LAYER, WHOLE, private._replace(l1_output_bytes=8192))
    assert 1 in plans(LAYER, WHOLE, private._replace(l1_output_bytes=8192, l1_shared=True))


@pytest.mark.parametrize(("l2_kind", "kept"), [(0, False), (1, True), (2, True)])
def test_l2_keeps_what_l1_cannot(l2_kind, kept):
    # All weights of both folds are 36 KiB: in a private L2 of 16 x 4 KiB, or a shared one.
    datapath = ONE._replace(l2_kind=l2_kind, l2_weight_multiplier=16, l2_input_multiplier=4)
    assert (0 in plans(LAYER, WHOLE, datapath)) == kept
    if kept:
        assert plans(LAYER, WHOLE, datapath)[0] == (INPUTS + WEIGHTS) * 2
        wrong_role = ONE._replace(l2_kind=l2_kind, l2_output_multiplier=32)
        assert (0 in plans(LAYER, WHOLE, wrong_role)) == (l2_kind == 2)


def test_depthwise_needs_its_inputs_once_where_a_window_fits():
    # Taps on rows: 9 x 32 cells, 23 x 32 are empty and leave 2,944 bytes more.
    row, tile = depthwise(1, 16, 16, 64, 3), (1, 16, 16, 1, 1, 3, 3, 64)
    found = plans(row, tile, ONE)
    # 7,040 bytes keep 64 of each pixel: chunks of 110 of 256 pixels, or of 101 beside 576 bytes of weights.
    assert found[7] == (16 * 16 * 64 + 3 * 9 * 64) * 2
    assert found[6] == (16 * 16 * 64 + 9 * 64) * 2
    assert found[11] == (16 * 16 * 64 * 9 + 9 * 64) * 2
    # On the diagonal of 128 x 128 most cells are zeros, which take no L1: 64 KiB less 64 weights. Sums: 256 x 64.
    assert plans(row, tile, TPU_V3._replace(pes_x=1))[5] == (16 * 16 * 64 + 9 * 64) * 2


def test_groups_of_a_dot_have_inputs_and_weights_of_their_own():
    row = batched_dot(12, 64, 32, 32)
    found = plans(row, (64, 1, 1, 32, 32, 1, 1, 12), ONE, dot=True)
    assert found[11] == 12 * (64 * 32 + 32 * 32) * 2
    assert plans(row, (64, 1, 1, 32, 32, 1, 1, 12), EDGE, dot=True, split=(GROUPS, GROUPS)) == found


@pytest.mark.parametrize("format_bytes", [1, 2, 4])
def test_operands_cross_in_the_number_format(format_bytes):
    datapath = ONE._replace(element_bytes=format_bytes)
    found = plans(dot(64, 32, 32), (64, 1, 1, 32, 32, 1, 1, 1), datapath, dot=True, format_bytes=format_bytes)
    assert found[11] == (64 * 32 + 32 * 32) * format_bytes


def test_the_mesh_is_as_wide_as_what_its_arrays_take():
    # TPU-v3: one row of PEs takes 128 inputs and gives 128 results, two columns take 128 weights each; bfloat16. Edges
    # carry two such vectors a cycle.
    assert mesh_bytes_per_cycle(TPU_V3) == 2 * 2 * (128 + 128 + 2 * 128)
    assert mesh_bytes_per_cycle(EDGE) == 2 * 2 * (2 * (32 + 32) + 2 * 32)
    assert mesh_bytes_per_cycle(EDGE._replace(element_bytes=1)) == 2 * (2 * (32 + 32) + 2 * 32)


def test_a_step_waits_for_the_mesh():
    # [128, 64] x [64, 128] on 2 PEs of 128 x 128: one fold each, 128 vectors. Inputs 16 KiB, weights 16, results 32.
    _, parts, _ = price(dot(128, 128, 64), (128, 1, 1, 128, 64, 1, 1, 1), datapath=MESHED)
    assert parts["mesh_s"] == pytest.approx(65536 / 2048 * CYCLE)
    assert parts["matrix_s"] == pytest.approx((128 + 253) * CYCLE)
    # A PE with narrow edges: 64 x 8 PEs of 8 x 8 take 2 x 2 (8 x 16 + 64 x 8) = 2,560 bytes a cycle.
    many = MESHED._replace(pes_x=64, pes_y=8, systolic_rows=8, systolic_columns=8, vector_lanes=8)
    fast = many._replace(dram_bytes_per_s=1e15)
    seconds, parts, _ = price(dot(4096, 64, 8), (4096, 1, 1, 64, 8, 1, 1, 1), datapath=fast)
    compulsory = (4096 * 8 + 8 * 64 + 4096 * 64) * 2
    assert parts["mesh_s"] >= compulsory / 2560 * CYCLE > parts["matrix_s"]
    assert seconds >= parts["mesh_s"]


def test_elementwise_operands_cross_as_they_are_and_shared_ones_once():
    row, tile = elementwise(4, 8, 8, 128), (4, 8, 8, 128, 1, 1, 1, 1)
    _, parts, moved = price(row, tile, datapath=MESHED)
    assert parts["mesh_s"] == pytest.approx(moved.sum() / 2048 * CYCLE)


def test_partial_sums_of_cut_contractions_go_to_the_buffer_and_back():
    # [64, 256] x [256, 128], the contraction halved: the first step sends 64 x 128 float32 sums, the second takes them.
    one = MESHED._replace(pes_x=1)
    _, whole, _ = price(dot(64, 128, 256), (64, 1, 1, 128, 256, 1, 1, 1), datapath=one)
    _, halved, _ = price(dot(64, 128, 256), (64, 1, 1, 128, 128, 1, 1, 1), datapath=one)
    assert (halved["mesh_s"] - whole["mesh_s"]) / CYCLE * 1536 == pytest.approx(2 * 4 * 64 * 128)


def test_vector_units_with_ports_of_their_own_leave_the_mesh_to_the_matrix_operands():
    # As above: inputs and weights of 16 KiB each are left of 64 KiB.
    _, parts, _ = price(dot(128, 128, 64), (128, 1, 1, 128, 64, 1, 1, 1))
    assert parts["mesh_s"] == pytest.approx(32768 / 2048 * CYCLE)
    _, parts, _ = price(elementwise(4, 8, 8, 128), (4, 8, 8, 128, 1, 1, 1, 1))
    assert parts["mesh_s"] == 0
