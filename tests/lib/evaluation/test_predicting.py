"""Which models say something about which shards, and what averages make of it."""

import numpy as np
import pytest

from lib.evaluation.predicting import predictions
from tests.shard_examples import hand_made_shard


class Constant:
    """Says the same of every row."""

    def __init__(self, id, value):
        self.spec, self.value, self.scale = {"id": id, "task": "fusion"}, value, "seconds"

    def predict(self, examples):
        return np.full(len(examples.tile), self.value)


def entry(id, members, seeds, scored_on=("edge",)):
    return {"id": id, "task": "fusion", "members": members, "seeds": seeds, "scored_on": list(scored_on)}


TRAINED = {"first": {1: Constant("first", 1.0), 2: Constant("first", 4.0)}, "second": {5: Constant("second", 4.0)}}


def shard(hardware="edge", task="fusion"):
    return hand_made_shard([[10], [20]], [[1], [1]], hardware=hardware, task=task)


def test_each_seed_has_a_say():
    said = predictions([entry("first", ["first"], [1, 2])], TRAINED, [shard()])
    assert [(p.model, p.seed, p.values.tolist()) for p in said] == [("first", 1, [1, 1]), ("first", 2, [4, 4])]


def test_averages_go_seed_by_seed():
    """The second model has no seeds 1 and 2: it brings its own for both."""
    said = predictions([entry("mean", ["first", "second"], [1, 2])], TRAINED, [shard()])
    assert [p.seed for p in said] == [1, 2]
    assert said[0].values == pytest.approx([2, 2])  # geometric mean of 1 and 4
    assert said[1].values == pytest.approx([4, 4])


def test_models_are_scored_where_the_study_says():
    shards = [shard("edge"), shard("tpu-v3"), shard("tpu-v3", task="tile")]
    said = predictions([entry("second", ["second"], [5], ["tpu-v3"])], TRAINED, shards)
    assert [p.shard for p in said] == [1]
