"""`python -m lib.new_study`: the template is a sound study, and nothing is ever overwritten."""

from pathlib import Path

import pytest

from lib.new_study import main
from schemas.reference_docs import FOLDER
from schemas.study_file import load_study

ROOT = Path(__file__).parents[2]
SECTIONS = ("workloads", "hardware", "datasets", "models", "evaluations", "searches")


def test_the_template_is_a_sound_study_with_results_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "some folder" / "first.yaml"
    assert main([str(file)]) == 0
    assert f"snakemake --configfile {file}" in capsys.readouterr().out
    study = load_study(file)
    assert study.results == "results/first"
    assert all(getattr(study, section) for section in SECTIONS)


def test_an_editor_finds_the_schema(tmp_path: Path):
    file = tmp_path / "first.yaml"
    main([str(file)])
    written = file.read_text().splitlines()[0].removeprefix("# yaml-language-server: $schema=")
    assert (tmp_path / written).resolve() == FOLDER / "study.schema.json"


def test_what_the_template_has_commented_out_is_sound_too(tmp_path: Path):
    file = tmp_path / "first.yaml"
    main([str(file)])
    (tmp_path / "my_models.py").write_text("def network(): ...\n")
    (tmp_path / "module.txt").write_text("HloModule m\n")
    commented = [line for line in file.read_text().splitlines() if line.startswith(("  # ", "    # "))]
    text = "\n".join(
        line.replace("# ", "", 1) if line in commented and "by: family" not in line else line
        for line in file.read_text().splitlines()
    )
    train = "train: [convolutions, mobilenet, mine, exported]"
    file.write_text(text.replace("train: [convolutions]", train))
    study = load_study(file)
    assert {"mobilenet", "mine", "exported"} <= set(study.workloads)
    assert "wider" in study.hardware
    assert study.searches["for-convolutions"].limits.latency_s == 0.015


def test_a_file_that_is_there_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "first.yaml"
    file.write_text("mine\n")
    assert main([str(tmp_path / "first")]) == 1
    assert "is there already and stays as it is" in capsys.readouterr().err
    assert file.read_text() == "mine\n"


@pytest.mark.parametrize("name", ["My Study.yaml", "1st.yaml", "a_b"])
def test_a_name_that_no_folder_of_results_can_have(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str):
    assert main([str(tmp_path / name)]) == 1
    assert "lower-case letters, digits and hyphens" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [[], ["a", "b"], ["--help"]])
def test_usage(capsys: pytest.CaptureFixture[str], arguments: list[str]):
    assert main(arguments) == 2
    assert "usage: python -m lib.new_study FOLDER/NAME.yaml" in capsys.readouterr().err


def test_a_folder_that_cant_be_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "file").write_text("")
    assert main([str(tmp_path / "file" / "first.yaml")]) == 1
    assert "can't be written" in capsys.readouterr().err
