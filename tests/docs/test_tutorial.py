"""The tutorial, literally: every command in a fresh copy of the repository, every edit as its blocks say."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from schemas.study_file import load_study
from schemas.yaml_source import read_yaml
from tests.docs.pages import ROOT, Block, blocks_of, merged

ENVIRONMENT = Path(sys.prefix)
pytestmark = [
    pytest.mark.tutorial,
    pytest.mark.skipif(not (ENVIRONMENT / "ready").is_file(), reason="`make` did not set up this environment"),
]


def fresh_copy(folder: Path) -> Path:
    """The repository's files as a clone would have them, with this environment and its compiled code."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    copy = folder / "tilewright"
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    (copy / ".venv").unlink(missing_ok=True)
    (copy / ".venv").symlink_to(ENVIRONMENT)
    if (ROOT / ".cache").is_dir():
        (copy / ".cache").symlink_to(ROOT / ".cache")
    return copy


def edit(file: Path, block: Block) -> None:
    """Do what a block with a title asks for: a file of its own, or entries of a study."""
    if block.language == "yaml":
        study = read_yaml(file.read_text(encoding="utf-8")).data
        file.write_text(yaml.safe_dump(merged(study, read_yaml(block.text).data)), encoding="utf-8")
    else:
        file.write_text(block.text, encoding="utf-8")


def run(copy: Path, block: Block) -> str:
    """What the block's commands print; their failure is the test's."""
    done = subprocess.run(
        ["bash", "-c", f"source .venv/bin/activate; set -euo pipefail\n{block.text}"],
        cwd=copy, capture_output=True, text=True, check=False, env=os.environ | {"COLUMNS": "200"},
    )  # fmt: skip
    assert done.returncode == 0, f"{block.name}:\n{block.text}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def test_the_tutorial_runs_as_it_stands(tmp_path: Path):
    copy = fresh_copy(tmp_path)
    printed: list[str] = []
    for block in blocks_of(ROOT / "docs" / "tutorial.md"):
        if block.language == "sh":
            printed.append(run(copy, block))
        else:
            assert block.title, f"{block.name}: no file to put it into"
            edit(copy / block.title, block)
    results = copy / "results" / "first"
    assert (copy / "results" / "tiny" / "report" / "index.html").is_file()
    assert (results / "report" / "index.html").is_file()
    text = "\n".join(printed)
    for words in ("keyword-spotter", "minutes", "kernel", "earbud", "better-earbud-best:"):
        assert words in text, words
    search = next(part for part in printed if "better-earbud-best:" in part)
    assert "Searching better-earbud" in search
    assert "Training" not in search
    assert "Searching better-earbud" in printed[-1]
    assert "Labelling" not in printed[-1]
    paste_the_found_design(copy / "mine" / "first.yaml", results)


def paste_the_found_design(study: Path, results: Path) -> None:
    """The design that the search found is a hardware variant like any other."""
    best = read_yaml((results / "search_summary" / "better-earbud" / "best.yaml").read_text(encoding="utf-8")).data
    study.write_text(yaml.safe_dump(merged(read_yaml(study.read_text()).data, {"hardware": best})), encoding="utf-8")
    assert "better-earbud-best" in load_study(study).hardware
