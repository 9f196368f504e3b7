"""Training: sampled batches, Adam, warm-up and cosine, averaged weights, early stopping on validation programs."""

import logging
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lib.gnn.backend import device_in_words, tf
from lib.gnn.batching import Batch, Batcher
from lib.gnn.examples import Examples
from lib.gnn.form_rates import learned_rates
from lib.gnn.losses import loss_of
from lib.gnn.network import batch_signature, build_network, set_network_weights
from lib.gnn.optimizer import Optimizer
from lib.gnn.sampling import Sampler
from lib.gnn.scaling import fit_scaling
from lib.gnn.trained_model import TrainedModel, network_shape
from lib.gnn.training_data import ReadShards, training_data
from lib.gnn.training_state import Look, TrainingState
from lib.gnn.validation import validation_ape_pct, validation_mape_pct
from lib.journal import Journal
from lib.progress import Progress
from schemas.loss import is_rank_loss, loss_weights

LOG = logging.getLogger("tilewright")

EVALUATIONS = 30
"""Times that validation programs are looked at in the course of all steps."""
ROWS_AT_ONCE = 1_000_000


class TrainingError(RuntimeError):
    """Training can't go on; the message says what to change."""


def train_on_shards(
    spec: dict[str, Any], seed: int, read: ReadShards, *, folder: Path | None = None, journal: Journal | None = None
) -> tuple[TrainedModel, pd.DataFrame]:
    """:func:`train` on what :func:`lib.gnn.training_data.training_data` makes of the study entry's split.

    `read` gives the shards of some workloads; `folder`: where rows lie meanwhile (in memory without one).
    """
    data = training_data(spec, seed, read, folder)
    return train(spec, seed, data.train, data.groups, data.validation, journal)


def train(
    spec: dict[str, Any],
    seed: int,
    train: Examples,
    groups: np.ndarray,
    validation: Examples | None,
    journal: Journal | None = None,
) -> tuple[TrainedModel, pd.DataFrame]:
    """The model of a study entry and its history (columns as in `training_state.HISTORY`).

    `groups`: int[k, levels] of each training kernel, drawn evenly level by level (see :class:`Sampler`). Scaling is
    fitted to `train` alone. What is looked at, and kept, is the running average of the weights. Those with the best
    validation metric (tile: APE, fusion: MAPE, both %) are kept; training stops early after `patience` looks without
    a better one. Without validation programs the last ones are kept, and the validation columns are NaN.

    With a `journal`, the state is kept at every look, and a training that was killed continues from the last one
    with the result that it would have had. Raises TrainingError when the loss is no longer a number, or memory
    doesn't suffice.
    """
    rng = np.random.default_rng(seed)
    scaling = fit_scaling(train, rng)
    shape = network_shape(spec, train.features, scaling)
    network = build_network(shape, int(rng.integers(2**31)))
    model = TrainedModel(spec, seed, train.features, scaling, shape, network)
    if spec.get("layout_features") and spec["task"] == "fusion" and spec["knowledge"] == "ratio":
        model.rates = learned_rates(train)
    if "log-mse" in loss_weights(spec["loss"]):
        model.target_mean = _target_mean(model, train)
    model.training_kernels, model.training_rows = len(train.kernel), len(train.tile)
    rows = spec["tiles_per_kernel"] if spec["task"] == "tile" else 1
    least_rows = 2 if is_rank_loss(spec["loss"]) else 1
    sampler = Sampler(groups, train.row_offset, seed, kernels=spec["batch_kernels"], rows=rows, least_rows=least_rows)
    size = f"{spec['batch_kernels']} kernels x {rows} rows, width {spec['width']}"
    LOG.info(
        "%d kernels, %d rows; batches of %s on %s; if this job is killed for memory, lower batch_kernels or width",
        model.training_kernels, model.training_rows, size, device_in_words(),
    )  # fmt: skip
    try:
        state = _train(model, train, sampler, rows, validation, journal)
    except (MemoryError, tf.errors.ResourceExhaustedError) as error:
        raise TrainingError(
            f"model {spec['id']}, seed {seed}: not enough memory for batches of {size}; lower batch_kernels, "
            f"tiles_per_kernel or width ({type(error).__name__})"
        ) from error
    model.best_step = state.best_step
    set_network_weights(network, state.best_weights or state.average_weights())
    return model, state.history()


