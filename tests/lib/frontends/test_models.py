"""Keras Applications and own builders."""

import sys

import numpy as np
import pytest

from lib.frontends import trace
from lib.frontends.errors import FrontendError
from lib.frontends.hlo_module import program_of
from lib.frontends.tensorflow_function import compiled_module
from lib.fusion.default_kernels import default_kernels
from lib.program.executions import executions
from lib.program.extraction import kernel_work
from lib.program.program import BatchError
from lib.program.program_table import program_to_arrays
from lib.program.simplify import simplify
from lib.program.work import program_work


def spec(name: str, kind: str = "builder", mode: str = "inference", **arguments) -> dict:
    return {
        "id": "model", "family": "x", "source": {"kind": kind, "name": name}, "arguments": arguments,
        "input_shape": None, "mode": mode, "batch": 8, "sizing": "bfloat16", "trip_count": None,
    }  # fmt: skip


SMALL = "workflow.studies.builders:small_convolution_network"


def test_mobilenet_v2(tmp_path):
    program = simplify(trace(spec("MobileNetV2", "keras"), tmp_path), "bfloat16").with_batch(8)
    work = program_work(program)
    # Sandler et al. 2018, table 4: 300 M multiply-adds; padding makes it a little more. Keras counts the parameters.
    assert work["flops"] / 8 == pytest.approx(2 * 300e6, rel=0.01)
    assert work["weight_bytes"] == 2 * 3_538_984
    assert work["input_bytes"] == 8 * 224 * 224 * 3 * 2
    assert work["output_bytes"] == 8 * 1000 * 2
    opcodes = [one.opcode for one in program.instructions]
    assert opcodes.count("convolution") == 52
    assert "pad" not in opcodes
    assert "convert" not in opcodes


@pytest.mark.parametrize("mode", ["inference", "training"])
def test_with_batch_equals_a_trace_at_that_batch(mode, tmp_path):
    import keras
    import tensorflow as tf

    from workflow.studies.builders import small_convolution_network

    program = trace(spec(SMALL, mode=mode), tmp_path).with_batch(8)
    keras.utils.clear_session()
    model = small_convolution_network()
    weights = (lambda: [v.value for v in model.trainable_variables]) if mode == "training" else None
    signature = [tf.TensorSpec(model.inputs[0].shape)]
    module = compiled_module(lambda x: model(x, training=mode == "training"), signature, weights, "model", 8)
    direct = program_of(module, "model", 8, inputs=1, scope=model.name)
    assert [one.name for one in program.instructions] == [one.name for one in direct.instructions]
    for one, other in zip(program.instructions, direct.instructions, strict=True):
        # Float constants such as one over the number of elements are not affine; their values are dropped.
        assert one == (other if one.value is not None else other.replace(value=None))


def test_training_has_a_gradient_for_each_trainable_weight(tmp_path):
    program = simplify(trace(spec("workflow.studies.builders:small_mlp", mode="training"), tmp_path), "bfloat16")
    shapes = [program.instructions[output].dimensions for output in program.outputs]
    assert sorted(shapes) == sorted([(256, 256)] * 3 + [(256,)] * 3 + [(256, 10), (10,)])
    # Forward, and for each layer the gradient of the weights and (but for the first) of its input.
    forward = 3 * 256 * 256 + 256 * 10
    assert program_work(program.with_batch(8))["flops"] == 2 * 8 * (3 * forward - 256 * 256)


def test_two_runs_give_the_same_program(tmp_path):
    one, other = (program_to_arrays(simplify(trace(spec(SMALL), tmp_path), "bfloat16")) for _ in range(2))
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_the_error_function_is_one_op(tmp_path):
    name = "workflow.studies.builders:transformer_encoder"
    program = simplify(trace(spec(name, layers=1, width=32, heads=2, length=64), tmp_path), "bfloat16")
    opcodes = [one.opcode for one in program.instructions]
    assert opcodes.count("erf") == 1
    assert opcodes.count("dot") == 8
    # Attention reads softmax right before the dot: the value projection does not stand between them.
    second = [index for index, opcode in enumerate(opcodes) if opcode == "dot"][4]
    assert opcodes[second - 1] == "divide"


