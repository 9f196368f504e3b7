"""The state of a training run between two looks at the validation programs; all that a journal needs to keep."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.gnn.backend import keras, tf
from lib.gnn.network import Network, network_weights, set_network_weights
from lib.journal import Journal

HISTORY = {
    "step": "int32",
    "learning_rate": "float64",
    "train_loss": "float64",
    "validation_loss": "float64",
    "validation_metric": "float64",
}
"""Columns of the learning curves."""


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

    def __init__(self, network: Network, optimizer: keras.optimizers.Optimizer, journal: Journal | None):
        self.looks: list[Look] = []
        self.best_weights: dict[str, np.ndarray] | None = None
        self.averages = [tf.Variable(variable.value, trainable=False) for variable in network.trainable_variables]
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

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Within it the network has the averaged weights."""
        weights = network_weights(self._network)
        for variable, average in zip(self._network.trainable_variables, self.averages, strict=True):
            variable.assign(average)
        try:
            yield
        finally:
            set_network_weights(self._network, weights)

    def average_weights(self) -> dict[str, np.ndarray]:
        """By path within the network."""
        with self.averaged():
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
        return (
            {f"weight {path}": value for path, value in network_weights(self._network).items()}
            | {f"best {path}": value for path, value in best.items()}
            | {f"average {i}": variable.numpy() for i, variable in enumerate(self.averages)}
            | {f"optimizer {i}": np.asarray(variable) for i, variable in enumerate(self._optimizer.variables)}
        )

    def _restore(self, journal: Journal) -> None:
        arrays = journal.arrays()

        def named(prefix: str) -> dict[str, np.ndarray]:
            return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}

        set_network_weights(self._network, named("weight "))
        self.best_weights = named("best ") or None
        for i, variable in enumerate(self.averages):
            variable.assign(arrays[f"average {i}"])
        for i, variable in enumerate(self._optimizer.variables):
            variable.assign(arrays[f"optimizer {i}"])
        self.looks = [Look(**record) for record in journal.records]
