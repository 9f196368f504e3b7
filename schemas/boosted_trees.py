"""Gradient-boosted trees and averages: the entries of `models:` that are no network."""

from typing import Literal

from schemas.model_base import TrainedModelEntry
from schemas.study_base import IdList, StudyModel


class BoostedTrees(TrainedModelEntry):
    """Gradient-boosted trees on features of the whole kernel, of the tile and of the analytical model: the baseline
    that a graph neural network must beat. It reads no graph. Its hyperparameters are fixed."""

    kind: Literal["boosted-trees"]
    """Says that the entry is no network."""


class Average(StudyModel):
    """The mean of the predictions of several models of one task and dataset; nothing is trained for it. Fusion: mean of
    the logarithm of the seconds; tile: mean of scores, each standardised within the kernel."""

    average: IdList
    """The models, at least two. Seeds are those of the first; one that has not such a seed brings its first."""
