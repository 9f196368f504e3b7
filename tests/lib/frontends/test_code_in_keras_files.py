"""A `.keras` file can hold Python code, which is never run."""

import json
import zipfile

import keras
import pytest

from lib.frontends import trace
from lib.frontends.errors import FrontendError
from tests.lib.frontends.test_saved_models import spec


def rewritten(file, edit) -> None:
    """The saved model with `edit` applied to its configuration."""
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    config = json.loads(parts["config.json"])
    edit(config)
    parts["config.json"] = json.dumps(config).encode()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def test_a_lambda_is_refused(tmp_path):
    vector = keras.Input((4,))
    keras.Model(vector, keras.layers.Lambda(lambda x: x + 1)(vector)).save(tmp_path / "code.keras")
    with pytest.raises(
        FrontendError, match=r"Keras can't read .*code\.keras.*for a model with layers or code of yours"
    ):
        trace(spec("keras_file", "code.keras"), tmp_path)


@pytest.mark.parametrize(("module", "name"), [("os", "system"), ("builtins", "exec"), ("subprocess", "Popen")])
def test_a_function_of_a_module_is_not_called(tmp_path, monkeypatch, module, name):
    """As published attacks write it: the activation of a layer is a function of any module."""
    import importlib

    called = []
    monkeypatch.setattr(importlib.import_module(module), name, lambda *given, **named: called.append(given))
    vector = keras.Input((4,))
    keras.Model(vector, keras.layers.Dense(2, activation="relu")(vector)).save(tmp_path / "code.keras")

    def edit(config):
        dense = config["config"]["layers"][1]["config"]
        dense["activation"] = {"module": module, "class_name": "function", "config": name, "registered_name": name}

    rewritten(tmp_path / "code.keras", edit)
    with pytest.raises(FrontendError, match=r"Keras can't read .*code\.keras"):
        trace(spec("keras_file", "code.keras"), tmp_path)
    assert called == []
