"""Models that TensorFlow and Keras saved."""

import keras
import pytest
import tensorflow as tf

from lib.frontends import trace
from lib.frontends.errors import FrontendError
from lib.program.simplify import simplify
from lib.program.work import program_work
from workflow.studies.builders import small_convolution_network


def spec(kind: str, name: str, mode: str = "inference") -> dict:
    return {
        "id": "saved", "family": "x", "source": {"kind": kind, "name": name}, "arguments": {},
        "input_shape": None, "mode": mode, "batch": 8, "sizing": "bfloat16", "trip_count": None,
    }  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """`model.keras` and the SavedModel `model` of one network."""
    path = tmp_path_factory.mktemp("saved")
    keras.utils.clear_session()
    model = small_convolution_network(width=4)
    model.save(path / "model.keras")
    model.export(str(path / "model"), verbose=False)
    return path


@pytest.mark.parametrize("mode", ["inference", "training"])
def test_a_keras_file_is_the_model_that_was_saved(mode, folder, tmp_path):
    built = spec("builder", "workflow.studies.builders:small_convolution_network", mode) | {"arguments": {"width": 4}}
    expected = simplify(trace(built, tmp_path), "bfloat16").with_batch(8)
    program = simplify(trace(spec("keras_file", "model.keras", mode), folder), "bfloat16").with_batch(8)
    assert [one.opcode for one in program.instructions] == [one.opcode for one in expected.instructions]
    assert program_work(program) == program_work(expected)


def test_a_saved_model_computes_what_the_model_does(folder, tmp_path):
    expected = simplify(trace(spec("keras_file", "model.keras"), folder), "bfloat16").with_batch(8)
    program = simplify(trace(spec("saved_model", "model"), folder), "bfloat16").with_batch(8)
    assert program_work(program) == program_work(expected)
    assert [one.role for one in program.instructions].count("input") == 1


def test_what_can_not_be_read_is_said(folder, tmp_path):
    (tmp_path / "bad.keras").write_bytes(b"PK")
    (tmp_path / "empty").mkdir()
    module = tf.Module()
    module.f = tf.function(tf.tanh, input_signature=[tf.TensorSpec([None, 3])])
    tf.saved_model.save(module, str(tmp_path / "unsigned"), signatures={"other": module.f})
    module.g = tf.function(tf.tanh, input_signature=[tf.TensorSpec([4, 3])])
    tf.saved_model.save(module, str(tmp_path / "fixed"), signatures=module.g)
    for kind, name, message in [
        ("keras_file", "none.keras", "there is no file"),
        ("keras_file", "bad.keras", r"Keras can't read .*bad\.keras.*it must be a file that model\.save"),
        ("saved_model", "none", "there is no folder"),
        ("saved_model", "empty", r"TensorFlow can't read .*empty.*it must be a folder that tf\.saved_model\.save"),
        ("saved_model", "unsigned", r"has no signature 'serving_default' \(it has: other\)"),
        ("saved_model", "fixed", r"the first dimension of each must be the batch, left open"),
    ]:
        with pytest.raises(FrontendError, match=message):
            trace(spec(kind, name), tmp_path)
