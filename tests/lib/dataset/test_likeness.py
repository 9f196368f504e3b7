"""The split of the least alike: points on a line, so that distances can be told by hand."""

import numpy as np
import pytest

from lib.dataset.likeness import likeness_split, main, written
from tests.schemas.study_examples import SOUND

POINTS = {"near-1": [0.0, 1.0], "near-2": [0.0, 2.0], "near-3": [1.0, 3.0], "far": [9.0], "farther": [12.0]}
UNITS = {"near-1": "a", "near-2": "b", "near-3": "c", "far": "d", "farther": "e"}


def features(points: dict[str, list[float]]) -> dict[str, np.ndarray]:
    return {name: np.array(values)[:, None] for name, values in points.items()}


def test_what_has_no_neighbour_goes_to_test():
    """Nearest neighbours: `far` and `farther` have each other, 3 apart, all others at most 1 apart. Once `far` is in
    test, `farther` is 12 - 3 = 9 from the nearest. In standard deviations of the eight points."""
    spread = np.concatenate(list(POINTS.values())).std()
    split = likeness_split(features(POINTS), UNITS, test=0.4, validation=0.2, seed=1)
    assert split.parts["test"] == ["far", "farther"]
    assert len(split.parts["validation"]) == 1
    assert sorted(name for part in split.parts.values() for name in part) == sorted(POINTS)
    assert [round(value * spread, 5) for value in split.distance.values()] == [3.0, 9.0]
    # near-1: 0 and 1 are there again; near-2: 0 is, 2 is 1 from its neighbours; near-3: 1 is there, 3 is 1 off
    assert {unit: round(value * spread, 5) for unit, value in split.left.items()} == {"a": 0.0, "b": 0.5, "c": 0.5}


def test_a_unit_is_never_divided_and_its_programs_do_not_count_as_neighbours():
    units = UNITS | {"far": "d", "farther": "d"}
    split = likeness_split(features(POINTS), units, test=0.2, validation=0.2, seed=1)
    spread = np.concatenate(list(POINTS.values())).std()
    assert split.parts["test"] == ["far", "farther"]
    assert split.distance["d"] * spread == pytest.approx((6 + 9) / 2)  # both to 3


def test_features_that_do_not_vary_have_no_say():
    wide = {
        name: np.concatenate([rows, np.full((len(rows), 3), 7.0)], axis=1) for name, rows in features(POINTS).items()
    }
    assert likeness_split(wide, UNITS, 0.4, 0.2, 1) == likeness_split(features(POINTS), UNITS, 0.4, 0.2, 1)


def test_two_units_are_too_few():
    with pytest.raises(ValueError, match="at least 3 units, there are 2: a, b"):
        likeness_split(features({"x": [1.0], "y": [2.0]}), {"x": "a", "y": "b"}, 0.3, 0.3, 1)


def test_the_command_says_what_is_missing(tmp_path, capsys):
    study = tmp_path / "study.yaml"
    study.write_text(f"results: {tmp_path}/results\n{SOUND}", encoding="utf-8")
    assert main([str(study), "defalt"]) == 1
    assert "defalt: no dataset of workloads; allowed: default; did you mean 'default'?" in capsys.readouterr().err
    assert main([str(study), "default"]) == 1
    told = capsys.readouterr().err
    assert "3 of 3 programs are not traced yet" in told
    assert f"{tmp_path}/results/program/vgg/manifest.json" in told


def test_the_split_is_printed_for_pasting():
    text = written(likeness_split(features(POINTS), UNITS, 0.4, 0.2, 1))
    assert text.splitlines()[0] == "likeness:"
    assert "  test: [far, farther]" in text.splitlines()
