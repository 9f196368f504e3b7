"""TensorFlow, Keras and Spektral, imported quietly and in one place.

Only modules that need TensorFlow import this one: it takes seconds.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # errors come as exceptions too
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
    from spektral.layers import GATConv, GraphSageConv

__all__ = ["GATConv", "GraphSageConv", "device_in_words", "keras", "seeded_uniform", "tf", "use_threads"]

for _gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(_gpu, True)  # several jobs can share it
    tf.config.experimental.enable_op_determinism()  # sums in one order, so that results repeat


def use_threads(threads: int) -> None:
    """Limit TensorFlow to so many threads; has no effect once it has run anything in this process."""
    try:
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)
    except RuntimeError:
        return


def device_in_words() -> str:
    """What TensorFlow computes on, for the log."""
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        return f"GPU ({tf.config.experimental.get_device_details(gpus[0]).get('device_name', gpus[0].name)})"
    threads = tf.config.threading.get_intra_op_parallelism_threads()
    return f"CPU, {threads} threads" if threads else "CPU, all threads"


def seeded_uniform(seed: int) -> keras.initializers.Initializer:
    """Glorot's uniform initialiser (Glorot and Bengio, 2010) that always draws the same numbers."""
    return keras.initializers.GlorotUniform(seed=seed)
