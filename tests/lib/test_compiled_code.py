"""Compiled code never outlives the sources that it was made from."""

import os

import pytest

from lib import compiled_code as subject


@pytest.fixture
def sources(tmp_path, monkeypatch):
    (tmp_path / "lib" / "cost").mkdir(parents=True)
    (tmp_path / "lib" / "cost" / "formula.py").write_text("x = 1\n")
    monkeypatch.setattr(subject, "LIBRARY", tmp_path / "lib")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    return tmp_path


def chosen(sources):
    os.environ.pop("NUMBA_CACHE_DIR", None)
    subject.keep_compiled_code(sources / "cache")
    return os.environ.get("NUMBA_CACHE_DIR")


def test_each_state_of_the_code_has_its_own_folder(sources):
    first = chosen(sources)
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


def test_a_folder_that_cannot_be_made_is_no_obstacle(sources):
    (sources / "cache").write_text("a file is in the way")
    assert chosen(sources) is None
