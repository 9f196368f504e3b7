"""Multivariate tree-structured Parzen estimator (TPE) over lists of values.

Bergstra et al., NeurIPS 2011; multivariate as in Falkner et al., ICML 2018 (BOHB), with the constants of Optuna's
sampler (Akiba et al., KDD 2019) but for the width: the best tenth of the trials, at most 25, against the rest, 24
candidates an ask.
Each group is a mixture of one kernel a trial and an even one; a kernel is a product over the parameters, for numbers a
Gaussian over positions, for names most of the weight on its own. A space of lists makes every kernel a table, so an
ask after 5,000 trials takes milliseconds where Optuna's, which keeps to floats, takes sixty.
"""

import math

import numpy as np
from numba import njit

from lib.search.optimiser import random_positions
from lib.search.outcome import Outcome
from lib.search.ranked_trials import RankedTrials
from lib.search.space import Space

STARTUP_TRIALS = 10
"""Trials that are drawn at random first (Optuna)."""
BEST_SHARE = 0.1
MOST_BEST = 25
CANDIDATES = 24
WIDTH = 0.1
"""Standard deviation of a kernel over the number of values, for one trial; falls with the number of trials n as
n ** (-1 / (4 + p)) (Scott's rule). Half of Optuna's: with 19 parameters its kernels are so wide that the search keeps
wandering."""
LEAST_WIDTH = 0.3
"""In positions: below, a kernel holds its own value alone."""


class Tpe:
    """See the module."""

    def __init__(self, space: Space):
        self.space = space
        self.trials = RankedTrials(len(space.counts))

    def ask(self, rng: np.random.Generator) -> np.ndarray:
        """The candidate, of those drawn from the good trials' mixture, that it makes likeliest against the others'."""
        number = self.trials.number
        if number < STARTUP_TRIALS:
            return random_positions(self.space, rng)
        order = self.trials.order()
        good = min(math.ceil(BEST_SHARE * number), MOST_BEST)
        best, rest = self.trials.positions[order[:good]], self.trials.positions[order[good:]]
        best_kernels, rest_kernels = _kernels(self.space, good), _kernels(self.space, number - good)
        candidates = self._drawn(best, best_kernels, rng)
        gain = log_density(candidates, best, best_kernels) - log_density(candidates, rest, rest_kernels)
        return candidates[int(np.argmax(gain))]

    def tell(self, positions: np.ndarray, outcome: Outcome) -> None:
        """Keep the trial."""
        self.trials.add(positions, outcome)

    def _drawn(self, best: np.ndarray, kernels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """int64[CANDIDATES, p] drawn from the mixture of kernels of the trials `best` and the even one."""
        component = rng.integers(len(best) + 1, size=CANDIDATES)
        uniform = rng.random((CANDIDATES, len(self.space.counts)))
        even = (uniform * self.space.counts).astype(np.int64)
        centre = best[np.minimum(component, len(best) - 1)]
        parameters = np.arange(len(self.space.counts))
        cumulative = np.cumsum(np.exp(kernels), axis=2)[parameters, centre]
        own = np.minimum((cumulative < uniform[:, :, None]).sum(axis=2), self.space.counts - 1)
        return np.where((component == len(best))[:, None], even, own)


def _kernels(space: Space, trials: int) -> np.ndarray:
    """float64[p, v, v] log weight of each value (last axis) in the kernel of a trial that has a value (second axis), in
    a mixture of `trials` kernels; -inf beyond a parameter's values."""
    counts = space.counts
    shrinking = max(trials, 1) ** (-1.0 / (4.0 + len(counts)))
    kernels = np.full((len(counts), counts.max(), counts.max()), -np.inf)
    for parameter, count in enumerate(counts):
        values = np.arange(count)
        distance = values[:, None] - values[None, :]
        if space.named[parameter]:
            weight = np.where(distance == 0, trials + 1.0 / count, 1.0 / count)
        else:
            weight = np.exp(-0.5 * (distance / max(LEAST_WIDTH, WIDTH * shrinking * count)) ** 2)
        kernels[parameter, :count, :count] = np.log(weight / weight.sum(axis=1, keepdims=True))
    return kernels


def log_density(points: np.ndarray, centres: np.ndarray, kernels: np.ndarray) -> np.ndarray:
    """float64[c] log of the mixture's weight at int64[c, p] `points`: one kernel at each of int64[n, p] `centres`, and
    an even one as heavy as any of them."""
    sizes = np.isfinite(kernels[:, 0, :]).sum(axis=1)
    return _log_density(points, centres, kernels, -float(np.log(sizes).sum()))


@njit(cache=True)
def _log_density(points, centres, kernels, even):
    result = np.empty(len(points))
    logs = np.empty(len(centres) + 1)
    for c in range(len(points)):
        logs[len(centres)] = even
        for n in range(len(centres)):
            total = 0.0
            for p in range(points.shape[1]):
                total += kernels[p, centres[n, p], points[c, p]]
            logs[n] = total
        largest = logs.max()
        total = 0.0
        for n in range(len(logs)):
            total += math.exp(logs[n] - largest)
        result[c] = largest + math.log(total / len(logs))
    return result
