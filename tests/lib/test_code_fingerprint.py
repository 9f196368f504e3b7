"""A stage's fingerprint follows exactly the code behind it."""

import shutil
from pathlib import Path

import pytest

from lib import code_fingerprint as subject

SCRIPTS = Path(__file__).parents[2] / "workflow" / "scripts"


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A small repository: script -> lib.a -> lib.b -> preset; lib.other stands apart."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "schemas" / "presets").mkdir(parents=True)
    (tmp_path / "script.py").write_text("from lib import a, c\n")
    (tmp_path / "lib" / "__init__.py").write_text("")
    (tmp_path / "lib" / "a.py").write_text('"""Docstring."""\ndef f():\n    from lib.b import g\n    return g()\n')
    (tmp_path / "lib" / "b.py").write_text('PRESET = "numbers.yaml"\ndef g():\n    return 1\n')
    (tmp_path / "lib" / "other.py").write_text("x = 1\n")
    (tmp_path / "schemas" / "presets" / "numbers.yaml").write_text("a: 1\n")
    (tmp_path / "lib" / "c.py").write_text('TEMPLATE, TABLES = "page.html.jinja", "tables"\nload_preset("sizes")\n')
    (tmp_path / "lib" / "page.html.jinja").write_text("page 1\n")
    (tmp_path / "lib" / "page.css").write_text("size 1\n")
    (tmp_path / "schemas" / "presets" / "sizes.yaml").write_text("a: 1\n")
    (tmp_path / "schemas" / "presets" / "others.yaml").write_text("a: 1\n")
    (tmp_path / "schemas" / "presets" / "tables").mkdir()
    (tmp_path / "schemas" / "presets" / "tables" / "table.csv").write_text("a,1\n")
    monkeypatch.setattr(subject, "ROOT", tmp_path)
    monkeypatch.setattr(subject, "PRESETS", tmp_path / "schemas" / "presets")
    return tmp_path


def fingerprint(repository: Path, builder: str | None = None, study_folder: Path | None = None) -> str:
    for cached in (subject._source, subject._module_files, subject._data):
        cached.cache_clear()
    return subject.code_fingerprint(repository / "script.py", builder, study_folder)


def edit(repository: Path, name: str, old: str, new: str) -> None:
    file = repository / name
    file.write_text(file.read_text().replace(old, new))


@pytest.mark.parametrize(
    ("name", "old", "new", "changes"),
    [
        ("script.py", "import a,", "import a as b,", True),
        ("lib/b.py", "return 1", "return 2", True),
        ("schemas/presets/numbers.yaml", "1", "2", True),
        ("schemas/presets/sizes.yaml", "1", "2", True),
        ("schemas/presets/others.yaml", "1", "2", False),
        ("schemas/presets/tables/table.csv", "1", "2", True),
        ("lib/page.html.jinja", "1", "2", True),
        ("lib/page.css", "1", "2", False),
        ("lib/a.py", "Docstring", "Another docstring", False),
        ("lib/b.py", "def g", "# a comment\ndef g", False),
        ("lib/other.py", "1", "2", False),
    ],
)
def test_edits(repository, name, old, new, changes):
    before = fingerprint(repository)
    edit(repository, name, old, new)
    assert (fingerprint(repository) != before) is changes


def test_a_builder_named_in_the_study_counts(repository):
    before = fingerprint(repository, "lib.other")
    edit(repository, "lib/other.py", "1", "2")
    assert fingerprint(repository, "lib.other") != before


def test_a_builder_beside_the_study_counts(repository, tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    (folder / "mine.py").write_text("x = 1\n")
    before = fingerprint(repository, "mine", folder)
    (folder / "mine.py").write_text("x = 2\n")
    assert fingerprint(repository, "mine", folder) != before


@pytest.mark.parametrize("statement", ["import sizes", "from sizes import x", "import numpy, sizes as s"])
def test_what_a_builder_beside_the_study_imports_from_there_counts(repository, tmp_path_factory, statement):
    folder = tmp_path_factory.mktemp("study")
    (folder / "mine.py").write_text(statement + "\n")
    (folder / "sizes.py").write_text("x = 1\n")
    (folder / "other.py").write_text("x = 1\n")
    before = fingerprint(repository, "mine", folder)
    (folder / "other.py").write_text("x = 2\n")
    assert fingerprint(repository, "mine", folder) == before
    (folder / "sizes.py").write_text("x = 2\n")
    assert fingerprint(repository, "mine", folder) != before


def test_a_package_beside_the_study_counts_with_its_relative_imports(repository, tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").write_text("")
    (folder / "package" / "mine.py").write_text("from .sizes import x\nfrom . import more\n")
    seen = [fingerprint(repository, "package.mine", folder)]
    for name in ("sizes", "more", "__init__"):
        (folder / "package" / f"{name}.py").write_text("x = 2\n")
        seen.append(fingerprint(repository, "package.mine", folder))
    assert len(set(seen)) == len(seen)


def test_the_same_tree_elsewhere_has_the_same_fingerprint(repository, tmp_path_factory, monkeypatch):
    before = fingerprint(repository)
    copy = tmp_path_factory.mktemp("copy") / "clone"
    shutil.copytree(repository, copy)
    monkeypatch.setattr(subject, "ROOT", copy)
    monkeypatch.setattr(subject, "PRESETS", copy / "schemas" / "presets")
    assert fingerprint(copy) == before


def test_losses_belong_to_training_and_not_to_the_dataset():
    losses = SCRIPTS.parents[1] / "lib" / "gnn" / "losses.py"
    assert losses in subject.imported_files(SCRIPTS / "model.py")
    assert losses not in subject.imported_files(SCRIPTS / "dataset.py")
