"""Traced models on XLA: the program compiled whole gives what Keras gives; kernels of every fusion compile and run."""

import pytest

pytest.importorskip("jax", reason="runtime xla needs jax and jaxlib (requirements-devices.lock)")

import keras
import numpy as np
import tensorflow as tf

from lib.frontends import trace
from lib.frontends.keras_model import trace_keras_model
from lib.fusion import FusionSpace
from lib.program.program import Program
from lib.program.simplify import simplify
from lib.targets import xla_device
from lib.targets.xla_module import KernelModules, program_module
from lib.targets.xla_repeat import repeated, signature

LANGUAGE_MODEL = {"vocabulary": 50, "width": 8, "layers": 1, "length": 5}


def spec(name: str = "", mode: str = "inference", **arguments) -> dict:
    return {
        "id": "model", "family": "x", "source": {"kind": "builder", "name": name}, "arguments": arguments,
        "input_shape": None, "mode": mode, "batch": 3, "sizing": "as-traced", "trip_count": None,
    }  # fmt: skip


def small_network() -> keras.Model:
    keras.utils.clear_session()
    layers = keras.layers
    return keras.Sequential([
        layers.Input((9, 9, 3)),
        layers.Conv2D(8, 3, strides=2, padding="same", activation="gelu"),
        layers.BatchNormalization(),
        layers.DepthwiseConv2D(3, padding="same", activation="swish"),
        layers.MaxPooling2D(2),
        layers.Flatten(),
        layers.Dense(5, activation="softmax"),
    ])  # fmt: skip


@pytest.fixture(scope="module")
def network():
    """(The model with random weights, its program at batch 3)."""
    model, rng = small_network(), np.random.default_rng(0)
    for variable in model.variables:
        variable.assign(rng.uniform(0.2, 1.0, variable.shape))
    return model, simplify(trace_keras_model(model, spec()), "as-traced").with_batch(3)


def arguments(model: keras.Model, program: Program, x: np.ndarray) -> list[np.ndarray]:
    """The values of the program's parameters: weights are numbered in the order in which a TensorFlow function
    captures its variables."""
    function = tf.function(lambda image: model(image, training=False))
    captured = function.get_concrete_function(tf.TensorSpec(x.shape, tf.float32)).captured_inputs
    variables = {id(variable.value.handle): variable for variable in model.variables}
    values = {"input.0": x}
    for number, handle in enumerate(captured):
        values[f"weight.{number}"] = variables[id(handle)].numpy()
    return [values[one.name] for one in program.instructions if one.opcode == "parameter"]


def test_the_whole_program_gives_what_keras_gives(network):
    model, program = network
    x = np.random.default_rng(1).normal(size=(3, 9, 9, 3)).astype(np.float32)
    (found,) = xla_device.outputs(program_module(program).text, "cpu", arguments(model, program, x))
    expected = model(x, training=False).numpy()
    assert expected.std() > 0.01
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_the_kernels_of_every_fusion_give_what_keras_gives(network):
    model, program = network
    x = np.random.default_rng(2).normal(size=(3, 9, 9, 3)).astype(np.float32)
    expected = model(x, training=False).numpy()
    space, modules = FusionSpace(program), KernelModules(program)
    parameters = [index for index, one in enumerate(program.instructions) if one.opcode == "parameter"]
    start = dict(zip(parameters, arguments(model, program, x), strict=True))
    for fuse in (space.default(), space.random(np.random.default_rng(3))):
        groups, values = space.group(fuse), dict(start)
        for root in sorted(set(groups[groups >= 0].tolist())):
            members = np.flatnonzero(groups == root).tolist()
            cut = modules.cut(members)
            inputs = [values[index] for index in cut.inputs]
            outputs = xla_device.outputs(modules.module(members).text, "cpu", inputs)
            values |= dict(zip(cut.results, outputs, strict=True))
        np.testing.assert_allclose(values[program.outputs[0]], expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "mode", "options"),
    [
        ("workflow.studies.builders:lstm_language_model", "inference", LANGUAGE_MODEL),
        ("tests.lib.targets.test_xla_of_models:small_network", "training", {}),
    ],
)
def test_kernels_of_loops_and_training_steps_run(tmp_path, name, mode, options):
    program = simplify(trace(spec(name, mode, **options), tmp_path), "as-traced").with_batch(2)
    space, modules = FusionSpace(program), KernelModules(program)
    texts = set()
    for fuse in (space.default(), space.random(np.random.default_rng(0))):
        groups = space.group(fuse)
        for root in set(groups[groups >= 0].tolist()):
            texts.add(modules.module(np.flatnonzero(groups == root).tolist()).text)
    assert len(texts) > 10
    for text in texts:
        twice = [np.int32(2), *xla_device.inputs_of(text)]
        assert all(np.isfinite(output).all() for output in xla_device.outputs(repeated(text), "cpu", twice))
    in_place = [one for text in texts for one in signature(text).arguments if one.result >= 0]
    assert bool(in_place) == ("lstm" in name)  # the list of a loop's outputs
