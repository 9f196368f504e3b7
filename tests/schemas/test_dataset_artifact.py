"""What a dataset artifact refuses."""

import numpy as np
import pytest

from lib.cost.analytical import PART_NAMES
from lib.program.kernels import LOOPS, kernels_to_arrays
from schemas.artifact import ArtifactError
from schemas.dataset_artifact import ANALYTICAL_PARTS, TILE_COLUMNS, DatasetArtifact
from tests.shard_examples import hand_made_shard


def contents():
    shard = hand_made_shard([[1, 2, 3], [4, 5]], [[1, 1, 1], [2, 2]], executions=[2, 0])
    return {
        "kernels.npz": kernels_to_arrays(shard.kernels),
        "kernels.parquet": shard.table,
        "rows.parquet": shard.rows,
        "configurations.parquet": shard.configurations,
    }


def write(tmp_path, files):
    return DatasetArtifact.write(tmp_path / "a", id="x", origin="simulated", code="", spec={}, contents=files)


def test_columns_are_those_of_the_code():
    assert ANALYTICAL_PARTS == PART_NAMES
    assert tuple(f"tile_{loop}" for loop in LOOPS) == TILE_COLUMNS


def test_a_sound_shard_is_accepted(tmp_path):
    write(tmp_path, contents())
    assert len(DatasetArtifact.read(tmp_path / "a")["rows.parquet"]) == 5


def test_a_shard_without_kernels_is_accepted(tmp_path):
    files = contents()
    empty = {name: array[:0] for name, array in files["kernels.npz"].items()}
    for offset in ("operand_offset", "op_offset", "edge_offset"):
        empty[offset] = np.zeros(1, dtype=np.int64)
    tables = {name: table.iloc[:0] for name, table in files.items() if name.endswith("parquet")}
    write(tmp_path, {"kernels.npz": empty, **tables})
    assert len(DatasetArtifact.read(tmp_path / "a")["rows.parquet"]) == 0


@pytest.mark.parametrize(
    ("file", "column", "row", "value", "message"),
    [
        ("rows.parquet", "runtime_s", 1, 0.0, "runtime_s.*row 1 is 0"),
        ("rows.parquet", "runtime_s", 2, np.nan, "runtime_s.*row 2 is nan"),
        ("rows.parquet", "analytical_s", 0, -1.0, "below 0"),
        ("rows.parquet", "kernel", 1, 1, "row 2 is out of order"),
        ("rows.parquet", "kernel", 4, 2, "2 is not one of the 2 kernels"),
        ("rows.parquet", "tile_batch", 3, 100, "row 3 is larger than its kernel's loops"),
        ("rows.parquet", "is_default", 4, True, "kernel 1 has 2 default rows"),
        ("kernels.parquet", "kernel", 1, 0, "must number the 2 kernels"),
        ("kernels.parquet", "default_executions", 1, 3, "kernel 1 contradicts configuration 0"),
        ("configurations.parquet", "kernel", 0, 7, "7 is not one of the 2 kernels"),
        ("configurations.parquet", "executions", 0, 0, "below 1"),
    ],
)
def test_contradictions_are_refused(tmp_path, file, column, row, value, message):
    files = contents()
    files[file].loc[row, column] = value
    with pytest.raises(ArtifactError, match=message):
        write(tmp_path, files)


@pytest.mark.parametrize(
    ("array", "place", "value", "message"),
    [
        ("op_offset", -1, 2, "ends at 2"),
        ("hero", 1, 0, "hero: of kernel 1"),
        ("fingerprint", 1, None, "must be distinct"),
    ],
)
def test_broken_kernels_are_refused(tmp_path, array, place, value, message):
    files = contents()
    arrays = files["kernels.npz"]
    arrays[array] = arrays[array].copy()
    arrays[array][place] = arrays[array][0] if value is None else value
    if array == "op_offset":
        arrays[array][1] = 1
    with pytest.raises(ArtifactError, match=message):
        write(tmp_path, files)


def test_a_configuration_names_a_kernel_once(tmp_path):
    files = contents()
    table = files["configurations.parquet"]
    files["configurations.parquet"] = table.iloc[[0, 0]].reset_index(drop=True)
    with pytest.raises(ArtifactError, match="occurs twice"):
        write(tmp_path, files)
