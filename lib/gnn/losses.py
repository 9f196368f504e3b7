"""Losses: ranking within a kernel, squared error of the logarithm, and weighted sums of them.

`score` and `log_time` are float32[b, t]: b kernels with t rows each; a lower score means a faster row.
"""

from collections.abc import Callable

from lib.gnn.backend import tf
from schemas.loss import loss_weights


def pairwise_hinge(score, log_time):
    """Hinge rank loss (Kaufman et al. 2021, section 3.4; phi(z) = max(0, 1 - z))."""
    return _pairwise(score, log_time, lambda z: tf.nn.relu(1.0 - z))


def pairwise_logistic(score, log_time):
    """Logistic rank loss (Kaufman et al. 2021, section 3.4; phi(z) = log(1 + exp(-z)))."""
    return _pairwise(score, log_time, lambda z: tf.nn.softplus(-z))


def listmle(score, log_time):
    """ListMLE (Xia et al., ICML 2008, equation 6), divided by the number of rows, mean over kernels.

    The negative log-likelihood of the true order, fastest first, when each row is drawn from those left with
    probability softmax(-score):

        1/t sum_i [ log sum_{j >= i} exp(-y'_j) + y'_i ],  rows in the order of their times; equal times as they come
    """
    order = tf.argsort(log_time, axis=1, stable=True)
    preference = -tf.gather(score, order, axis=1, batch_dims=1)
    left = tf.math.cumulative_logsumexp(preference, axis=1, reverse=True)
    return tf.reduce_mean(left - preference)


def centred_log_mse(score, log_time):
    """Mean of ((score - its mean over the kernel) - (log_time - its mean over the kernel))^2: the squared error of the
    tile task without what no choice among a kernel's tiles depends on."""
    difference = score - log_time
    return tf.reduce_mean(tf.square(difference - tf.reduce_mean(difference, axis=1, keepdims=True)))


def log_mse(score, log_time):
    """Mean of (score - log_time)^2: the score is the logarithm of a time, or of a ratio of times."""
    return tf.reduce_mean(tf.square(score - log_time))


def _pairwise(score, log_time, phi: Callable):
    """sum_ij phi(y'_i - y'_j) pos(y_i - y_j) / (t (t - 1) / 2), mean over kernels."""
    slower = tf.cast(log_time[:, :, None] > log_time[:, None, :], tf.float32)
    losses = phi(score[:, :, None] - score[:, None, :]) * slower
    rows = tf.cast(tf.shape(score)[1], tf.float32)
    return tf.reduce_mean(tf.reduce_sum(losses, axis=(1, 2)) / (rows * (rows - 1.0) / 2.0))


LOSSES = {
    "pairwise-hinge": pairwise_hinge,
    "pairwise-logistic": pairwise_logistic,
    "listmle": listmle,
    "centred-log-mse": centred_log_mse,
    "log-mse": log_mse,
}


def loss_of(loss: str | dict[str, float]) -> Callable:
    """The function that a study entry's `loss` names: of (score, log_time) to a scalar."""
    weighted = [(weight, LOSSES[name]) for name, weight in loss_weights(loss).items()]
    return lambda score, log_time: tf.add_n([weight * function(score, log_time) for weight, function in weighted])
