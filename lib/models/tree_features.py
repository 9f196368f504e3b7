"""What boosted trees read of a row: features of the whole kernel, the hardware, the tile and the analytical model.

They are those of the network less everything that belongs to a node.
"""

import numpy as np

from lib.gnn.analytical_features import analytical_feature_names, analytical_features
from lib.gnn.examples import Examples
from lib.gnn.form_rates import flops_per_reference_s
from lib.gnn.layout_features import kernel_layout_features
from lib.gnn.tile_features import tile_features
from schemas.model_artifact import FeatureSet


def tree_features(
    examples: Examples, rows: np.ndarray, features: FeatureSet, rates: np.ndarray | None = None
) -> np.ndarray:
    """float32[r, columns] of `rows` (int64[r] into the examples' rows), unscaled: those of the model's `features`. With
    the `rates` of forms (:mod:`lib.gnn.form_rates`), those of the kernel's layout behind them, and what the rates mean
    for the row."""
    kernel = np.searchsorted(examples.row_offset, rows, side="right") - 1
    columns = [
        examples.kernel[kernel],
        tile_features(examples.geometry, kernel, examples.tile[rows])[:, : len(features.tile)],
        analytical_features(examples.features.analytical, examples.analytical[rows]),
    ]
    if rates is not None:
        columns += [
            kernel_layout_features(examples.geometry)[kernel],
            flops_per_reference_s(examples, rates, rows)[:, None],
        ]
    return np.concatenate(columns, axis=1)


def tree_feature_names(features: FeatureSet, layout: bool = False) -> tuple[str, ...]:
    """Columns of :func:`tree_features`."""
    names = (*features.kernel, *features.tile, *analytical_feature_names(features.analytical))
    return (*names, *features.kernel_layout, "flops_per_reference_s") if layout else names
