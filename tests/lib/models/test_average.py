"""Averages of predictions, by hand."""

import numpy as np
import pytest

from lib.models.average import Average, averaged, standardised

OFFSET = np.array([0, 2, 5])


def test_standardised_within_a_kernel():
    # (1, 3): mean 2, deviation 1; a kernel whose rows are alike has no order
    assert standardised(np.array([1.0, 3, 7, 7, 7]), OFFSET) == pytest.approx([-1, 1, 0, 0, 0])


def test_fusion_takes_the_geometric_mean_of_seconds():
    values = [np.array([1.0, 4]), np.array([4.0, 9])]
    assert averaged("fusion", ["seconds", "seconds"], values, np.array([0, 1, 2])) == pytest.approx([2, 6])


def test_tile_scores_count_alike_whatever_their_size():
    scores = [np.array([0.0, 2, 1, 1, 1]), np.array([3000.0, 1000, 1, 2, 3])]
    mean = averaged("tile", ["rank", "rank"], scores, OFFSET)
    assert mean[:2] == pytest.approx([0, 0])  # they contradict each other
    assert mean[2:] == pytest.approx([-np.sqrt(1.5) / 2, 0, np.sqrt(1.5) / 2])  # the first has no say


def test_seconds_enter_tile_scores_by_their_logarithm():
    seconds = np.array([1.0, np.e, 1, np.e, np.e**2])
    assert averaged("tile", ["seconds"], [seconds], OFFSET) == pytest.approx(
        standardised(np.array([0.0, 1, 0, 1, 2]), OFFSET)
    )


class Fixed:
    """A model that always says the same."""

    features, seed = None, 1

    def __init__(self, task, values):
        self.spec, self.values = {"id": "fixed", "task": task}, np.array(values)
        self.scale = "seconds" if task == "fusion" else "rank"

    def predict(self, examples):
        return self.values


class Rows:
    row_offset = np.array([0, 1, 2])


def test_an_average_predicts_like_a_model():
    model = Average([Fixed("fusion", [1.0, 4]), Fixed("fusion", [4.0, 9])])
    assert model.scale == "seconds"
    assert model.predict(Rows()) == pytest.approx([2, 6])


def test_tasks_may_not_be_mixed():
    with pytest.raises(ValueError, match=r"\['fusion', 'tile'\]"):
        Average([Fixed("fusion", [1.0]), Fixed("tile", [1.0])])
