"""Loss values by hand."""

import math

import pytest

from lib.gnn.backend import tf
from lib.gnn.losses import log_mse, pairwise_hinge, pairwise_logistic

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
