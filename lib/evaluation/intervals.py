"""Means over test programs, with bootstrap intervals, and paired comparisons of two models.

Programs are what a model must generalise to, so programs are resampled (with replacement, percentile method;
Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13). Errors in percent have geometric
means with every error floored at `FLOOR_PCT`, and are compared by ratio; rank correlations have arithmetic
means and are compared by difference.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from lib.evaluation.metrics import FLOOR_PCT

LEVEL = 0.9
"""Share of resamples within an interval."""
RESAMPLES = 10_000


class Interval(NamedTuple):
    """A mean over programs; all NaN without programs, `low` and `high` NaN with a single one."""

    value: float
    low: float
    high: float


class Comparison(NamedTuple):
    """Two models on the same programs."""

    difference: float
    """Errors: ratio of the geometric means, model / baseline. Correlations: difference of the means."""
    low: float
    high: float
    better: bool
    """The interval lies wholly on the model's side of equality."""


def program_mean(values: np.ndarray, error: bool, seed: int) -> Interval:
    """Mean of float64[p], one a program, with its interval. `error`: see the module's docstring."""
    scaled = _scaled(values, error)
    return Interval(*(_unscaled(v, error) for v in _mean_and_bounds(scaled, seed)))


def mean_of(values: np.ndarray, error: bool) -> float:
    """The mean alone; NaN without programs."""
    return _unscaled(float(_scaled(values, error).mean()), error) if len(values) else float("nan")


def compare(model: np.ndarray, baseline: np.ndarray, error: bool, seed: int) -> Comparison:
    """Paired comparison of float64[p] each, the same programs in the same order."""
    paired = _scaled(model, error) - _scaled(baseline, error)
    mean, low, high = _mean_and_bounds(paired, seed)
    better = high < 0 if error else low > 0
    return Comparison(_unscaled(mean, error), _unscaled(low, error), _unscaled(high, error), bool(better))


def _scaled(values: np.ndarray, error: bool) -> np.ndarray:
    return np.log(np.maximum(values, FLOOR_PCT)) if error else np.asarray(values, dtype=np.float64)


def _unscaled(value: float, error: bool) -> float:
    return float(np.exp(value)) if error else float(value)


def _mean_and_bounds(values: np.ndarray, seed: int) -> tuple[float, float, float]:
    if not len(values):
        return np.nan, np.nan, np.nan
    mean = values.mean()
    if len(values) == 1:
        return mean, np.nan, np.nan
    means = values[_resamples(len(values), seed)].mean(axis=1)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return mean, low, high


@cache
def _resamples(programs: int, seed: int) -> np.ndarray:
    """int64[RESAMPLES, programs]. The same for every model and metric, so adding one changes no other."""
    return np.random.default_rng([seed, programs]).integers(programs, size=(RESAMPLES, programs))
