"""What a person gets who types the commonest mistakes; those within a study are in tests/schemas/test_study_file.py."""

from pathlib import Path

import pytest

from lib.snakemake_command_line import refuse_mistakes
from schemas.study_file import LARGEST_BYTES
from tests.workflow.run_snakemake import ROOT, snakemake

TINY = ROOT / "workflow" / "studies" / "tiny.yaml"


def refusal(*words: str) -> str:
    """What a profile says of these words after `snakemake`."""
    with pytest.raises(SystemExit) as ended:
        refuse_mistakes(words)
    return str(ended.value)


@pytest.mark.parametrize("target", [str(TINY), "modles"], ids=["a study without --configfile", "a misspelt rule"])
def test_what_is_asked_for_is_no_target(tmp_path, target):
    done = snakemake(tmp_path, None, target, "--dry-run")
    text = done.stdout + done.stderr
    assert done.returncode == 1
    assert f"No rule to produce {target}" in text
    assert "Traceback" not in text


def test_targets_after_the_study_are_taken_for_studies():
    text = refusal("--dry-run", "--configfile", str(TINY), "models")
    assert text.startswith(f"Error: A study is one file; --configfile was given {TINY}, models.")
    assert "what is to be made goes before it" in text


def test_targets_after_config_are_told_where_they_go():
    text = refusal("--config", "seed=2", "models", f"--configfile={TINY}")
    assert text == (
        "Error: --config: got 'models'; allowed: KEY=VALUE; it takes all words that follow, so what is to be made goes "
        "before it"
    )


@pytest.mark.parametrize("word", ["models={}", "models.tile-ranker.steps=5", "s=1"])
def test_what_config_cant_override(word):
    key = word.partition("=")[0]
    assert refusal("-C", word) == (
        f"Error: --config: {key}: only seed, results and measurements can be overridden on the command line; for "
        "anything else edit the study or give another one with --configfile"
    )


def test_words_without_mistakes_pass():
    refuse_mistakes(["-n", "models", "--configfile", str(TINY), "--config", "seed=2", "results=a=b", "--cores", "1"])
    refuse_mistakes(["--configfile"])  # Snakemake says how many words it wants
    refuse_mistakes([])


NO_STUDIES = {
    "deeply nested": (b"seed: 1\nworkloads: " + b"[" * 5000 + b"]" * 5000, ":2: nested more than 32 levels deep"),
    "huge": (b"#" * (LARGEST_BYTES + 1), f": has {LARGEST_BYTES + 1} bytes; allowed: at most {LARGEST_BYTES}"),
    "many values": (b"seed: [" + b"1," * 100_001 + b"]", ":1: more than 100000 values"),
    "a list": (b"- a\n- b\n", ':1: got ["a", "b"]; allowed: a mapping with the keys seed, results'),
    "empty": (b"", ": the study is empty; allowed keys: seed, results"),
    "a syntax error": (b"seed: 1\nworkloads: {a: [}\n", ":2: not valid YAML"),
    "a tab": (b"workloads:\n\tvgg: {}\n", ":2: a tab indents this line"),
    "a pickle": (b"\x80\x04\x95\x00", ": is not a text file in UTF-8"),
    "a template": (b"__use_yte__: true\nseed: ?print(1)\n", ":1: __use_yte__: a study is plain data"),
    "a python object": (b"seed: !!python/object/apply:os.system [ls]\n", ":1: the tag"),
}


@pytest.mark.parametrize("what", NO_STUDIES)
def test_files_that_are_no_study(tmp_path, what):
    content, message = NO_STUDIES[what]
    study = tmp_path / "study.yaml"
    study.write_bytes(content)
    assert refusal("--configfile", str(study)).startswith(f"Error: {study}{message}")


def test_paths_that_are_no_study(tmp_path):
    assert "there is no such study file; name one that is there" in refusal("--configfile", str(tmp_path / "none"))
    assert "is a folder; a study is one YAML file" in refusal("--configfile", str(tmp_path))
    assert "is no file but a device or a pipe" in refusal("--configfile", "/dev/zero")


@pytest.mark.parametrize("profile", ["default", "slurm"])
def test_snakemake_itself_ends_in_these_words(tmp_path, profile):
    """Snakemake reads the study before the Snakefile, and this one takes it beyond Python's stack."""
    study = tmp_path / "a study.yaml"
    study.write_bytes(NO_STUDIES["deeply nested"][0])
    done = snakemake(tmp_path, study, "--dry-run", profile=profile)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"Error: {study}:2: nested more than 32 levels deep"
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("*/"))


def test_a_study_that_is_read_but_wrong_ends_in_words_too(tmp_path):
    """Sections of an older version, a section of another type, one left empty: line, key, what is allowed."""
    study = tmp_path / "study.yaml"
    study.write_text("worklods: {a: {keras: VGG16}}\nmodels: true\nevaluations:\ndatasets: [1]\n")
    done = snakemake(tmp_path, study, "--dry-run")
    assert done.returncode == 1
    text = done.stdout + done.stderr
    assert "study.yaml:1: worklods: unknown key; allowed: " in text
    assert "did you mean 'workloads'?" in text
    assert "study.yaml:2: models: got true; allowed: a mapping" in text
    assert "study.yaml:4: datasets: got [1]; allowed: a mapping" in text
    assert "study.yaml:3" not in text
    assert "Traceback" not in text


def test_from_another_folder_by_a_relative_path_with_spaces(tmp_path: Path, monkeypatch):
    """The study's own files are found beside it, results go where Snakemake runs."""
    (tmp_path / "my studies").mkdir()
    (tmp_path / "my studies" / "own.yaml").write_text(
        "results: 'my results'\nworkloads: {own: {builder: 'own_networks:network'}}\n"
    )
    (tmp_path / "my studies" / "own_networks.py").write_text("def network(): ...\n")
    target = "my results/program/own/manifest.json"
    done = snakemake(tmp_path, tmp_path / "my studies" / "own.yaml", target, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "Tracing own" in done.stdout + done.stderr
