"""Both tasks on a program of two equal blocks: x + tanh(x @ w)."""

import numpy as np
import pytest

from lib.cost.analytical import Analytical
from lib.dataset.fusion_configurations import fusion_kernels
from lib.dataset.shards import load_shards
from lib.dataset.tasks import fusion_shard, make_shard, tile_shard
from lib.fusion.default_kernels import default_kernels
from lib.hardware.datapath import datapath_from_spec
from lib.program.program import DotDimensions, Instruction, Program
from lib.schedule.tiles import tile_counts
from schemas.dataset_artifact import DatasetArtifact
from tests.shard_examples import DATAPATH_SPEC

DATAPATH = datapath_from_spec(DATAPATH_SPEC)
ON_EDGE = {"edge": DATAPATH}
TILES = 8


def array(name, opcode, operands=(), shape=(2048, 1024), **fields):
    return Instruction(name, opcode, "bf16", shape, (1, 0), operands, **fields)


def two_blocks() -> Program:
    product = DotDimensions(left_contracting=(1,), right_contracting=(0,))
    weight = {"shape": (1024, 1024), "role": "weight"}
    instructions = (
        array("x", "parameter", role="input"),
        array("w-1", "parameter", **weight),
        array("dot-1", "dot", (0, 1), dot=product),
        array("tanh-1", "tanh", (2,)),
        array("add-1", "add", (3, 0)),
        array("w-2", "parameter", **weight),
        array("dot-2", "dot", (4, 5), dot=product),
        array("tanh-2", "tanh", (6,)),
        array("add-2", "add", (7, 4)),
    )
    return Program("two-blocks", 2048, instructions, (8,))


class Doubled(Analytical):
    """Labels that differ from the estimates."""

    def cost(self, kernels, schedules, datapath, *, parts=False):
        costs = super().cost(kernels, schedules, datapath, parts=parts)
        return costs._replace(value=2 * costs.value)


def make(task, seed=1, configurations=6):
    if task == "tile":
        return tile_shard(default_kernels(two_blocks()), ON_EDGE, Doubled(), Analytical(), TILES, seed)
    parts = fusion_kernels(two_blocks(), configurations, 0, 0, seed)
    return fusion_shard(parts, ON_EDGE, Doubled(), Analytical(), seed)


@pytest.mark.parametrize("task", ["tile", "fusion"])
def test_shards_are_valid_and_repeatable(tmp_path, task):
    for folder in ("first", "second"):
        contents = make(task).files()
        DatasetArtifact.write(tmp_path / folder, id="x", origin="simulated", code="", spec={}, contents=contents)
    manifests = [(tmp_path / folder / "manifest.json").read_bytes() for folder in ("first", "second")]
    assert manifests[0] == manifests[1]


def test_tile_task_has_the_tiles_of_the_default_fusion():
    shard = make("tile")
    # both blocks are one and the same kernel
    assert shard.table.to_numpy().tolist() == [[0, "dot", "add-1", 2]]
    assert shard.configurations.to_numpy().tolist() == [[0, 0, 2]]
    assert tile_counts(shard.kernels, DATAPATH)[0] > TILES
    assert len(shard.rows) == TILES
    assert not shard.rows.duplicated([c for c in shard.rows if c.startswith("tile_")]).any()


def test_the_default_tile_is_the_best_estimate():
    rows = make("tile").rows
    assert rows["is_default"].sum() == 1
    assert rows["analytical_s"].idxmin() == rows["is_default"].idxmax()
    assert rows["runtime_s"].to_numpy() == pytest.approx(2 * rows["analytical_s"].to_numpy())


def test_the_sample_depends_on_the_seed():
    assert not make("tile", seed=1).rows.equals(make("tile", seed=2).rows)


def test_a_program_whose_kernels_have_no_choice_is_refused_in_words():
    kernels = default_kernels(two_blocks())
    # with one row, column and channel a loop there is a single tile
    tiny = kernels._replace(kernels=kernels.kernels._replace(loops=np.ones((1, 8), dtype=np.int32)))
    with pytest.raises(ValueError, match="none of the program's 1 kernels has a choice of tiles on this hardware"):
        tile_shard(tiny, ON_EDGE, Doubled(), Analytical(), TILES, 1)


@pytest.mark.parametrize("task", ["tile", "fusion"])
@pytest.mark.parametrize(
    ("changes", "level", "remedy"),
    [
        ({"global_buffer_bytes": 16384}, "global buffer", "give the hardware a larger global_buffer, or"),
        (
            {"global_buffer_bytes": 0, "l1_input_bytes": 1024, "l1_weight_bytes": 1024, "l1_output_bytes": 1024},
            "L1 buffers",
            r"a larger global_buffer \(it has none\), l1_input, l1_weight or l1_output, or",
        ),
    ],
)
def test_a_kernel_that_does_not_fit_is_named_with_workload_and_hardware(task, changes, level, remedy):
    spec = {
        "task": task, "workload": "blocks", "hardware": {"id": "tiny", "datapath": DATAPATH_SPEC | changes},
        "tiles_per_kernel": 4, "configurations": 1, "seed": 1,
    }  # fmt: skip
    message = (
        rf"workload 'blocks' on hardware 'tiny', {task} task: .* first kernel 'add-.' \(dot, .*half of the {level},.*"
        rf"{remedy}"
    )
    with pytest.raises(ValueError, match=message):
        make_shard(two_blocks(), spec, Doubled(), Analytical())


def test_fusion_task_has_each_distinct_kernel_once():
    shard = make("fusion")
    assert len(set(shard.kernels.fingerprint)) == shard.kernels.number == len(shard.rows) > 1
    assert shard.rows["kernel"].tolist() == list(range(shard.kernels.number))
    assert shard.rows["is_default"].all()
    assert shard.table["default_executions"].tolist() == [2] + [0] * (shard.kernels.number - 1)
    assert shard.table["root"][0] == "add-1"


