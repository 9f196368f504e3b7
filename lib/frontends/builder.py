"""Programs of own builders: a Python function that returns a model."""

import importlib
import sys
from pathlib import Path
from typing import Any

from lib.frontends.errors import FrontendError
from lib.frontends.keras_model import trace_keras_model
from lib.frontends.tensorflow_function import trace_function
from lib.program.program import Program
from schemas.problem import nearest


def trace_builder(spec: dict, study_folder: Path) -> Program:
    """Calls `package.module:function` (`spec["source"]["name"]`) with `spec["arguments"]` and traces what it returns.

    That is a Keras model, or a pair (callable, list of `tf.TensorSpec` whose first dimension is the batch, None); for
    a training step the callable's `trainable_variables` are the weights. The module is looked up in the repository
    and then in the study's folder. Raises FrontendError naming what could not be imported or called.
    """
    import keras

    workload = spec["id"]
    make = _builder(spec["source"]["name"], workload, study_folder)
    arguments = dict(spec["arguments"])
    if spec["input_shape"] is not None:
        arguments["input_shape"] = tuple(spec["input_shape"])
    keras.utils.clear_session()
    try:
        built = make(**arguments)
    except Exception as error:
        raise FrontendError(
            f"workload '{workload}': {spec['source']['name']} failed with arguments {arguments}:"
            f" {type(error).__name__}: {error}"
        ) from error
    if isinstance(built, keras.Model):
        return trace_keras_model(built, spec)
    if not (isinstance(built, tuple) and len(built) == 2 and callable(built[0]) and _is_signature(built[1])):
        raise FrontendError(
            f"workload '{workload}': {spec['source']['name']} returned a {type(built).__name__}; expected a Keras model"
            " or a pair (callable, list of tf.TensorSpec)"
        )
    return _trace_callable(*built, spec)


def _is_signature(signature: Any) -> bool:
    import tensorflow as tf

    return isinstance(signature, list | tuple) and all(isinstance(spec, tf.TensorSpec) for spec in signature)


def _trace_callable(function: Any, signature: list, spec: dict) -> Program:
    weights = None
    if spec["mode"] == "training":
        if not getattr(function, "trainable_variables", None):
            raise FrontendError(
                f"workload '{spec['id']}': a training step needs a callable with `trainable_variables`, such as a"
                " tf.Module or a Keras layer that has been called once"
            )

        def weights():
            return function.trainable_variables

    return trace_function(function, signature, weights, spec)


def _builder(name: str, workload: str, study_folder: Path) -> Any:
    module_name, _, function_name = name.partition(":")
    if not module_name or not function_name:
        raise FrontendError(f"workload '{workload}': builder '{name}' must read package.module:function")
    sys.path.append(str(study_folder))
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise FrontendError(
            f"workload '{workload}': builder '{name}': module '{module_name}' could not be imported ({error}); it must"
            f" lie in the repository or in {study_folder}"
        ) from error
    finally:
        sys.path.remove(str(study_folder))
    make = getattr(module, function_name, None)
    if callable(make):
        return make
    known = sorted(n for n, value in vars(module).items() if callable(value) and not n.startswith("_"))
    near = nearest(function_name, known)
    raise FrontendError(
        f"workload '{workload}': builder '{name}': module '{module_name}' has no function '{function_name}'"
        f"{f'; did you mean {near}?' if near else ''} (it has: {', '.join(known) or 'none'})"
    )
