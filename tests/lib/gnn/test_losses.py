"""Loss values by hand."""

import math

import pytest

from lib.gnn.backend import tf
from lib.gnn.losses import centred_log_mse, listmle, log_mse, loss_of, pairwise_hinge, pairwise_logistic

# Three rows: the second is slowest, the first fastest; the model has the last two the wrong way round.
LOG_TIME = tf.constant([[0.0, 2.0, 1.0]])
SCORE = tf.constant([[0.0, 0.5, 1.5]])
# z = score of the slower - score of the faster: (2nd, 1st) 0.5, (3rd, 1st) 1.5, (2nd, 3rd) -1


def test_pairwise_hinge():
    assert float(pairwise_hinge(SCORE, LOG_TIME)) == pytest.approx((0.5 + 0.0 + 2.0) / 3)


def test_pairwise_logistic():
    expected = sum(math.log(1 + math.exp(-z)) for z in (0.5, 1.5, -1.0)) / 3
    assert float(pairwise_logistic(SCORE, LOG_TIME)) == pytest.approx(expected)


def test_equal_times_are_no_pair():
    assert float(pairwise_hinge(tf.constant([[5.0, 1.0]]), tf.constant([[3.0, 3.0]]))) == 0


def test_kernels_are_averaged():
    score = tf.concat([SCORE, tf.zeros((1, 3))], axis=0)
    log_time = tf.concat([LOG_TIME, tf.zeros((1, 3))], axis=0)
    assert float(pairwise_hinge(score, log_time)) == pytest.approx(2.5 / 3 / 2)


def test_log_mse():
    assert float(log_mse(SCORE, LOG_TIME)) == pytest.approx((0 + 2.25 + 0.25) / 3)


def test_centred_log_mse():
    # scores less their mean 2/3: -2/3, -1/6, 5/6; times less their mean 1: -1, 1, 0
    assert float(centred_log_mse(SCORE, LOG_TIME)) == pytest.approx(((1 / 3) ** 2 + (7 / 6) ** 2 + (5 / 6) ** 2) / 3)
    assert float(centred_log_mse(SCORE + 7.0, LOG_TIME)) == pytest.approx(float(centred_log_mse(SCORE, LOG_TIME)))


def test_listmle():
    # fastest first: 1st (score 0), 3rd (1.5), 2nd (0.5); each drawn from those left with weight exp(-score)
    weights = [math.exp(-score) for score in (0.0, 1.5, 0.5)]
    likelihood = weights[0] / sum(weights) * weights[1] / sum(weights[1:])
    assert float(listmle(SCORE, LOG_TIME)) == pytest.approx(-math.log(likelihood) / 3)


def test_listmle_is_stable_where_exponentials_overflow():
    score = tf.Variable([[-1000.0, 1000.0, 0.0]])
    with tf.GradientTape() as tape:
        loss = listmle(score, LOG_TIME)
    assert float(loss) == pytest.approx(0.0)  # the order is right beyond doubt
    assert tape.gradient(loss, score).numpy() == pytest.approx(0.0, abs=1e-4)
    assert float(listmle(-score, LOG_TIME)) == pytest.approx((2000 + 1000) / 3)


def test_a_weighted_sum_of_losses():
    loss = loss_of({"pairwise-hinge": 2.0, "log-mse": 0.02})
    assert float(loss(SCORE, LOG_TIME)) == pytest.approx(2 * 2.5 / 3 + 0.02 * 2.5 / 3)
    assert float(loss_of("log-mse")(SCORE, LOG_TIME)) == pytest.approx(2.5 / 3)
