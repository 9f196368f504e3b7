"""Which models and optimisers go with a surrogate."""

from pathlib import Path

import pytest

from tests.schemas.study_examples import SOUND, messages_of, study_of

SAMPLE = "many: {base: tpu-v3, sample: {count: 8, ranges: {pes_x: [1, 4], systolic_rows: [32, 256]}}}"
PLACE = "searches.mobile.surrogate: "


def with_surrogate(keys: str, models: str = "") -> str:
    """The sound study with a dataset of eight variants, more models and keys of its search."""
    text = SOUND.replace("baseline: tpu-v3", f"baseline: tpu-v3, {keys}").replace(
        "hardware:\n", f"hardware:\n  {SAMPLE}\n", 1
    )
    text = text.replace("{workloads: all}", "{workloads: all, hardware: [tpu-v3, edge]}")
    text = text.replace("datasets:\n", "datasets:\n  designs: {hardware: [many], split: {by: program}}\n", 1)
    return text.replace("models:\n", f"models:\n  designer: {{task: fusion, dataset: designs}}\n{models}", 1)


def test_a_model_of_many_variants(tmp_path: Path):
    study = study_of(tmp_path, with_surrogate("surrogate: designer"))
    assert study.resolved_search("mobile", 1)["surrogate"] == "designer"


@pytest.mark.parametrize(
    ("keys", "models", "message"),
    [
        (
            "surrogate: timer",
            "",
            "got 'timer', which learned 2 hardware variants, so it can't tell what a design changes",
        ),
        ("surrogate: ranks", "  ranks: {task: tile, dataset: designs}\n", "got 'ranks', which learns the tile task"),
        (
            "surrogate: both",
            "  other: {task: fusion, dataset: designs}\n  both: {average: [designer, other]}\n",
            "got 'both', which is an average of models; allowed: one of them",
        ),
        ("surrogate: regression, optimiser: cma-es", "", "got 'regression', but cma-es learns from every point"),
    ],
    ids=["two variants", "tile task", "average", "cma-es"],
)
def test_what_cannot_screen_is_refused(tmp_path: Path, keys: str, models: str, message: str):
    messages = messages_of(tmp_path, with_surrogate(keys, models))
    assert len(messages) == 1
    assert PLACE + message in messages[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("count: 8", "count: 80"), "hardware.many.sample.ranges: the ranges hold no more than "),
        (("many: {base: tpu-v3", "many: {base: tpu-v33"), "hardware.many.base: got 'tpu-v33'; allowed: tpu-v2, "),
    ],
)
def test_variants_that_can_not_be_drawn_are_told_once(tmp_path: Path, change: tuple[str, str], message: str):
    text = with_surrogate("surrogate: designer")
    assert text.replace(*change) != text
    messages = messages_of(tmp_path, text.replace(*change))
    assert [message in line for line in messages] == [True]
