"""From best to worst, by hand."""

import numpy as np

from lib.search.outcome import Outcome
from lib.search.ranked_trials import RankedTrials


def test_the_order_by_hand():
    trials = RankedTrials(1)
    outcomes = [
        Outcome(9.0, {"area": 1.0, "tdp": 1.0}),  # violation 2
        Outcome(1.0, {"area": -5.0, "tdp": 0.0}),
        Outcome(3.0, {"area": -1.0, "tdp": -1.0}),
        Outcome(float("nan"), {"area": -9.0, "tdp": 1.5}),  # what is kept does not make up for what is not
        Outcome(4.0, {"area": -1.0, "tdp": -1.0}, bound=True),  # at most 4: behind all that were run
        Outcome(3.0, {"area": -1.0, "tdp": -1.0}),  # as good as the earlier one
    ]
    for number, outcome in enumerate(outcomes):
        trials.add(np.array([number]), outcome)
    assert trials.order().tolist() == [2, 5, 1, 4, 3, 0]


def test_it_grows():
    trials = RankedTrials(2)
    for number in range(1000):
        trials.add(np.array([number, -number]), Outcome(float(number), {}))
    assert trials.positions.shape == (1000, 2)
    assert trials.order().tolist() == list(range(999, -1, -1))
