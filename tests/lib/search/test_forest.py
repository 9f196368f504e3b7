"""Extremely randomised trees on functions that are known."""

import numpy as np
import pytest

from lib.search.forest import LEAF, TREES, grown_forest, predictions


def rows(number, seed=0):
    return np.random.default_rng(seed).uniform(0.0, 1.0, (number, 3))


def test_every_tree_knows_its_own_rows():
    features = rows(60)
    target = features[:, 0] ** 2 - features[:, 1]
    said = predictions(grown_forest(features, target, np.random.default_rng(1)), features)
    assert said.shape == (TREES, 60)
    assert said == pytest.approx(np.broadcast_to(target, said.shape))


def test_new_rows_are_told_from_their_neighbours():
    features, new = rows(400), rows(100, seed=9)
    forest = grown_forest(features, 3.0 * features[:, 0], np.random.default_rng(1))
    said = predictions(forest, new)
    assert np.abs(said.mean(axis=0) - 3.0 * new[:, 0]).max() < 0.4
    assert said.min() >= 0.0
    assert said.max() <= 3.0
    # Trees differ where they were told nothing.
    assert said.std(axis=0).mean() > 0.01


def test_the_seed_decides():
    features = rows(40)
    target = features.sum(axis=1)
    forests = [grown_forest(features, target, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    new = rows(20, seed=3)
    first, again, other = (predictions(forest, new) for forest in forests)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("features", "target"),
    [(rows(1), np.array([2.0])), (rows(5), np.full(5, 2.0)), (np.ones((4, 3)), np.array([1.0, 2.0, 3.0, 2.0]))],
    ids=["one row", "one target", "rows alike"],
)
def test_where_nothing_can_be_split_the_mean_is_told(features, target):
    forest = grown_forest(features, target, np.random.default_rng(1))
    assert (forest.feature == LEAF).all()
    assert predictions(forest, rows(3)) == pytest.approx(np.full((TREES, 3), 2.0))
