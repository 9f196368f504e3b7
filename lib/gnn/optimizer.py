"""Adam with decoupled weight decay, warm-up and cosine, and a running average of the weights.

All weights are one vector: some 30 operations a step in place of some 600, which take longer than the arithmetic
at these sizes.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from lib.gnn.backend import keras, tf

FIRST_MOMENT_DECAY = 0.9
SECOND_MOMENT_DECAY = 0.99
EPSILON = 1e-7
"""Added to the root of the second moment."""
GRADIENT_NORM = 1.0
"""Gradients are scaled down to this global norm."""
WEIGHT_DECAY = 0.0
"""Share of the weights taken away by a step, times the learning rate."""
WARM_UP_SHARE = 0.03
"""Of all steps: the learning rate rises linearly."""
LAST_LEARNING_RATE = 0.005
"""Of the highest learning rate, at the last step."""
AVERAGE_DECAY = 0.995
"""Of the running average, by step; less at first, so that the average is over no more than nine tenths of the steps."""


class Optimizer:
    """Adam (Kingma and Ba, ICLR 2015) with decoupled weight decay (Loshchilov and Hutter, ICLR 2019) and an average
    of the iterates (Polyak and Juditsky, 1992; exponential). `learning_rate` is the highest one, `steps` all of them.
    """

    def __init__(self, variables: Sequence[tf.Variable], learning_rate: float, steps: int):
        self._variables = list(variables)
        self._sizes = [int(np.prod(variable.shape)) for variable in self._variables]
        warm_up = max(1, int(WARM_UP_SHARE * steps))
        self._schedule = keras.optimizers.schedules.CosineDecay(
            0.0, max(1, steps - warm_up), alpha=LAST_LEARNING_RATE, warmup_target=learning_rate, warmup_steps=warm_up
        )
        weights = self._flat(self._variables)
        self._step = tf.Variable(0, dtype=tf.int64, trainable=False)
        self._weights, self._average = (tf.Variable(weights, trainable=False) for _ in range(2))
        self._first, self._second = (tf.Variable(tf.zeros_like(weights), trainable=False) for _ in range(2))

    @property
    def learning_rate(self) -> float:
        """Of the next step."""
        return float(self._schedule(self._step))

    def apply(self, gradients: Sequence) -> None:
        """One step; may be part of a compiled function."""
        gradient = self._flat(gradients)
        gradient *= GRADIENT_NORM / tf.maximum(tf.norm(gradient), GRADIENT_NORM)
        rate = self._schedule(self._step)
        step = tf.cast(self._step.assign_add(1), tf.float32)
        first = self._first.assign_add((1.0 - FIRST_MOMENT_DECAY) * (gradient - self._first))
        second = self._second.assign_add((1.0 - SECOND_MOMENT_DECAY) * (tf.square(gradient) - self._second))
        unbiased = tf.sqrt(1.0 - SECOND_MOMENT_DECAY**step) / (1.0 - FIRST_MOMENT_DECAY**step)
        change = unbiased * first / (tf.sqrt(second) + EPSILON) + WEIGHT_DECAY * self._weights
        weights = self._weights.assign_sub(rate * change)
        kept = tf.minimum(AVERAGE_DECAY, step / (step + 10.0))
        self._average.assign_add((1.0 - kept) * (weights - self._average))
        self._set_variables(weights)

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Within it the variables are the running average."""
        self._set_variables(self._average)
        try:
            yield
        finally:
            self._set_variables(self._weights)

    def arrays(self) -> dict[str, np.ndarray]:
        """All of its state, weights included."""
        return {name: variable.numpy() for name, variable in self._state().items()}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Go back to a state that :meth:`arrays` gave."""
        for name, variable in self._state().items():
            variable.assign(arrays[name])
        self._set_variables(self._weights)

    def _state(self) -> dict[str, tf.Variable]:
        return {
            "step": self._step, "weights": self._weights, "average": self._average, "first_moment": self._first,
            "second_moment": self._second,
        }  # fmt: skip

    def _flat(self, values: Sequence):
        return tf.concat([tf.reshape(tf.convert_to_tensor(value), (-1,)) for value in values], axis=0)

    def _set_variables(self, flat) -> None:
        for variable, values in zip(self._variables, tf.split(flat, self._sizes), strict=True):
            variable.assign(tf.reshape(values, variable.shape))
