"""The optimiser against Keras's Adam, and its average by hand."""

import numpy as np
import pytest

from lib.gnn import optimizer as module
from lib.gnn.backend import keras, tf
from lib.gnn.optimizer import AVERAGE_DECAY, LAST_LEARNING_RATE, Optimizer


def variables() -> list[tf.Variable]:
    rng = np.random.default_rng(0)
    return [tf.Variable(rng.normal(size=shape).astype(np.float32)) for shape in ((3, 4), (4,), ())]


def gradients(step: int) -> list[tf.Tensor]:
    rng = np.random.default_rng(step)
    return [tf.constant(rng.normal(size=shape).astype(np.float32)) for shape in ((3, 4), (4,), ())]


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_steps_are_those_of_keras(monkeypatch, weight_decay):
    monkeypatch.setattr(module, "WEIGHT_DECAY", weight_decay)
    ours, theirs = variables(), [keras.Variable(variable.numpy()) for variable in variables()]
    optimizer = Optimizer(ours, 0.01, 20)
    schedule = keras.optimizers.schedules.CosineDecay(
        0.0, 19, alpha=LAST_LEARNING_RATE, warmup_target=0.01, warmup_steps=1
    )
    kind = keras.optimizers.AdamW if weight_decay else keras.optimizers.Adam
    arguments = {"weight_decay": weight_decay} if weight_decay else {}
    reference = kind(schedule, beta_2=module.SECOND_MOMENT_DECAY, global_clipnorm=module.GRADIENT_NORM, **arguments)
    for step in range(20):
        optimizer.apply(gradients(step))
        reference.apply_gradients(zip(gradients(step), theirs, strict=True))
    for one, two in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one.numpy(), two.numpy(), rtol=2e-5, atol=1e-6)


def test_the_average_is_exponential():
    (variable,) = some = [tf.Variable([1.0])]
    optimizer = Optimizer(some, 0.5, 100)
    average, weights = 1.0, []
    for step in range(1, 30):
        optimizer.apply([tf.constant([0.3])])
        weights.append(float(variable[0]))
        kept = min(AVERAGE_DECAY, step / (step + 10))
        average = kept * average + (1 - kept) * weights[-1]
    with optimizer.averaged():
        assert float(variable[0]) == pytest.approx(average, rel=1e-5)
    assert float(variable[0]) == weights[-1]


def test_a_restored_state_goes_on_alike():
    one, two = variables(), variables()
    first, second = Optimizer(one, 0.01, 20), Optimizer(two, 0.01, 20)
    for step in range(5):
        first.apply(gradients(step))
    second.restore(first.arrays())
    assert second.learning_rate == first.learning_rate
    for step in range(5, 10):
        first.apply(gradients(step))
        second.apply(gradients(step))
    for name, value in first.arrays().items():
        np.testing.assert_array_equal(value, second.arrays()[name])
    np.testing.assert_array_equal(one[0].numpy(), two[0].numpy())
