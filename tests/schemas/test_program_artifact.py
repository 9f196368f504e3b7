"""The artifact of the rule `program`."""

import subprocess
import sys

import numpy as np
import pytest

from lib.program.batch import affine_program
from lib.program.program_table import program_from_arrays, program_to_arrays
from schemas.artifact import ArtifactError
from schemas.program_artifact import ProgramArtifact
from tests.lib.program.program_examples import dense


def write(folder, arrays):
    return ProgramArtifact.write(
        folder, id="example", origin="none", code="0", spec={"id": "example"}, contents={"program.npz": arrays}
    )


def arrays():
    return program_to_arrays(affine_program(dense(2), dense(4)))


def test_round_trip_and_equal_bytes(tmp_path):
    write(tmp_path / "one", arrays())
    write(tmp_path / "two", arrays())
    assert program_from_arrays(ProgramArtifact.read(tmp_path / "one")["program.npz"]) == affine_program(
        dense(2), dense(4)
    )
    for name in ("manifest.json", "program.npz"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("operands", 99, "does not come before it"),
        ("outputs", 99, "must name some of the"),
        ("batch", 0, "below 1"),
    ],
)
def test_what_does_not_hold_together_is_refused(tmp_path, name, value, problem):
    damaged = arrays()
    damaged[name] = damaged[name].copy()
    damaged[name][0] = value
    with pytest.raises(ArtifactError, match=problem):
        write(tmp_path / "bad", damaged)


def test_columns_of_other_lengths_are_refused(tmp_path):
    damaged = arrays()
    damaged["dimensions_slope"] = np.zeros(1, dtype=np.int64)
    with pytest.raises(ArtifactError, match="dimensions_slope"):
        write(tmp_path / "bad", damaged)


def test_reading_does_not_import_tensorflow(tmp_path):
    write(tmp_path / "one", arrays())
    code = (
        "import sys; from schemas.program_artifact import ProgramArtifact;"
        "from lib.program.program_table import program_from_arrays; from lib.program.simplify import simplify;"
        f"program_from_arrays(ProgramArtifact.read({str(tmp_path / 'one')!r})['program.npz']).with_batch(8);"
        "assert 'tensorflow' not in sys.modules and 'keras' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
