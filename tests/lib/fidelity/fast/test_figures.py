"""What the figures of the paper are made of, by hand; and that every row finds its counterpart."""

import math

import pytest

from lib.cost.simulator_constants import SimulatorConstants
from lib.fidelity.fast.blocks import in_row
from lib.fidelity.fast.designs import design_figures
from lib.fidelity.fast.fused_intensity import fused_intensity
from lib.fidelity.fast.intensity import batch_intensities, unfused_intensity
from lib.fidelity.fast.published import SOURCES, beside
from lib.fidelity.fast.regions import Region, fast_regions
from lib.fidelity.fast.runs import Runs, chip
from lib.fidelity.fast.shares import PARTS
from lib.fidelity.fast.sizes import block_weight_bytes, max_working_set_bytes
from lib.fidelity.fast.spread import spread
from lib.hardware.datapath import datapath_from_spec
from schemas.reference import load_reference
from tests import program_examples
from tests.program_examples import Sketch

FAST_LARGE = datapath_from_spec(chip("fast-large"))
MIB = 2**20


def test_every_table_of_the_paper_that_is_compared_has_its_source():
    tables = load_reference().tables
    assert set(SOURCES) <= set(tables)
    of_searches = {"fast-convergence", "fast-return-on-investment"}  # on the pages of searches
    assert {name for name, table in tables.items() if table.source == "fast-2022"} - of_searches == set(SOURCES)


def test_beside_takes_unit_role_and_value_from_the_reference():
    figure = beside("fast-designs", "fast-small", "queries", 250.0)
    assert (figure.source, figure.unit, figure.role, figure.theirs) == ("fast-table-5", "1/s", "validation", 241)
    assert math.isnan(figure.low)
    # A claim that no constant was fitted to.
    assert beside("fast-speedup", "bert-128", "speedup_scheduled", 1.0).role == "validation"


def test_peak_rates_and_ridges_of_table_5_follow_from_the_presets():
    for figure in design_figures(Runs({})):
        # FAST-Small is printed as 32 for 32.8 TFLOPS.
        assert figure.error_pct == pytest.approx(0.0, abs=2.5)


def test_spread_is_the_range_over_the_box():
    result = spread(lambda factor, constants: factor / constants.dram_efficiency, 10.0)
    assert result.ours == pytest.approx(10 / SimulatorConstants().dram_efficiency)
    assert (result.low, result.high) == (pytest.approx(10.0), pytest.approx(10 / 0.87))


def two_regions() -> list[Region]:
    """10 MiB in, 20 MiB between them, 10 MiB out; weights of 1 MiB each."""
    first = Region("a", "convolution", 10**9, input_bytes=10 * MIB, weight_bytes=MIB, output_bytes=20 * MIB)
    second = Region("b", "convolution", 10**9, 20 * MIB, weight_bytes=MIB, output_bytes=10 * MIB, producer=0)
    return [first, second]


@pytest.mark.parametrize(
    ("buffer_mib", "moved_mib"), [(0, 62), (1, 61), (2, 60), (19, 60), (20, 22), (21, 21), (22, 20), (1000, 20)]
)
def test_what_the_printed_programme_keeps(buffer_mib, moved_mib):
    """Both weights fit into 2 MiB; the tensor between the regions takes 20 and saves 40."""
    found = fused_intensity(two_regions(), FAST_LARGE, buffer_mib * MIB)
    assert found == pytest.approx(2e9 / (moved_mib * MIB))


def test_a_tensor_stays_only_for_the_next_region():
    first, second = two_regions()
    third = Region("c", "convolution", 10**9, 20 * MIB, output_bytes=MIB, producer=0)
    second.producer = -1
    assert fused_intensity([first, second, third], FAST_LARGE, 1000 * MIB) == pytest.approx(3e9 / (81 * MIB))


def test_intensities_of_a_block():
    """By hand, batch 2, 64 pixels: the figure-3 bytes of test_regions; fused, input of 4 and output of 8 channels."""
    block = program_examples.squeeze_excite()
    flops = sum(region.flops for region in fast_regions(block))
    weights = sum(region.weight_bytes for region in fast_regions(block))
    bars = batch_intensities(block)
    pixels = 2 * 64 * 2
    assert bars["batch_64"] == unfused_intensity(block) == pytest.approx(flops / (pixels * (64 + 48 + 12) + weights))
    # Depthwise and projection as one: the array between them does not move.
    assert bars["fused_dsconv"] == pytest.approx(flops / (pixels * (4 + 16 + 16 + 8) + weights))
    assert bars["ideal"] == pytest.approx(flops / (pixels * 12))


def test_sizes_of_table_1():
    s = Sketch()
    narrow = s.pointwise(s.input(1, 8, 8, 4), 16, name="stem_conv_1/convolution")
    wide = s.pointwise(narrow, 32, name="block1a_expand_conv_1/convolution")
    program = s.program(s.bias(wide))
    assert max_working_set_bytes(program) == 64 * (16 + 32) * 2
    assert block_weight_bytes(program) == 16 * 32 * 2


def test_rows_of_figure_14_leave_out_the_first_block_of_a_stage():
    blocks = ["stem", "1a", "1b", "2a", "2b", "2c", "top"]
    assert [block for block in blocks if in_row(block, "stage-2")] == ["2b", "2c"]
    assert [block for block in blocks if in_row(block, "stem")] == ["stem"]


def test_every_kernel_of_an_encoder_belongs_to_at_most_one_part():
    prefix = "multi_head_attention_1_2"
    names = {
        f"{prefix}/query_1/MatMul": "qkv_projection", f"{prefix}/value_1/MatMul": "qkv_projection",
        f"{prefix}/einsum_1/Einsum": "self_attention", f"{prefix}/attention_output_1/MatMul": "self_attention",
        f"{prefix}/Softmax.7": "softmax", "dense_1_2/Tensordot/MatMul": "feed_forward",
        "layer_normalization_1/Rsqrt": None,
    }  # fmt: skip
    for name, part in names.items():
        assert [found for found, pattern in PARTS.items() if pattern.match(name)] == ([part] if part else [])