def test_every_configuration_runs_all_ops():
    shard = make("fusion")
    assert set(shard.configurations["configuration"]) == set(range(7))
    ops = np.diff(shard.kernels.op_offset)
    run = shard.configurations["executions"] * ops[shard.configurations["kernel"]]
    assert run.groupby(shard.configurations["configuration"]).sum().tolist() == [6] * 7


SMALLER = datapath_from_spec(DATAPATH_SPEC | {"global_buffer_bytes": 2**20})
TWO_VARIANTS = {"variants-1": DATAPATH, "variants-2": SMALLER}


def test_a_sampled_entry_has_the_rows_of_each_variant_as_if_it_were_alone():
    parts = fusion_kernels(two_blocks(), 3, 0, 0, 1)
    both = fusion_shard(parts, TWO_VARIANTS, Doubled(), Analytical(), 1)
    for number, (id, datapath) in enumerate(TWO_VARIANTS.items()):
        alone = fusion_shard(parts, {id: datapath}, Doubled(), Analytical(), 1)
        rows = both.rows[both.rows["variant"] == number].drop(columns="variant").reset_index(drop=True)
        assert rows.equals(alone.rows)
        assert both.kernels.fingerprint == alone.kernels.fingerprint
        assert both.configurations.equals(alone.configurations)


@pytest.mark.parametrize("task", ["tile", "fusion"])
def test_a_sampled_entry_is_read_as_one_shard_a_variant(tmp_path, task):
    spec = {
        "dataset": "default", "task": task, "workload": "blocks", "tiles_per_kernel": TILES, "configurations": 2,
        "seed": 1, "hardware": {"id": "variants", "datapath": DATAPATH_SPEC, "variants": {
            "variants-1": {}, "variants-2": {"global_buffer_bytes": 2**20},
        }},
    }  # fmt: skip
    contents = make_shard(two_blocks(), spec, Doubled(), Analytical())
    folder = tmp_path / "variants"
    DatasetArtifact.write(folder, id="x", origin="simulated", code="", spec=spec, contents=contents.files())
    first, second = load_shards([folder])
    assert (first.hardware, second.hardware) == ("variants-1", "variants-2")
    assert (first.datapath, second.datapath) == (DATAPATH, SMALLER)
    assert len(first.rows) + len(second.rows) == len(contents.rows)
    (alone,) = load_shards([folder], hardware=["variants-2", "other"])
    assert alone.rows.equals(second.rows)
    assert load_shards([folder], hardware=["variants"]) == []


def test_a_kernel_without_a_choice_on_a_variant_has_no_tile_rows_there(tmp_path):
    """1.5 MiB hold 768 KiB of tiles at a time: fewer tiles than 16 MiB do; a buffer of one tile alone leaves none."""
    kernels = default_kernels(two_blocks())
    sizes = [2**20 * size for size in (16, 1)] + [120 * 2**10]
    datapaths = {f"v-{place}": datapath_from_spec(DATAPATH_SPEC | {"global_buffer_bytes": size})
                 for place, size in enumerate(sizes)}  # fmt: skip
    counts = [int(tile_counts(kernels.kernels, datapath)[0]) for datapath in datapaths.values()]
    rows = tile_shard(kernels, datapaths, Doubled(), Analytical(), 10**6, 1).rows
    expected = [count if count >= 2 else 0 for count in counts]
    assert np.bincount(rows["variant"], minlength=3).tolist() == expected
    assert counts[0] > counts[1] > 2


def test_a_bounded_number_of_kernels_is_drawn_whatever_the_others_are():
    parts = fusion_kernels(two_blocks(), 6, 0, 0, 1)
    everything = fusion_shard(parts, ON_EDGE, Doubled(), Analytical(), 1)
    few = fusion_shard(parts, ON_EDGE, Doubled(), Analytical(), 1, 2)
    assert everything.kernels.number > 2
    assert few.kernels.number == len(few.rows) == 2
    assert set(few.kernels.fingerprint) < set(everything.kernels.fingerprint)
    place = [everything.kernels.fingerprint.index(name) for name in few.kernels.fingerprint]
    assert few.rows["runtime_s"].tolist() == everything.rows["runtime_s"][place].tolist()
    assert few.table["default_executions"].tolist() == everything.table["default_executions"][place].tolist()
    runs = everything.configurations[everything.configurations["kernel"].isin(place)]
    assert few.configurations["executions"].tolist() == runs["executions"].tolist()
    drawn = set(few.kernels.fingerprint)
    with_them = [parts[0]] + [part for part in parts[1:] if drawn & set(part.kernels.fingerprint)]
    fewer = fusion_shard(with_them, ON_EDGE, Doubled(), Analytical(), 1, 2)
    assert set(fewer.kernels.fingerprint) == drawn


def test_walks_and_annealing_come_after_and_leave_the_others_alone():
    plain = fusion_kernels(two_blocks(), 2, 0, 0, 1)
    more = fusion_kernels(two_blocks(), 2, 3, 2, 1)
    assert len(more) == 1 + 2 + 3 + 2
    for one, other in zip(plain, more[:3], strict=True):
        assert one.kernels.fingerprint == other.kernels.fingerprint
    walked = fusion_kernels(two_blocks(), 2, 3, 0, 1)
    assert [p.kernels.fingerprint for p in walked] == [p.kernels.fingerprint for p in more[:6]]


def test_more_configurations_keep_the_first_ones():
    few, many = make("fusion", configurations=2).configurations, make("fusion", configurations=4).configurations
    assert many[many["configuration"] <= 2].equals(few)
