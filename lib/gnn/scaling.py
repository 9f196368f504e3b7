"""Mean and standard deviation of each feature over the training split."""

from typing import NamedTuple

import numpy as np

from lib.gnn.analytical_features import analytical_features
from lib.gnn.examples import Examples
from lib.gnn.layout_features import kernel_layout_features, node_layout_features
from lib.gnn.tile_features import node_tile_features, raw_tile_features, tile_features

CONSTANT = 1e-6
"""A column whose standard deviation is below this is dropped: its scale is 0."""
SAMPLED_ROWS = 50_000
"""Rows that the statistics of tile features are taken from."""
LIMIT = 8.0
"""Scaled features are held within this many standard deviations, so that a kernel unlike any in
training doesn't drive the network far outside of what it has seen."""


class Scaling(NamedTuple):
    """(mean, scale) float32 pairs: a scaled feature is clip((x - mean) * scale); a scale of 0 drops the column."""

    node: tuple[np.ndarray, np.ndarray]
    kernel: tuple[np.ndarray, np.ndarray]
    tile: tuple[np.ndarray, np.ndarray]
    raw_tile: tuple[np.ndarray, np.ndarray]
    node_tile: tuple[np.ndarray, np.ndarray]
    analytical: tuple[np.ndarray, np.ndarray]
    node_layout: tuple[np.ndarray, np.ndarray]
    kernel_layout: tuple[np.ndarray, np.ndarray]


def fit_scaling(train: Examples, rng: np.random.Generator) -> Scaling:
    """The scaling of the training split: nodes, kernels and at most SAMPLED_ROWS of its rows."""
    count = len(train.tile)
    rows = np.arange(count) if count <= SAMPLED_ROWS else np.sort(rng.choice(count, SAMPLED_ROWS, replace=False))
    row_kernel, (tile, analytical) = train.kernel_of(rows), train.read(rows)
    return Scaling(
        node=_statistics(train.node),
        kernel=_statistics(train.kernel),
        tile=_statistics(tile_features(train.geometry, row_kernel, tile)),
        raw_tile=_statistics(raw_tile_features(tile)),
        node_tile=_statistics(node_tile_features(train.geometry, row_kernel, tile)),
        analytical=_statistics(analytical_features(train.features.analytical, analytical)),
        node_layout=_statistics(node_layout_features(train.geometry)),
        kernel_layout=_statistics(kernel_layout_features(train.geometry)),
    )


def _statistics(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean = values.mean(axis=0, dtype=np.float64)
    deviation = values.std(axis=0, dtype=np.float64)
    scale = np.where(deviation < CONSTANT, 0.0, 1.0 / np.maximum(deviation, CONSTANT))
    return mean.astype(np.float32), scale.astype(np.float32)


def scaled(values: np.ndarray, statistics: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """float32 array of the same shape, scaled and held within LIMIT."""
    mean, scale = statistics
    values = values - mean
    values *= scale
    return np.clip(values, -LIMIT, LIMIT, out=values)