def test_an_lstm_runs_once_a_step(tmp_path):
    name = "workflow.studies.builders:lstm_language_model"
    sizes = {"vocabulary": 100, "width": 32, "layers": 2, "length": 7}
    program = simplify(trace(spec(name, **sizes), tmp_path), "bfloat16").with_batch(4)
    kernels = default_kernels(program)
    # Four gates of the input and the old state in every step, then the logits; look-ups do no arithmetic.
    flops = 2 * 4 * 7 * (2 * (32 + 32) * 4 * 32 + 32 * 100)
    assert program_work(program)["flops"] == flops == kernel_work(kernels.kernels).flops @ kernels.executions
    assert program_work(program)["weight_bytes"] == 2 * (100 * 32 + 2 * (64 * 128 + 128) + 32 * 100 + 100)
    products = [k for k, root in enumerate(kernels.roots) if "lstm_cell" in root and kernels.kernels.loops[k, 4] == 32]
    assert kernels.executions[products].sum() == 2 * 2 * 7
    # Of a layer's state the hidden vector alone is copied each step; the outputs are gathered in place.
    copies = [one for one in program.instructions if one.opcode == "inserted-copy" and one.executions > 1]
    assert [(one.dimensions, one.executions) for one in copies] == [((4, 32), 7)] * 2


def test_training_of_an_lstm_has_every_gradient(tmp_path):
    name = "workflow.studies.builders:lstm_language_model"
    sizes = {"vocabulary": 100, "width": 32, "layers": 1, "length": 7}
    program = simplify(trace(spec(name, mode="training", **sizes), tmp_path), "bfloat16").with_batch(4)
    shapes = sorted(program.instructions[output].dimensions for output in program.outputs)
    # Of the embedding: gradients of the rows that were looked up, their numbers, and the table's shape.
    rows = [(2,), (28,), (28, 32)]
    assert shapes == sorted([*rows, (32, 128), (32, 128), (128,), (32, 100), (100,)])
    forward = 2 * 4 * 7 * (64 * 128 + 32 * 100)
    assert program_work(program)["flops"] == 3 * forward


def test_a_recommender_looks_up_one_row_a_table(tmp_path):
    name = "workflow.studies.builders:embedding_recommender"
    program = simplify(trace(spec(name, tables=3, rows=5000, width=16, bottom=(8,), top=(8,)), tmp_path), "bfloat16")
    kernels = default_kernels(program.with_batch(4))
    work = kernel_work(kernels.kernels)
    look_ups = [k for k, root in enumerate(kernels.roots) if "GatherV2" in root]
    assert kernels.executions[look_ups].sum() == 3
    assert work.bytes_written[look_ups].tolist() == [4 * 16 * 2]
    # Rows of four samples, and their numbers.
    assert work.bytes_read[look_ups].tolist() == [4 * 16 * 2 + 4 * 4]


def test_loops_of_tensorflow_without_a_known_end(tmp_path):
    (tmp_path / "looping_builder.py").write_text(
        "import tensorflow as tf\n"
        "signature = [tf.TensorSpec([None, 8])]\n"
        "def until_large():\n"
        "    more = lambda y: tf.reduce_sum(y) < 100.0\n"
        "    return lambda x: tf.while_loop(more, lambda y: (tf.tanh(y),), [x])[0], signature\n"
        "def by_sample():\n"
        "    return lambda x: tf.map_fn(tf.tanh, x), signature\n"
    )
    with pytest.raises(FrontendError, match=r"workload 'model'.*\(while\): how often the loop runs depends on data"):
        trace(spec("looping_builder:until_large"), tmp_path)
    program = trace(spec("looping_builder:until_large") | {"trip_count": 5}, tmp_path).with_batch(4)
    times = dict(zip((one.opcode for one in program.instructions), executions(program.instructions), strict=True))
    assert times["tanh"] == 5
    with pytest.raises(BatchError, match=r"its loop runs 2 times at batch 2 and 4 times at batch 4; the trip count"):
        trace(spec("looping_builder:by_sample"), tmp_path)
    sys.modules.pop("looping_builder")


