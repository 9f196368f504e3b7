"""Both tasks on a program of two equal blocks: x + tanh(x @ w)."""

import numpy as np
import pytest

from lib.cost.analytical import Analytical
from lib.dataset.tasks import fusion_shard, make_shard, tile_shard
from lib.fusion.default_kernels import default_kernels
from lib.hardware.datapath import datapath_from_spec
from lib.program.program import DotDimensions, Instruction, Program
from lib.schedule.tiles import tile_counts
from schemas.dataset_artifact import DatasetArtifact
from tests.shard_examples import DATAPATH_SPEC

DATAPATH = datapath_from_spec(DATAPATH_SPEC)
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
        return tile_shard(default_kernels(two_blocks()), DATAPATH, Doubled(), Analytical(), TILES, seed)
    return fusion_shard(two_blocks(), DATAPATH, Doubled(), Analytical(), configurations, seed)


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
        tile_shard(tiny, DATAPATH, Doubled(), Analytical(), TILES, 1)


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


def test_more_configurations_keep_the_first_ones():
    few, many = make("fusion", configurations=2).configurations, make("fusion", configurations=4).configurations
    assert many[many["configuration"] <= 2].equals(few)
