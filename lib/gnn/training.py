"""Training: sampled batches, Adam, warm-up and cosine, early stopping on validation programs."""

import logging
from typing import Any

import numpy as np
import pandas as pd

from lib.dataset.shards import Shard, fingerprints, remove_shared
from lib.gnn.backend import keras, tf
from lib.gnn.batching import Batcher
from lib.gnn.examples import Examples, examples_of_shards
from lib.gnn.losses import LOSSES, RANK_LOSSES
from lib.gnn.network import batch_signature, build_network, network_weights, set_network_weights
from lib.gnn.sampling import Sampler
from lib.gnn.scaling import fit_scaling
from lib.gnn.trained_model import TrainedModel, network_shape
from lib.gnn.validation import validation_ape_pct, validation_mape_pct
from lib.progress import Progress

LOG = logging.getLogger("tilewright")

EVALUATIONS = 30
"""Times that validation programs are looked at in the course of all steps."""
WARM_UP_SHARE = 0.03
"""Of all steps."""
LAST_LEARNING_RATE = 0.005
"""Of the highest learning rate."""
SECOND_MOMENT_DECAY = 0.99
GRADIENT_NORM = 1.0
"""Gradients are scaled down to this global norm."""


class TrainingError(RuntimeError):
    """Training can't go on; the message says what to change."""


def train_on_shards(spec: dict[str, Any], seed: int, shards: list[Shard]) -> tuple[TrainedModel, pd.DataFrame]:
    """:func:`train` on the shards of the study entry's split.

    `spec["split"]` names the workloads of train, validation and test, `spec["families"]` each workload's
    family. Kernels that occur in a test program are removed from training, and from validation too, since
    their runtimes would choose the weights that the test then scores. Kernels that training and validation
    share stay in both. Raises ValueError where nothing is left to train on.
    """
    part = {name: [s for s in shards if s.workload in spec["split"][name]] for name in ("train", "validation", "test")}
    test = fingerprints(part["test"])
    training, validation = (_without_test(name, part[name], test) for name in ("train", "validation"))
    if not training:
        raise ValueError(
            f"model {spec['id']}: every training kernel occurs in a test program; change the dataset's split"
        )
    families = sorted({spec["families"][shard.workload] for shard in training})
    family = np.repeat(
        [families.index(spec["families"][shard.workload]) for shard in training],
        [shard.kernels.number for shard in training],
    )
    return train(
        spec, seed, examples_of_shards(training), family, examples_of_shards(validation) if validation else None
    )


def _without_test(name: str, shards: list[Shard], test: frozenset[str]) -> list[Shard]:
    kept = remove_shared(shards, test)
    before, after = (sum(shard.kernels.number for shard in some) for some in (shards, kept))
    LOG.info("%s: %d kernels, %d removed because test programs have them", name, after, before - after)
    return kept


