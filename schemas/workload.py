"""The `workloads:` section: the programs that a study is about."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator

from schemas.presets import load_preset
from schemas.problem import Problem, allowed_names, not_allowed
from schemas.study_base import Id, PositiveInt, StudyModel

KERAS_FAMILIES: dict[str, str] = load_preset("keras_applications")
"""Name in keras.applications to family."""


def _checked_keras(name: str) -> str:
    if name not in KERAS_FAMILIES:
        raise not_allowed(
            "a model of keras.applications, " + allowed_names(name, KERAS_FAMILIES).removeprefix("allowed: ")
        )
    return name


def _checked_builder(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", name):
        raise not_allowed(
            "package.module:function, a Python function that returns a Keras model or (callable, list of tf.TensorSpec)"
        )
    return name


class Workload(StudyModel):
    """A model and its mode; exactly one of `keras`, `builder` and `hlo` says where it comes from."""

    keras: Annotated[str, AfterValidator(_checked_keras)] | None = None
    """Name of a model in keras.applications, e.g. `MobileNetV2`. It is built without weights; nothing is downloaded."""
    builder: Annotated[str, AfterValidator(_checked_builder)] | None = None
    """`package.module:function` of a Python function that returns a Keras model, or a pair (callable, list of
    `tf.TensorSpec`) of a function and its inputs, whose first dimension is the batch, None."""
    hlo: str | None = None
    """File with an HloModuleProto, relative to the study file. Its sizes are fixed, so no search can use it."""
    arguments: dict[str, Any] = {}
    """Arguments of the Keras application or the builder, e.g. `{alpha: 0.5}`."""
    input_shape: list[PositiveInt] | None = None
    """Shape of one sample without the batch, e.g. `[224, 224, 3]`. Default: the model's own."""
    mode: Literal["inference", "training"] = "inference"
    """`training` is a training step: forward pass and gradients of all trainable weights, no optimiser."""
    batch: PositiveInt = 1
    """Samples that a core works on at once; for `hlo` the batch that the file was made for."""
    family: Id | None = None
    """Architecture family, the unit of the family split. Default: that of the Keras name, else the workload's id."""
    architecture: Id | None = None
    """The unit of a split by program: one network with all its batches, modes and sizes. Default: the Keras name, the
    builder's function, or for `hlo` the workload's id."""
    trip_count: PositiveInt | None = None
    """Steps of every `while` loop whose number can't be told from the program, because it depends on data."""
    sizing: Literal["bfloat16", "as-traced"] = "bfloat16"
    """`bfloat16` gives every 32-bit float two bytes; `as-traced` keeps the sizes of the traced program."""

    def inconsistencies(self) -> list[Problem]:
        """One source, and nothing that the source doesn't take."""
        given = [key for key in ("keras", "builder", "hlo") if getattr(self, key) is not None]
        problems = []
        if len(given) != 1:
            names = " and ".join(given) if given else "no source"
            problems.append(Problem((), f"{names} given; allowed: exactly one of keras, builder, hlo"))
        if self.hlo is not None:
            own = {"arguments", "input_shape", "mode"} & self.model_fields_set
            problems += [Problem((key,), "not allowed beside hlo: the file says it itself") for key in sorted(own)]
        if self.keras is not None and "weights" in self.arguments:
            text = "not allowed: models are built without weights, as costs don't depend on them"
            problems.append(Problem(("arguments", "weights"), text))
        if self.keras is not None and "input_shape" in self.arguments:
            problems.append(
                Problem(("arguments", "input_shape"), "not allowed: use the workload's own key input_shape")
            )
        return problems

    def resolved(self, id: str) -> dict[str, Any]:
        """The entry as scripts get it, with every default spelled out."""
        kind = next(kind for kind in ("keras", "builder", "hlo") if getattr(self, kind) is not None)
        return {
            "id": id,
            "family": self.family_of(id),
            "source": {"kind": kind, "name": getattr(self, kind)},
            "arguments": _canonical(self.arguments),
            "input_shape": self.input_shape,
            "mode": self.mode,
            "batch": self.batch,
            "sizing": self.sizing,
            "trip_count": self.trip_count,
        }

    def family_of(self, id: str) -> str:
        """The family, by default that of the Keras name, else the workload's id."""
        if self.family is not None:
            return self.family
        return KERAS_FAMILIES[self.keras] if self.keras is not None else id

    def architecture_of(self, id: str) -> str:
        """The architecture, by default the Keras name, the builder's function, or for an HLO file the workload's id."""
        return self.architecture or self.keras or self.builder or id


def _canonical(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _canonical(value[key]) for key in sorted(value)}
    return [_canonical(item) for item in value] if isinstance(value, list) else value
