"""Programs of Keras models, and of the Keras Applications by name."""

from typing import Any

from lib.frontends.errors import FrontendError
from lib.frontends.tensorflow_function import trace_function
from lib.program.program import Program
from schemas.problem import nearest

DEFAULT_SIZE = 224
"""Height and width where an application's default input shape leaves them open (MobileNetV3's paper: 224)."""


def trace_application(spec: dict) -> Program:
    """The Keras Application `spec["source"]["name"]`, freshly initialised. See `lib.frontends.trace`."""
    import keras

    keras.utils.clear_session()
    name, workload = spec["source"]["name"], spec["id"]
    make = getattr(keras.applications, name, None)
    if not callable(make):
        known = sorted(n for n in vars(keras.applications) if n[:1].isupper())
        near = nearest(name, known)
        hint = f"; did you mean {near}?" if near else ""
        raise FrontendError(
            f"workload '{workload}': Keras has no application '{name}'{hint} (it has: {', '.join(known)})"
        )
    shape = spec["input_shape"]
    options = dict(spec["arguments"])
    if shape is not None:
        options["input_shape"] = tuple(shape)
    try:
        model = make(weights=None, **options)
    except Exception as error:
        raise FrontendError(
            f"workload '{workload}': keras.applications.{name} refused its arguments: {error}"
        ) from error
    if shape is None and None in model.input_shape[1:]:
        height, width, channels = model.input_shape[1:]
        model = make(weights=None, **options, input_shape=(height or DEFAULT_SIZE, width or DEFAULT_SIZE, channels))
    return trace_keras_model(model, spec)


def trace_keras_model(model: Any, spec: dict) -> Program:
    """A built Keras model in the mode `spec["mode"]`; one input a model input, in order."""
    import tensorflow as tf

    training = spec["mode"] == "training"
    signature = [tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in model.inputs]

    def forward(*inputs):
        return model(inputs[0] if len(inputs) == 1 else list(inputs), training=training)

    weights = (lambda: [variable.value for variable in model.trainable_variables]) if training else None
    return trace_function(forward, signature, weights, spec, model.name)
