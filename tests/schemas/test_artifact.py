"""Artifacts: written whole, refused when damaged."""

import io
import json
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest

from schemas.artifact import Artifact, ArtifactError
from schemas.artifact_files import Array, ArraysSpec, Column, ModelSpec, TableSpec, TextSpec
from schemas.base import StrictModel


class Note(StrictModel):
    """A note."""

    text: str


class Sample(Artifact):
    files = {
        "rows.parquet": TableSpec(
            {"kernel": Column("int32", minimum=0), "runtime_s": Column("float64", minimum=0), "name": Column("string")}
        ),
        "arrays.npz": ArraysSpec(
            {"offset": Array("int64", ("k+1",), offsets=True), "extent": Array("int32", ("k", 8), minimum=1)}
        ),
        "note.json": ModelSpec(Note),
        "note.txt": TextSpec(),
    }  # fmt: skip


def contents(**changes):
    rows = pd.DataFrame({"kernel": np.array([0, 1], "int32"), "runtime_s": [1e-6, 2e-6], "name": ["a", "b"]})
    arrays = {"offset": np.array([0, 3, 3]), "extent": np.ones((2, 8), "int32")}
    whole = {"rows.parquet": rows, "arrays.npz": arrays, "note.json": Note(text="x"), "note.txt": "é\n"}
    return whole | changes


def write(folder, **changes):
    return Sample.write(folder, id="x", origin="simulated", code="c", spec={"a": 1}, contents=contents(**changes))


def test_round_trip(tmp_path):
    write(tmp_path / "a")
    back = Sample.read(tmp_path / "a" / "manifest.json")
    pd.testing.assert_frame_equal(back["rows.parquet"], contents()["rows.parquet"])
    assert back["note.json"] == Note(text="x")
    assert back["note.txt"] == "é\n"
    assert back.manifest.spec == {"a": 1}
    assert back.manifest.files["rows.parquet"].rows == 2
    np.testing.assert_array_equal(back["arrays.npz"]["offset"], [0, 3, 3])


def test_the_manifest_of_measured_runtimes_says_the_device(tmp_path):
    write(tmp_path / "a")
    assert "device" not in json.loads((tmp_path / "a" / "manifest.json").read_text())
    device = {"cpu": "a processor", "noise_floor_pct": 1.5}
    Sample.write(
        tmp_path / "a", id="x", origin="measured", code="c", spec={}, contents=contents(), device=device
    )  # fmt: skip
    assert Sample.read(tmp_path / "a").manifest.device == device


def test_two_writes_are_byte_identical(tmp_path):
    for name in ("a", "b"):
        write(tmp_path / name)
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes(), file.name


def test_writing_again_leaves_nothing_old(tmp_path):
    write(tmp_path / "a")
    (tmp_path / "a" / "left-over").write_text("x")
    write(tmp_path / "a")
    assert {f.name for f in (tmp_path / "a").iterdir()} == {"manifest.json", *Sample.files}
    assert [f.name for f in tmp_path.iterdir()] == ["a"]


def test_a_refused_write_changes_nothing(tmp_path):
    write(tmp_path / "a")
    before = (tmp_path / "a" / "manifest.json").read_bytes()
    with pytest.raises(ArtifactError, match="nothing was written"):
        write(tmp_path / "a", **{"rows.parquet": pd.DataFrame({"kernel": [0]})})
    assert (tmp_path / "a" / "manifest.json").read_bytes() == before


def rows(**columns):
    return contents()["rows.parquet"].assign(**columns)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rows.parquet": rows(runtime_s=[1.0, np.nan])}, "column runtime_s: row 1 is nan"),
        ({"rows.parquet": rows(runtime_s=[-1.0, 1.0])}, "column runtime_s: row 0 is -1.0, below 0"),
        ({"rows.parquet": rows(kernel=np.array([0, 1], "int64"))}, "column kernel: has type int64, expected int32"),
        ({"rows.parquet": rows(other=1)}, r"not declared \['other'\]"),
        ({"rows.parquet": rows(name=["a", None])}, "column name: row 1 is empty"),
        ({"arrays.npz": {"offset": np.array([0, 3, 2]), "extent": np.ones((2, 8), "int32")}}, "offset: offsets must"),
        ({"arrays.npz": {"offset": np.array([0, 3]), "extent": np.ones((2, 8), "int32")}}, "array extent: has shape"),
        ({"arrays.npz": {"offset": np.array([0]), "extent": np.zeros((0, 4), "int32")}}, "array extent: has shape"),
        ({"arrays.npz": {"offset": np.array([0, 1]), "extent": np.zeros((1, 8), "int32")}}, "holds 0, below 1"),
        ({"note.txt": 3}, "expected text, got int"),
        ({"note.json": "x"}, "expected a Note, got str"),
    ],
)  # fmt: skip
def test_bad_contents_are_not_written(tmp_path, changes, words):
    with pytest.raises(ArtifactError, match=words):
        write(tmp_path / "a", **changes)
    assert not (tmp_path / "a").exists()


def truncate(file):
    file.write_bytes(file.read_bytes()[:-3])


def flip_a_bit(file):
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(bytes(data))


@pytest.mark.parametrize("damage", [truncate, flip_a_bit])
@pytest.mark.parametrize("name", list(Sample.files))
def test_damaged_files_are_refused_with_path_and_remedy(tmp_path, damage, name):
    write(tmp_path / "a")
    damage(tmp_path / "a" / name)
    with pytest.raises(ArtifactError) as error:
        Sample.read(tmp_path / "a")
    assert str(tmp_path / "a" / name) in str(error.value)
    assert "run snakemake again" in str(error.value)


def test_missing_file_and_missing_manifest(tmp_path):
    write(tmp_path / "a")
    (tmp_path / "a" / "rows.parquet").unlink()
    with pytest.raises(ArtifactError, match=r"rows\.parquet: file: missing"):
        Sample.read(tmp_path / "a")
    with pytest.raises(ArtifactError, match=r"manifest\.json: file: missing"):
        Sample.read(tmp_path / "b")


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("version", 0, "version: is 0, this program reads 1"),
        ("schema_name", "Other", "is a Other, expected a Sample"),
        ("surprise", 1, "surprise"),
        ("origin", "guessed", "origin"),
    ],
)
def test_foreign_older_or_edited_manifests(tmp_path, field, value, words):
    write(tmp_path / "a")
    manifest = tmp_path / "a" / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {field: value}))
    with pytest.raises(ArtifactError, match=words):
        Sample.read(tmp_path / "a")


def test_pickles_and_bombs_are_not_opened(tmp_path, monkeypatch):
    spec = Sample.files["arrays.npz"]
    (tmp_path / "pickle.npz").write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(zipfile.BadZipFile):
        spec.load(tmp_path / "pickle.npz")
    stream = io.BytesIO()
    np.save(stream, np.array([{}], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(tmp_path / "object.npz", "w") as archive:
        archive.writestr("a.npy", stream.getvalue())
    with pytest.raises(ValueError, match="allow_pickle=False"):
        spec.load(tmp_path / "object.npz")
    monkeypatch.setattr("schemas.artifact_files.UNPACKED_LIMIT_BYTES", 1000)
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", b"\0" * 100_000)
    with pytest.raises(ValueError, match="would unpack to 100000 bytes"):
        spec.load(tmp_path / "bomb.npz")
