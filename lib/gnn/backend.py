"""TensorFlow, Keras and Spektral, imported quietly and in one place.

Only modules that need TensorFlow import this one: it takes seconds.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # errors come as exceptions too
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")  # batches are small: a processor is as fast, and results repeat
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # one order of summation, whatever the processor
os.environ.setdefault("KERAS_BACKEND", "tensorflow")


@contextmanager
def _quiet() -> Iterator[None]:
    """Hold back what TensorFlow's compiled code prints while it is loaded; shown if that fails."""
    sys.stderr.flush()
    shown = os.dup(2)
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
        except BaseException:
            held.seek(0)
            os.write(shown, held.read())
            raise
        finally:
            os.dup2(shown, 2)
            os.close(shown)


with _quiet():
    import keras
    import tensorflow as tf
    from spektral.layers import GraphSageConv

__all__ = ["GraphSageConv", "keras", "seeded_uniform", "tf", "use_threads"]


def use_threads(threads: int) -> None:
    """Limit TensorFlow to so many threads; has no effect once it has run anything in this process."""
    try:
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)
    except RuntimeError:
        return


def seeded_uniform(seed: int) -> keras.initializers.Initializer:
    """Glorot's uniform initialiser (Glorot and Bengio, 2010) that always draws the same numbers."""
    return keras.initializers.GlorotUniform(seed=seed)