def train(
    spec: dict[str, Any], seed: int, train: Examples, family: np.ndarray, validation: Examples | None
) -> tuple[TrainedModel, pd.DataFrame]:
    """The model of a study entry and its history (step, train_loss, validation_loss, validation_metric).

    `family`: int[k] of each training kernel; families are drawn evenly. Scaling is fitted to `train`
    alone. The weights kept are those with the best validation metric (tile: APE, fusion: MAPE, both %);
    training stops early after `patience` looks without a better one. Without validation programs the
    last weights are kept, and the validation columns are NaN.

    Raises TrainingError when the loss is no longer a number.
    """
    rng = np.random.default_rng(seed)
    scaling = fit_scaling(train, rng)
    shape = network_shape(spec, train.features, scaling)
    network = build_network(shape, int(rng.integers(2**31)))
    model = TrainedModel(spec, seed, train.features, scaling, shape, network)
    if model.scale == "seconds":
        model.target_mean = float(model.targets(train).mean(dtype=np.float64))
    rows = spec["tiles_per_kernel"] if spec["task"] == "tile" else 1
    sampler = Sampler(
        family, train.row_offset, rng, kernels=spec["batch_kernels"], rows=rows,
        least_rows=2 if spec["loss"] in RANK_LOSSES else 1,
    )  # fmt: skip
    batcher = Batcher(train, scaling, shape.inputs)
    targets = model.targets(train)
    validator = _Validator(model, validation) if validation is not None and len(validation.tile) else None
    step_function = _step_function(model, rows)
    steps = spec["steps"]
    interval = max(1, steps // EVALUATIONS)
    history: list[tuple[int, float, float, float]] = []
    best, best_weights, without_gain = np.inf, None, 0
    with Progress(f"train {spec['id']}", steps) as progress:
        loss_sum, since = 0.0, 0
        for step in range(1, steps + 1):
            sample = sampler.draw()
            batch = batcher.batch(sample.kernels, sample.rows, sample.row_kernel)
            loss_sum = loss_sum + step_function(batch, targets[sample.rows])
            since += 1
            if step % interval and step != steps:
                continue
            train_loss = float(loss_sum) / since
            loss_sum, since = 0.0, 0
            if not np.isfinite(train_loss):
                raise TrainingError(
                    f"model {spec['id']}, seed {seed}: the loss is {train_loss} at step {step}; "
                    f"try a learning_rate below {spec['learning_rate']:g}"
                )
            validation_loss, metric = validator.look() if validator else (np.nan, np.nan)
            if validator and not np.isfinite([validation_loss, metric]).all():
                raise TrainingError(
                    f"model {spec['id']}, seed {seed}: predictions for validation programs are out of all bounds at "
                    f"step {step}; try a learning_rate below {spec['learning_rate']:g}"
                )
            history.append((step, train_loss, validation_loss, metric))
            progress.update(step, f"loss {train_loss:.4f}" + (f", validation {metric:.2f} %" if validator else ""))
            if validator and metric < best:
                best, without_gain = metric, 0
                model.best_step, best_weights = step, network_weights(network)
            elif validator:
                without_gain += 1
                if without_gain >= spec["patience"]:
                    break
    if best_weights is None:
        model.best_step = step
    else:
        set_network_weights(network, best_weights)
    frame = pd.DataFrame(history, columns=["step", "train_loss", "validation_loss", "validation_metric"])
    return model, frame.astype({"step": "int32"})


def _step_function(model: TrainedModel, rows: int):
    """One compiled step: (batch, targets float32[b * rows]) -> loss."""
    spec, network = model.spec, model.network
    loss_of = LOSSES[spec["loss"]]
    optimizer = keras.optimizers.Adam(
        _learning_rate(spec["learning_rate"], spec["steps"]), beta_2=SECOND_MOMENT_DECAY, global_clipnorm=GRADIENT_NORM
    )
    optimizer.build(network.trainable_variables)

    @tf.function(input_signature=[batch_signature(model.shape), tf.TensorSpec((None,), tf.float32)])
    def step(batch, target):
        with tf.GradientTape() as tape:
            score = network(batch)
            loss = loss_of(tf.reshape(score, (-1, rows)), tf.reshape(target, (-1, rows)))
        gradients = tape.gradient(loss, network.trainable_variables)
        optimizer.apply_gradients(zip(gradients, network.trainable_variables, strict=True))
        return loss

    return step


def _learning_rate(highest: float, steps: int):
    """Linear warm-up, then half a cosine down to LAST_LEARNING_RATE."""
    warm_up = max(1, int(WARM_UP_SHARE * steps))
    return keras.optimizers.schedules.CosineDecay(
        0.0, max(1, steps - warm_up), alpha=LAST_LEARNING_RATE, warmup_target=highest, warmup_steps=warm_up
    )


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
        if model.spec["task"] == "tile":
            metric = validation_ape_pct(examples, outputs)
        else:
            with np.errstate(over="ignore", invalid="ignore"):  # the caller looks whether it is finite
                predicted_s = examples.runtime_s * np.exp(outputs - self._targets)
            metric = validation_mape_pct(examples, predicted_s)
        if model.scale == "seconds":
            return float(np.mean((outputs - self._targets) ** 2)), metric
        return _rank_loss(model.spec["loss"], outputs, self._targets, examples.row_offset), metric


def _rank_loss(loss: str, outputs: np.ndarray, targets: np.ndarray, row_offset: np.ndarray) -> float:
    """Mean of a rank loss over kernels with two rows or more; kernels with equally many rows go together."""
    counts = np.diff(row_offset)
    total, kernels = 0.0, 0
    for count in np.unique(counts[counts >= 2]):
        rows = row_offset[:-1][counts == count][:, None] + np.arange(count)
        total += float(LOSSES[loss](outputs[rows], targets[rows])) * len(rows)
        kernels += len(rows)
    return total / kernels if kernels else float("nan")
