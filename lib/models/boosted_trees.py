"""Gradient-boosted regression trees as arrays: prediction, and the way back and forth to their artifact."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numba import njit

from lib.gnn.examples import Examples
from lib.gnn.feature_set import check_feature_set, feature_set
from lib.gnn.form_rates import UNKNOWN, read, reference_s, written
from lib.models.tree_features import tree_features
from schemas.model_artifact import FeatureSet, ModelArtifact, ModelDescription

LEAF = -1
"""In place of the feature of a node that has no children."""
ROWS_OF_BLOCK = 256
"""Rows that go through all trees before the next ones: their features stay in the processor's caches."""
ROWS_AT_ONCE = 65_536
"""Rows whose features are in memory at the same time."""


class Trees(NamedTuple):
    """t trees with n nodes in all; a row goes left where its feature is at most the threshold."""

    offset: np.ndarray
    """int64[t + 1] cuts the nodes into trees; the first node of a tree is its root."""
    feature: np.ndarray
    """int32[n] column that the node asks for, or LEAF."""
    threshold: np.ndarray
    """float64[n]"""
    left: np.ndarray
    """int32[n], counted within the tree."""
    right: np.ndarray
    """int32[n]"""
    value: np.ndarray
    """float64[n] what a leaf adds to the prediction."""


@njit(cache=True)
def sum_of_trees(trees: Trees, first: int, last: int, features: np.ndarray) -> np.ndarray:
    """float64[r]: what the trees `first` to `last - 1` predict for rows `features` (float32[r, columns])."""
    total = np.zeros(len(features))
    for start in range(0, len(features), ROWS_OF_BLOCK):
        for tree in range(first, last):
            root = trees.offset[tree]
            for row in range(start, min(start + ROWS_OF_BLOCK, len(features))):
                node = root
                while trees.feature[node] != LEAF:
                    below = features[row, trees.feature[node]] <= trees.threshold[node]
                    node = root + (trees.left[node] if below else trees.right[node])
                total[row] += trees.value[node]
    return total


@dataclass
class BoostedTrees:
    """A trained ensemble as a :class:`lib.models.LearnedModel`."""

    spec: dict[str, Any]
    """The model's entry of the study."""
    seed: int
    features: FeatureSet
    trees: Trees
    start: float
    """The prediction before the first tree."""
    training_kernels: int
    training_rows: int
    rates: np.ndarray | None = None
    """Of forms, see :mod:`lib.gnn.form_rates`; None where the entry reads no layout."""

    @property
    def scale(self) -> Literal["seconds", "rank"]:
        """In the tile task the logarithm of the time relative to the kernel's mean, which ranks."""
        return "rank" if self.spec["task"] == "tile" else "seconds"

    def predict(self, examples: Examples) -> np.ndarray:
        """float64[r] seconds, or scores, lower is faster. Raises FeatureSetError for features unlike training's."""
        check_feature_set(self.features, examples.features)
        out = np.empty(len(examples.tile))
        for first in range(0, len(out), ROWS_AT_ONCE):
            rows = np.arange(first, min(first + ROWS_AT_ONCE, len(out)))
            features = tree_features(examples, rows, self.features, self.rates)
            out[rows] = self.start + sum_of_trees(self.trees, 0, len(self.trees.offset) - 1, features)
        return out if self.scale == "rank" else np.exp(out) * self.reference_s(examples)

    def reference_s(self, examples: Examples) -> np.ndarray:
        """float64[r]: what the fusion task's runtimes are learned relative to."""
        return reference_s(examples, UNKNOWN if self.rates is None else self.rates)


def boosted_trees_contents(model: BoostedTrees) -> dict:
    """Contents of the files `weights.npz` and `model.json` of a ModelArtifact."""
    description = ModelDescription(
        task=model.spec["task"],
        scale=model.scale,
        hyperparameters=model.spec,
        seed=model.seed,
        features=model.features,
        scaling=None,
        target_mean=model.start,
        best_step=len(model.trees.offset) - 1,
        training_kernels=model.training_kernels,
        training_rows=model.training_rows,
        form_flops_per_s=None if model.rates is None else written(model.rates),
    )
    return {"weights.npz": model.trees._asdict(), "model.json": description}


def load_boosted_trees(artifact: ModelArtifact) -> BoostedTrees:
    """The trees that an artifact holds. Raises FeatureSetError where this version computes other features than they
    were trained on, and ValueError for arrays that are no trees."""
    description: ModelDescription = artifact["model.json"]
    check_feature_set(description.features, feature_set(description.features.analytical))
    arrays = artifact["weights.npz"]
    if set(arrays) != set(Trees._fields):
        raise ValueError(f"weights.npz holds {sorted(arrays)}; boosted trees have {sorted(Trees._fields)}")
    rates = description.form_flops_per_s
    return BoostedTrees(
        description.hyperparameters, description.seed, description.features, Trees(**arrays), description.target_mean,
        description.training_kernels, description.training_rows, None if rates is None else read(rates),
    )  # fmt: skip
