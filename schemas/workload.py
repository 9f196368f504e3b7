"""The `workloads:` section: the programs that a study is about."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator

from schemas.presets import load_preset
from schemas.problem import Problem, allowed_names, inconsistent, not_allowed
from schemas.study_base import EachOnce, Id, PositiveInt, StudyModel

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


SOURCES = ("keras", "builder", "saved_model", "keras_file", "hlo", "stablehlo")
"""Keys that say where a program comes from."""
FILES = ("saved_model", "keras_file", "hlo", "stablehlo")
"""Sources that are a file or a folder, relative to the study file."""
FIXED_BATCH = ("hlo", "stablehlo")
"""Sources whose sizes hold for one batch, of an inference or training step that the file was written for."""


class Workload(StudyModel):
    """A model and its mode; exactly one of the source keys says where it comes from."""

    keras: Annotated[str, AfterValidator(_checked_keras)] | None = None
    """Name of a model in keras.applications, e.g. `MobileNetV2`. It is built without weights; nothing is downloaded."""
    builder: Annotated[str, AfterValidator(_checked_builder)] | None = None
    """`package.module:function` of a Python function that returns a Keras model, or a pair (callable, list of
    `tf.TensorSpec`) of a function and its inputs, whose first dimension is the batch, None."""
    saved_model: str | None = None
    """Folder of a TensorFlow SavedModel, relative to the study file; its signature `serving_default` is the program."""
    keras_file: str | None = None
    """File that Keras saved (`.keras`), relative to the study file; read with `safe_mode`, so without code in it."""
    hlo: str | None = None
    """File with an HLO module, as XLA's text or a serialised HloModuleProto, relative to the study file. Its sizes are
    fixed, so no search can use it."""
    stablehlo: str | None = None
    """File with a StableHLO module, as MLIR text or bytecode, relative to the study file. Its sizes are fixed."""
    arguments: dict[str, Any] = {}
    """Arguments of the Keras application or the builder, e.g. `{alpha: 0.5}`."""
    input_shape: list[PositiveInt] | None = None
    """Shape of one sample without the batch, e.g. `[224, 224, 3]`. Default: the model's own."""
    mode: Literal["inference", "training"] = "inference"
    """`training` is a training step: forward pass and gradients of all trainable weights, no optimiser."""
    batch: PositiveInt = 1
    """Samples that a core works on at once; for `hlo` and `stablehlo` the batch that the file was made for."""
    batches: EachOnce[list[PositiveInt]] | None = None
    """Several batches of one program, which is traced once: the workload `NAME` becomes the workloads `NAME-b1`,
    `NAME-b16` ... Where a list of workloads says `NAME`, all of them are meant. Instead of `batch`."""
    family: Id | None = None
    """Architecture family, the unit of the family split. Default: that of the Keras name, else the workload's id."""
    architecture: Id | None = None
    """The unit of a split by program: one network with all its batches, modes and sizes. Default: the Keras name, the
    builder's function, or for a file the workload's id."""
    trip_count: PositiveInt | None = None
    """Steps of every `while` loop whose number can't be told from the program, because it depends on data."""
    sizing: Literal["bfloat16", "as-traced"] = "bfloat16"
    """`bfloat16` gives every 32-bit float two bytes; `as-traced` keeps the sizes of the traced program."""

    def inconsistencies(self) -> list[Problem]:
        """One source, and nothing that the source doesn't take."""
        given = [key for key in SOURCES if getattr(self, key) is not None]
        problems = []
        if len(given) != 1:
            names = " and ".join(given) if given else "no source"
            problems.append(Problem((), f"{names} given; allowed: exactly one of {', '.join(SOURCES)}"))
        for key in given:
            own = self.model_fields_set & _SAID_BY_SOURCE.get(key, set())
            problems += [Problem((name,), f"not allowed beside {key}: the file says it itself") for name in sorted(own)]
        if "batches" in self.model_fields_set and "batch" in self.model_fields_set:
            problems.append(Problem(("batches",), "not allowed beside batch; allowed: one of the two"))
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
        return {
            "id": id,
            "family": self.family_of(id),
            "source": {"kind": self.source, "name": getattr(self, self.source)},
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
        return KERAS_FAMILIES[self.keras] if self.keras is not None else self.program_of(id)

    def architecture_of(self, id: str) -> str:
        """The architecture, by default the Keras name, the builder's function, or for a file the workload's id."""
        return self.architecture or self.keras or self.builder or self.program_of(id)

    @property
    def source(self) -> str:
        """The key that says where the program comes from."""
        return next(key for key in SOURCES if getattr(self, key) is not None)

    def program_of(self, id: str) -> str:
        """The program of the workload `id`: one for all of its `batches`."""
        return id if self.batches is None else id.removesuffix(f"-b{self.batch}")


_SAID_BY_SOURCE = {
    "saved_model": {"arguments", "input_shape", "mode"},
    "keras_file": {"arguments", "input_shape"},
    "hlo": {"arguments", "input_shape", "mode", "batches"},
    "stablehlo": {"arguments", "input_shape", "mode", "batches"},
}
"""Keys that a source doesn't take."""


def batch_ids(id: str, batches: Iterable[int] | None) -> list[str]:
    """Ids of the workloads that an entry becomes: its own, or one a batch."""
    return [id] if batches is None else [f"{id}-b{batch}" for batch in batches]


def one_a_batch(entries: dict[str, Workload]) -> dict[str, Workload]:
    """The entries, each with several `batches` replaced by one workload a batch; two of one id are an error."""
    workloads: dict[str, Workload] = {}
    for name, entry in entries.items():
        for id, batch in zip(batch_ids(name, entry.batches), entry.batches or [entry.batch], strict=True):
            if id in workloads or (id != name and id in entries):
                text = f"a workload of the study is called '{id}' already; rename it"
                raise inconsistent([Problem((name, "batches"), text)])
            workloads[id] = entry.model_copy(update={"batch": batch})
    return workloads


def written_ids(entries: Mapping[str, Any]) -> dict[str, list[str]]:
    """Ids of the workloads of each entry of a section as written (plain data, not necessarily sound)."""
    ids = {}
    for name, entry in entries.items():
        batches = entry.get("batches") if isinstance(entry, Mapping) else None
        ids[name] = batch_ids(name, batches if isinstance(batches, list) and batches else None)
    return ids


def all_batches(selection: Iterable[str], everything: Iterable[str]) -> list[str]:
    """The ids of a list of workloads, in its order, where the name of a workload of several batches is one for each.

    `everything`: ids of all workloads. An id that is unknown stays as it is.
    """
    known = list(everything)
    chosen: dict[str, None] = {}
    for name in selection:
        own = [] if name in known else [id for id in known if re.fullmatch(rf"{re.escape(name)}-b\d+", id)]
        chosen |= dict.fromkeys(own or [name])
    return list(chosen)


def _canonical(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _canonical(value[key]) for key in sorted(value)}
    return [_canonical(item) for item in value] if isinstance(value, list) else value
