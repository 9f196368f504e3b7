"""The `fidelity:` section and its artifact."""

import pandas as pd
import pytest

from schemas.artifact import ArtifactError
from schemas.fidelity_artifact import FidelityArtifact
from tests.schemas.study_examples import SOUND, messages_of, study_of

FAST = "  efficientnet-b7: {keras: EfficientNetB7}\nhardware:"


def test_a_sound_entry(tmp_path):
    text = (
        SOUND.replace("hardware:", FAST, 1)
        + "fidelity:\n  f: {sources: [scalesim, fast], workloads: [efficientnet-b7]}\n"
    )
    resolved = study_of(tmp_path, text).resolved_fidelity("f")
    assert resolved == {"id": "f", "sources": ["fast", "scalesim"], "workloads": ["efficientnet-b7"]}


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("{sources: [scale-sim]}", ["fidelity.f.sources.0", "'scale-sim'", "scalesim"]),
        ("{sources: []}", ["fidelity.f.sources"]),
        ("{sources: [fast]}", ["fidelity.f.workloads: missing"]),
        ("{sources: [fast], workloads: [resnet]}", ["workloads.0", "no workload of the paper", "resnet50v2"]),
        ("{sources: [fast], workloads: [resnet50v2]}", ["workloads.0: got 'resnet50v2'; allowed: mobilenet-v2"]),
    ],
)  # fmt: skip
def test_broken_entries_are_told_what_is_allowed(tmp_path, entry, words):
    (message,) = messages_of(tmp_path, SOUND + f"fidelity:\n  f: {entry}\n")
    for word in words:
        assert word in message


def test_workloads_without_a_source_that_runs_them_are_refused(tmp_path):
    text = SOUND.replace("hardware:", FAST, 1) + "fidelity:\n  f: {sources: [scalesim], workloads: [efficientnet-b7]}\n"
    (message,) = messages_of(tmp_path, text)
    assert "fidelity.f.workloads: not allowed without source fast" in message


def test_an_hlo_file_has_only_its_own_batch(tmp_path):
    (tmp_path / "bert.hlo").write_bytes(b"")
    text = SOUND.replace("hardware:", "  bert-128: {hlo: bert.hlo}\nhardware:", 1)
    (message,) = messages_of(tmp_path, text + "fidelity:\n  f: {sources: [fast], workloads: [bert-128]}\n")
    assert "'bert-128' is an HLO or StableHLO file" in message


ROW = {
    "source": "s", "subject": "a", "quantity": "q", "unit": "", "role": "validation", "ours": 1.0, "theirs": 2.0,
    "error_pct": -50.0, "low": 0.5, "high": 1.5, "relation": "equal", "note": "",
}  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([ROW, ROW], "s / a / q is there twice"),
        ([ROW | {"role": "claim"}], "'claim' is not one of calibration, validation"),
        ([ROW | {"low": 2.0}], "is above high"),
        ([ROW | {"relation": "below"}], "'below' is not one of equal, at most, at least"),
    ],
)
def test_wrong_figures_are_refused(tmp_path, rows, words):
    with pytest.raises(ArtifactError, match=words):
        FidelityArtifact.write(
            tmp_path / "f",
            id="f",
            origin="simulated",
            code="c",
            spec={},
            contents={"figures.parquet": pd.DataFrame(rows)},
        )