def test_constants_that_tensorflow_folds_at_one_batch_alone(tmp_path):
    # 4 MB a sample: folded at batch 2, not at batch 4, as TensorFlow's limit is 10 MiB.
    (tmp_path / "large_builder.py").write_text(
        "import tensorflow as tf\n"
        "def ramp():\n"
        "    def add(x):\n"
        "        return x + tf.reshape(tf.cumsum(tf.ones([x.shape[0] * 1_000_000])), [-1, 1_000_000])\n"
        "    return add, [tf.TensorSpec([None, 1])]\n"
    )
    program = trace(spec("large_builder:ramp"), tmp_path).with_batch(3)
    assert program.instructions[program.outputs[0]].dimensions == (3, 1_000_000)
    assert "scan" in [one.opcode for one in program.instructions]
    sys.modules.pop("large_builder")


def test_training_with_max_pooling(tmp_path):
    (tmp_path / "pooling_builder.py").write_text(
        "import keras\n"
        "def network():\n"
        "    x = keras.Input((8, 8, 3))\n"
        "    y = keras.layers.MaxPooling2D(2)(keras.layers.Conv2D(4, 3, padding='same')(x))\n"
        "    return keras.Model(x, y)\n"
    )
    program = simplify(trace(spec("pooling_builder:network", mode="training"), tmp_path), "bfloat16").with_batch(2)
    (gradient,) = [one for one in program.instructions if one.opcode == "select-and-scatter"]
    assert gradient.dimensions == (2, 8, 8, 4)
    assert gradient.body_ops == 4  # compare and select, select and add
    assert default_kernels(program).kernels.number >= 4
    sys.modules.pop("pooling_builder")


def test_a_callable_with_a_signature(tmp_path, monkeypatch):
    (tmp_path / "own_builder.py").write_text(
        "import tensorflow as tf\n"
        "def product(columns=5):\n"
        "    spec = tf.TensorSpec([None, 3, columns])\n"
        "    return lambda x, y: tf.matmul(x, y, transpose_b=True), [spec, spec]\n"
        "def broken():\n"
        "    raise RuntimeError('no weights')\n"
        "def number():\n"
        "    return 3\n"
        "def fixed():\n"
        "    return tf.nn.relu, [tf.TensorSpec([8, 3])]\n"
        "def scalar():\n"
        "    return tf.nn.relu, [tf.TensorSpec([])]\n"
        "def unlisted():\n"
        "    return tf.nn.relu, tf.TensorSpec([None, 3])\n"
    )
    program = trace(spec("own_builder:product", columns=7), tmp_path).with_batch(4)
    assert program.instructions[program.outputs[0]].dimensions == (4, 3, 3)
    assert [one.role for one in program.instructions if one.opcode == "parameter"] == ["input", "input"]
    for name, message in [
        ("own_builder:broken", "RuntimeError: no weights"),
        ("own_builder:number", "returned a int; expected a Keras model"),
        ("own_builder:fixed", r"input shapes \(8, 3\): the first dimension of each must be the batch"),
        ("own_builder:scalar", r"input shapes \(\): the first dimension of each must be the batch"),
        ("own_builder:unlisted", r"or a pair \(callable, list of tf.TensorSpec\)"),
        ("own_builder:prodct", "no function 'prodct'; did you mean product"),
        ("no_such_module:f", "module 'no_such_module' could not be imported"),
        ("own_builder", "must read package.module:function"),
    ]:
        with pytest.raises(FrontendError, match=message):
            trace(spec(name), tmp_path)
    sys.modules.pop("own_builder")


def test_an_unknown_application_is_answered_with_the_nearest(tmp_path):
    with pytest.raises(FrontendError, match="no application 'MobileNetv2'; did you mean MobileNetV2"):
        trace(spec("MobileNetv2", "keras"), tmp_path)


def test_open_extents_are_refused(tmp_path):
    (tmp_path / "open_builder.py").write_text(
        "import keras\n"
        "def image():\n"
        "    x = keras.Input((None, None, 3))\n"
        "    return keras.Model(x, keras.layers.Conv2D(4, 3)(x))\n"
    )
    with pytest.raises(FrontendError, match="give it an input_shape"):
        trace(spec("open_builder:image"), tmp_path)
    sys.modules.pop("open_builder")
