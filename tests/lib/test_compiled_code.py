"""Compiled code never outlives the sources that it was made from, and finds a place wherever the program lies."""

import os
from pathlib import Path

import pytest

from lib import compiled_code as subject


@pytest.fixture
def sources(tmp_path, monkeypatch):
    (tmp_path / "lib" / "cost").mkdir(parents=True)
    (tmp_path / "lib" / "cost" / "formula.py").write_text("x = 1\n")
    monkeypatch.setattr(subject, "LIBRARY", tmp_path / "lib")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    return tmp_path


def chosen(sources) -> Path:
    os.environ.pop("NUMBA_CACHE_DIR", None)
    subject.keep_compiled_code(sources / "cache")
    return Path(os.environ["NUMBA_CACHE_DIR"])


def test_each_state_of_the_code_has_its_own_folder(sources):
    first = chosen(sources)
    assert first.parent == sources / "cache"
    assert chosen(sources) == first
    (sources / "lib" / "cost" / "formula.py").write_text("x = 2\n")
    assert chosen(sources) != first


def test_old_states_are_forgotten(sources):
    for number in range(8):
        (sources / "lib" / "cost" / "formula.py").write_text(f"x = {number}\n")
        chosen(sources)
    assert len(list((sources / "cache").iterdir())) == subject.KEPT_STATES + 1


def test_a_choice_already_made_stands(sources, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "elsewhere")
    subject.keep_compiled_code(sources / "cache")
    assert os.environ["NUMBA_CACHE_DIR"] == "elsewhere"


def test_a_read_only_checkout_keeps_code_in_the_users_cache(sources):
    (sources / "cache").write_text("a file is in the way, as write protection would be")
    folder = chosen(sources)
    assert folder.parent == sources / "user" / "tilewright"
    assert folder.is_dir()


def test_without_a_home_code_is_kept_in_the_temporary_folder(sources, monkeypatch):
    for name in ("cache", "user"):
        (sources / name).write_text("in the way")
    monkeypatch.setattr(subject.tempfile, "tempdir", str(sources))
    assert chosen(sources).parent == sources / f"tilewright-{os.getuid()}"
