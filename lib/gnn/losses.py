"""Losses: pairwise ranking within a kernel, and squared error of the logarithm.

`score` and `log_time` are float32[b, t]: b kernels with t rows each; a lower score means a faster row.
"""

from collections.abc import Callable

from lib.gnn.backend import tf


def pairwise_hinge(score, log_time):
    """Hinge rank loss (Kaufman et al. 2021, section 3.4; phi(z) = max(0, 1 - z))."""
    return _pairwise(score, log_time, lambda z: tf.nn.relu(1.0 - z))


def pairwise_logistic(score, log_time):
    """Logistic rank loss (Kaufman et al. 2021, section 3.4; phi(z) = log(1 + exp(-z)))."""
    return _pairwise(score, log_time, lambda z: tf.nn.softplus(-z))


def log_mse(score, log_time):
    """Mean of (score - log_time)^2: the score is the logarithm of a time, or of a ratio of times."""
    return tf.reduce_mean(tf.square(score - log_time))


def _pairwise(score, log_time, phi: Callable):
    """sum_ij phi(y'_i - y'_j) pos(y_i - y_j) / (t (t - 1) / 2), mean over kernels."""
    slower = tf.cast(log_time[:, :, None] > log_time[:, None, :], tf.float32)
    losses = phi(score[:, :, None] - score[:, None, :]) * slower
    rows = tf.cast(tf.shape(score)[1], tf.float32)
    return tf.reduce_mean(tf.reduce_sum(losses, axis=(1, 2)) / (rows * (rows - 1.0) / 2.0))


LOSSES = {"pairwise-hinge": pairwise_hinge, "pairwise-logistic": pairwise_logistic, "log-mse": log_mse}
RANK_LOSSES = frozenset({"pairwise-hinge", "pairwise-logistic"})
