"""Training of boosted trees: scikit-learn grows them, nothing of scikit-learn is kept.

Hyperparameters are fixed for every study, so that the baseline is the same everywhere and nobody tunes it away.
"""

import logging
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from lib.gnn.examples import Examples
from lib.gnn.form_rates import UNKNOWN, learned_rates, reference_s
from lib.gnn.training_data import ReadShards, TrainingData, training_data
from lib.gnn.validation import validation_ape_pct, validation_mape_pct
from lib.models.boosted_trees import LEAF, BoostedTrees, Trees, sum_of_trees
from lib.models.tree_features import tree_features

LOG = logging.getLogger("tilewright")

ITERATIONS = 300
"""Trees."""
SETTINGS = {"learning_rate": 0.1, "max_leaf_nodes": 63, "min_samples_leaf": 20, "l2_regularization": 0.0}
"""Of scikit-learn's HistGradientBoostingRegressor."""
MOST_ROWS = 400_000
"""Rows that are learned from; more are sampled, evenly from all shards."""
HISTORY = {
    "step": "int32",
    "learning_rate": "float64",
    "train_loss": "float64",
    "validation_loss": "float64",
    "validation_metric": "float64",
}
"""Columns of the learning curves, as those of networks."""
LOOKS = 10
"""Times in the course of growing that the curves have a point."""


class _Rows(NamedTuple):
    """Rows to learn from."""

    features: np.ndarray
    """float32[r, columns]"""
    target: np.ndarray
    """float64[r]"""
    family: np.ndarray
    """int32[r]"""


def train_boosted_trees(
    spec: dict[str, Any], seed: int, read: ReadShards, threads: int, folder: Path | None = None
) -> tuple[BoostedTrees, pd.DataFrame]:
    """The ensemble of a study entry and its history (columns as in HISTORY).

    `read` gives the shards of some workloads; `folder`: where rows lie meanwhile (in memory without one). It learns the
    logarithm of a row's time relative to the mean logarithm of its kernel (tile) or to the analytical estimate
    (fusion; to one second where there is none), squared error, every family with the same weight. Training and
    validation are those of networks (see :func:`lib.gnn.training_data.training_data`), but validation programs only
    make the history's curve. Two runs with one seed give equal trees.

    Raises ValueError where nothing is left to train on.
    """
    data = training_data(spec, seed, read, folder)
    rates = None
    if spec.get("layout_features"):
        rates = learned_rates(data.train) if spec["task"] == "fusion" else UNKNOWN
    rows = _sampled_rows(spec["task"], data, rates, np.random.default_rng(seed))
    LOG.info("%d of %d rows", len(rows.target), len(data.train.tile))
    estimator = HistGradientBoostingRegressor(max_iter=ITERATIONS, early_stopping=False, random_state=seed, **SETTINGS)
    with threadpool_limits(limits=threads):
        estimator.fit(rows.features, rows.target, sample_weight=_weights(rows.family))
    start = float(np.ravel(estimator._baseline_prediction)[0])
    size = len(data.train.kernel), len(rows.target)
    model = BoostedTrees(spec, seed, data.train.features, _trees(estimator), start, *size, rates)
    return model, _history(model, rows, data.validation)


def targets(task: str, examples: Examples, rates: np.ndarray | None = None) -> np.ndarray:
    """float64[r]: what the trees learn; `rates` of forms as in :func:`lib.gnn.form_rates.reference_s`."""
    logarithm = np.log(examples.runtime_s)
    if task == "fusion":
        return logarithm - np.log(reference_s(examples, UNKNOWN if rates is None else rates))
    count = np.diff(examples.row_offset)
    return logarithm - np.repeat(np.add.reduceat(logarithm, examples.row_offset[:-1]) / count, count)


def _sampled_rows(task: str, data: TrainingData, rates: np.ndarray | None, rng: np.random.Generator) -> _Rows:
    """At most MOST_ROWS, of each shard at most its part."""
    examples = data.train
    first_kernel = np.searchsorted(examples.shard, np.arange(examples.shard[-1] + 2))
    first_row = examples.row_offset[first_kernel]
    most = max(1, MOST_ROWS // (len(first_row) - 1))
    chosen = [
        np.arange(first, last)
        if last - first <= most
        else first + np.sort(rng.choice(last - first, most, replace=False))
        for first, last in pairwise(first_row)
    ]
    rows = np.concatenate(chosen)
    kernel = np.searchsorted(examples.row_offset, rows, side="right") - 1
    features = tree_features(examples, rows, examples.features, rates)
    return _Rows(features, targets(task, examples, rates)[rows], data.groups[kernel, 0])


def _weights(family: np.ndarray) -> np.ndarray:
    """float64[r]: every family's rows together weigh the same; the mean is 1."""
    _, number, count = np.unique(family, return_inverse=True, return_counts=True)
    return len(family) / (len(count) * count[number])


def _trees(estimator: HistGradientBoostingRegressor) -> Trees:
    """The grown trees as arrays. scikit-learn has no public way to them; the lock file holds its version."""
    nodes = [predictor.nodes for (predictor,) in estimator._predictors]
    joined = np.concatenate(nodes)
    leaf = joined["is_leaf"].astype(bool)
    return Trees(
        offset=np.concatenate([[0], np.cumsum([len(tree) for tree in nodes])]).astype(np.int64),
        feature=np.where(leaf, LEAF, joined["feature_idx"]).astype(np.int32),
        threshold=np.where(leaf, 0.0, joined["num_threshold"]),
        left=np.where(leaf, 0, joined["left"]).astype(np.int32),
        right=np.where(leaf, 0, joined["right"]).astype(np.int32),
        value=np.where(leaf, joined["value"], 0.0),
    )


def _history(model: BoostedTrees, rows: _Rows, validation: Examples | None) -> pd.DataFrame:
    task = model.spec["task"]
    train = np.full(len(rows.target), model.start)
    if validation is not None:
        features = tree_features(validation, np.arange(len(validation.tile)), validation.features, model.rates)
        target = targets(task, validation, model.rates)
        outputs = np.full(len(target), model.start)
    curve, before = [], 0
    for trees in np.linspace(0, ITERATIONS, LOOKS + 1).astype(int)[1:]:
        train += sum_of_trees(model.trees, before, trees, rows.features)
        loss, metric = np.nan, np.nan
        if validation is not None:
            outputs += sum_of_trees(model.trees, before, trees, features)
            loss = float(np.mean((outputs - target) ** 2))
            seconds = np.exp(outputs) * model.reference_s(validation)
            metric = (
                validation_ape_pct(validation, outputs) if task == "tile" else validation_mape_pct(validation, seconds)
            )
        curve.append((trees, SETTINGS["learning_rate"], float(np.mean((train - rows.target) ** 2)), loss, metric))
        before = trees
    return pd.DataFrame(curve, columns=list(HISTORY)).astype(HISTORY)
