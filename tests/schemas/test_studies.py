"""The studies that ship: they load, fit their JSON Schema, and the reference is in step with the models."""

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from schemas.reference_docs import FOLDER, main, stale
from schemas.study_file import load_study
from schemas.yaml_source import read_yaml

ROOT = Path(__file__).parents[2]
STUDIES = [ROOT / "config.yaml", *sorted((ROOT / "workflow" / "studies").glob("*.yaml"))]


@pytest.mark.parametrize("file", STUDIES, ids=lambda file: file.stem)
def test_a_study_loads_and_fits_the_schema(file: Path):
    load_study(file)
    schema = json.loads((FOLDER / "study.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(read_yaml(file.read_text(encoding="utf-8")).data)


@pytest.mark.parametrize("file", STUDIES, ids=lambda file: file.stem)
def test_a_study_names_its_schema_for_editors(file: Path):
    first = file.read_text(encoding="utf-8").splitlines()[0]
    prefix = "# yaml-language-server: $schema="
    assert first.startswith(prefix)
    assert (file.parent / first.removeprefix(prefix)).resolve() == FOLDER / "study.schema.json"


def test_ready_studies_have_results_of_their_own():
    folders = [load_study(file).results for file in STUDIES]
    assert len(set(folders)) == len(folders)


def test_the_default_study_is_real():
    study = load_study(ROOT / "config.yaml")
    assert len(study.workloads) >= 10
    assert len(set(study.families(list(study.workloads)).values())) >= 6
    assert any(workload.mode == "training" for workload in study.workloads.values())
    assert any(workload.builder for workload in study.workloads.values())


def test_the_reference_is_in_step_with_the_models():
    assert stale() == [], "docs/reference is stale: run `python -m schemas.reference_docs`"


def test_a_stale_reference_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr("schemas.reference_docs.FOLDER", tmp_path)
    assert main(["--check"]) == 1
    assert "docs/reference is stale: run" in capsys.readouterr().out
    assert main([]) == 0
    assert main(["--check"]) == 0


def test_loading_a_study_imports_nothing_heavy():
    code = (
        "import sys; from schemas.study_file import load_study; load_study('config.yaml');"
        "print(*{'numpy', 'pandas', 'tensorflow', 'keras', 'numba'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
