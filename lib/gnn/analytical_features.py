"""The analytical model's estimate of a row as features: what the compiler knows."""

import numpy as np

SECONDS_TO_NS = 1e9
SMALLEST_SHARE = 2.0**-20


def analytical_feature_names(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Columns of :func:`analytical_features`."""
    return parts + tuple(f"{name}_share" for name in parts[1:] if name.endswith("_s"))


def analytical_features(parts: tuple[str, ...], values: np.ndarray) -> np.ndarray:
    """float32[r, columns] from `values` float64[r, len(parts)], the total first.

    Times in nanoseconds and other parts enter as log2(1 + x); each time but the total also as log2 of
    its share of the total, which resolves near-ties that the logarithms of the times blur.
    """
    is_time = np.array([name.endswith("_s") for name in parts])
    absolute = np.log2(1.0 + values * np.where(is_time, SECONDS_TO_NS, 1.0))
    share = np.log2(np.maximum(values[:, 1:][:, is_time[1:]] / values[:, :1], SMALLEST_SHARE))
    return np.concatenate([absolute, share], axis=1).astype(np.float32)