def _train(
    model: TrainedModel,
    train: Examples,
    sampler: Sampler,
    rows: int,
    validation: Examples | None,
    journal: Journal | None,
) -> TrainingState:
    """All steps, looks included."""
    spec, network = model.spec, model.network
    steps, where = spec["steps"], f"model {spec['id']}, seed {model.seed}"
    interval = max(1, steps // EVALUATIONS)
    optimizer = Optimizer(network.trainable_variables, spec["learning_rate"], steps)
    state = TrainingState(network, optimizer, journal)
    step_function = _step_function(model, optimizer, rows)
    validator = _Validator(model, validation) if validation is not None and len(validation.tile) else None
    loss_sum, since, began, started = 0.0, 0, state.step, time.monotonic()
    with Progress(f"train {spec['id']}", steps) as progress:
        for step, prepared in _prepared(model, train, sampler, state.step + 1, steps):
            if state.looks_without_gain >= spec["patience"]:
                break
            loss_sum = loss_sum + step_function(*prepared)
            since += 1
            if step % interval and step != steps:
                continue
            train_loss = float(loss_sum) / since
            loss_sum, since = 0.0, 0
            if not np.isfinite(train_loss):
                raise TrainingError(
                    f"{where}: the loss is {train_loss} at step {step}; "
                    f"try a learning_rate below {spec['learning_rate']:g}"
                )
            with optimizer.averaged():
                validation_loss, metric = validator.look() if validator else (np.nan, np.nan)
            if validator and not np.isfinite([validation_loss, metric]).all():
                raise TrainingError(
                    f"{where}: predictions for validation programs are out of all bounds at "
                    f"step {step}; try a learning_rate below {spec['learning_rate']:g}"
                )
            state.add(Look(step, optimizer.learning_rate, train_loss, validation_loss, metric))
            progress.update(step, f"loss {train_loss:.4f}" + (f", validation {metric:.2f} %" if validator else ""))
    elapsed_s, done = time.monotonic() - started, state.step - began
    rows_per_s = done * spec["batch_kernels"] * rows / elapsed_s
    LOG.info("%d of %d steps, %d of them in %.0f s: %.0f rows/s", state.step, steps, done, elapsed_s, rows_per_s)
    return state


def _target_mean(model: TrainedModel, train: Examples) -> float:
    total = 0.0
    for first in range(0, len(train.tile), ROWS_AT_ONCE):
        total += float(model.targets(train, slice(first, first + ROWS_AT_ONCE)).sum(dtype=np.float64))
        train.forget()
    return total / len(train.tile)


class _Prepared(NamedTuple):
    """What a step reads."""

    batch: Batch
    target: np.ndarray
    """float32[b * rows]"""


def _prepared(
    model: TrainedModel, train: Examples, sampler: Sampler, first: int, last: int
) -> Iterator[tuple[int, _Prepared]]:
    """The batches of the steps `first` to `last`; one is made while the step before it runs."""
    batcher = Batcher(train, model.scaling, model.shape.inputs)

    def prepare(step: int) -> _Prepared:
        sample = sampler.draw(step)
        batch = batcher.batch(sample.kernels, sample.rows, sample.row_kernel)
        prepared = _Prepared(batch, model.targets(train, sample.rows))
        train.forget()
        return prepared

    with ThreadPoolExecutor(max_workers=1) as thread:
        upcoming = thread.submit(prepare, first)
        for step in range(first, last + 1):
            prepared = upcoming.result()
            if step < last:
                upcoming = thread.submit(prepare, step + 1)
            yield step, prepared


def _step_function(model: TrainedModel, optimizer: Optimizer, rows: int):
    """One compiled step: (batch, targets float32[b * rows]) -> loss."""
    network, loss_function = model.network, loss_of(model.spec["loss"])

    @tf.function(input_signature=[batch_signature(model.shape), tf.TensorSpec((None,), tf.float32)])
    def step(batch, target):
        with tf.GradientTape() as tape:
            score = network(batch)
            loss = loss_function(tf.reshape(score, (-1, rows)), tf.reshape(target, (-1, rows)))
        unconnected = tf.UnconnectedGradients.ZERO  # a weight that this batch has no use for
        optimizer.apply(tape.gradient(loss, network.trainable_variables, unconnected_gradients=unconnected))
        return loss

    return step


class _Validator:
    """Loss and metric over the validation programs."""

    def __init__(self, model: TrainedModel, examples: Examples):
        self._model, self._examples = model, examples
        self._batcher = Batcher(examples, model.scaling, model.shape.inputs)
        self._targets = model.targets(examples)

    def look(self) -> tuple[float, float]:
        """(loss, metric in per cent) of the present weights."""
        model, examples = self._model, self._examples
        outputs = model.outputs(examples, self._batcher)
        examples.forget()
        if model.spec["task"] == "tile":
            metric = validation_ape_pct(examples, outputs)
        else:
            with np.errstate(over="ignore", invalid="ignore"):  # the caller looks whether it is finite
                predicted_s = examples.runtime_s * np.exp(outputs - self._targets)
            metric = validation_mape_pct(examples, predicted_s)
        if model.scale == "seconds":
            return float(np.mean((outputs - self._targets) ** 2)), metric
        return _rank_loss(model.spec["loss"], outputs, self._targets, examples.row_offset), metric


def _rank_loss(loss: str | dict[str, float], outputs: np.ndarray, targets: np.ndarray, row_offset: np.ndarray) -> float:
    """Mean of a rank loss over kernels with two rows or more; kernels with equally many rows go together."""
    counts, loss_function = np.diff(row_offset), loss_of(loss)
    total, kernels = 0.0, 0
    for count in np.unique(counts[counts >= 2]):
        rows = row_offset[:-1][counts == count][:, None] + np.arange(count)
        total += float(loss_function(outputs[rows], targets[rows])) * len(rows)
        kernels += len(rows)
    return total / kernels if kernels else float("nan")
