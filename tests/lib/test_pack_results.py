"""Results go into one file and come out of it as they were, or not at all."""

import io
import os
import tarfile
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

from lib.pack_results import ABOUT, RECORDS, PackError, main, pack, unpack

STUDY = "results: results/mine\nworkloads: {network: {keras: MobileNetV2}}\n"
FILES = {
    "results/mine/program/network/manifest.json": "{}",
    "results/mine/.journal/search/a-0123456789abcdef/records": "0 {}\n",
    "results/mine/log/program/network.log": "log",
}
OTHERS = ["results/other/program/network/manifest.json", "study.yaml"]


def record_of(file: str) -> Path:
    return RECORDS / urlsafe_b64encode(file.encode()).decode()


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A working directory with results of two studies, and Snakemake's records of both."""
    folder = tmp_path / "one machine"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for number, name in enumerate([*FILES, *OTHERS]):
        for path, text in ((Path(name), FILES.get(name, "other")), (record_of(name), f"record of {name}")):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            os.utime(path, (1_700_000_000.25 + number, 1_700_000_000.25 + number))
    Path("study.yaml").write_text(STUDY)
    left_behind = Path("results/mine/model/a/.scratch/rows")
    left_behind.parent.mkdir(parents=True)
    left_behind.touch()
    return folder


@pytest.fixture
def elsewhere(tmp_path) -> Path:
    (tmp_path / "another").mkdir()
    return tmp_path / "another"


def test_everything_of_the_study_is_there_as_it_was(folder, elsewhere, monkeypatch):
    file = pack(Path("study.yaml")).resolve()
    assert file == folder / "mine.tar"
    monkeypatch.chdir(elsewhere)
    assert unpack(file) == Path("results/mine")
    found = {path.as_posix() for path in Path().rglob("*") if path.is_file()}
    assert found == {*FILES, *(record_of(name).as_posix() for name in FILES)}
    for number, name in enumerate(FILES):
        assert Path(name).read_text() == FILES[name]
        assert Path(name).stat().st_mtime == record_of(name).stat().st_mtime == 1_700_000_000.25 + number


def test_results_that_are_there_are_kept(folder, capsys):
    pack(Path("study.yaml"))
    assert main(["unpack", "mine.tar"]) == 1
    assert "results/mine: there are results already" in capsys.readouterr().err
    assert not list(folder.glob(".unpack-*"))


@pytest.mark.parametrize("size", [100, 3000, 8000])
def test_a_file_that_was_cut_short_leaves_nothing(folder, elsewhere, monkeypatch, size):
    file = pack(Path("study.yaml")).resolve()
    file.write_bytes(file.read_bytes()[:size])
    monkeypatch.chdir(elsewhere)
    with pytest.raises(PackError, match=r"mine.tar: (is damaged, cut short|is no file of)"):
        unpack(file)
    assert list(elsewhere.iterdir()) == []


def foreign(member: tarfile.TarInfo, content: bytes = b"") -> bytes:
    """A file of `make pack` with one more member."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        about = tarfile.TarInfo(ABOUT)
        text = b'{"format": 1, "results": "results/mine"}'
        about.size = len(text)
        archive.addfile(about, io.BytesIO(text))
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def link(name: str, target: str) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = tarfile.SYMTYPE, target
    return member


@pytest.mark.parametrize(
    "member",
    [
        tarfile.TarInfo("results/mine/../../../outside"),
        tarfile.TarInfo("results/other/manifest.json"),
        tarfile.TarInfo("lib/job.py"),
        link("results/mine/program", "/etc"),
    ],
    ids=lambda member: member.name,
)
def test_nothing_else_is_unpacked(elsewhere, monkeypatch, member):
    monkeypatch.chdir(elsewhere)
    Path("foreign.tar").write_bytes(foreign(member))
    with pytest.raises(PackError, match="which is no file of the results"):
        unpack(Path("foreign.tar"))
    assert [path.name for path in elsewhere.rglob("*")] == ["foreign.tar"]


def test_a_run_that_is_at_work_is_waited_for(folder):
    lock = Path(".snakemake/locks/0.input.lock")
    lock.parent.mkdir()
    lock.touch()
    with pytest.raises(PackError, match="a run works on these results"):
        pack(Path("study.yaml"))


def test_a_study_without_results_is_told(elsewhere, monkeypatch):
    monkeypatch.chdir(elsewhere)
    Path("study.yaml").write_text(STUDY)
    with pytest.raises(PackError, match=r"results/mine: there are no results of study.yaml"):
        pack(Path("study.yaml"))


@pytest.mark.parametrize("arguments", [[], ["pack"], ["unpack"], ["pack", "a", "b", "c"]])
def test_a_wrong_command_line_is_told_how(arguments, capsys):
    assert main(arguments) == 1
    assert "usage: python -m lib.pack_results" in capsys.readouterr().err
