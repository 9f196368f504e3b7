"""The state of a training run between two looks at the validation programs; all that a journal needs to keep."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.gnn.network import Network, network_weights
from lib.gnn.optimizer import Optimizer
from lib.journal import Journal

HISTORY = {
    "step": "int32",
    "learning_rate": "float64",
    "train_loss": "float64",
    "validation_loss": "float64",
    "validation_metric": "float64",
}
"""Columns of the learning curves."""
BEST = "best "
"""Marks the best weights among a record's arrays."""


class Look(NamedTuple):
    """How training went up to a step."""

    step: int
    learning_rate: float
    train_loss: float
    """Mean since the look before."""
    validation_loss: float
    """NaN, as the next, without validation programs."""
    validation_metric: float
    """Per cent."""


class TrainingState:
    """Weights, their running average, the optimiser's moments, the best weights so far and the curves.

    Batches need no state: each step's depends on the seed and the step alone. With a journal that has
    records, everything is as it was at the last of them.
    """

    def __init__(self, network: Network, optimizer: Optimizer, journal: Journal | None):
        self.looks: list[Look] = []
        self.best_weights: dict[str, np.ndarray] | None = None
        self._network, self._optimizer, self._journal = network, optimizer, journal
        if journal is not None and journal.records:
            self._restore(journal)

    @property
    def step(self) -> int:
        """Steps done."""
        return self.looks[-1].step if self.looks else 0

    @property
    def best_look(self) -> int | None:
        """Position of the look with the best validation metric (the first of equal ones), if there was any."""
        metrics = [look.validation_metric for look in self.looks]
        return int(np.nanargmin(metrics)) if np.isfinite(metrics).any() else None

    @property
    def best_step(self) -> int:
        """Of the best look; of the last, if none is better than another."""
        return self.step if self.best_look is None else self.looks[self.best_look].step

    @property
    def looks_without_gain(self) -> int:
        """Since the best one."""
        return 0 if self.best_look is None else len(self.looks) - 1 - self.best_look

    def average_weights(self) -> dict[str, np.ndarray]:
        """By path within the network."""
        with self._optimizer.averaged():
            return network_weights(self._network)

    def add(self, look: Look) -> None:
        """Take in a look at the averaged weights; on disk before this returns, if there is a journal."""
        self.looks.append(look)
        if self.best_look == len(self.looks) - 1:
            self.best_weights = self.average_weights()
        if self._journal is not None:
            self._journal.append(look._asdict(), self._arrays())

    def history(self) -> pd.DataFrame:
        """One row a look; columns as in HISTORY."""
        return pd.DataFrame(self.looks, columns=list(HISTORY)).astype(HISTORY)

    def _arrays(self) -> dict[str, np.ndarray]:
        best = self.best_weights or {}
        return {f"{BEST}{path}": value for path, value in best.items()} | self._optimizer.arrays()

    def _restore(self, journal: Journal) -> None:
        arrays = journal.arrays()
        self._optimizer.restore(arrays)
        best = {name.removeprefix(BEST): value for name, value in arrays.items() if name.startswith(BEST)}
        self.best_weights = best or None
        self.looks = [Look(**record) for record in journal.records]
