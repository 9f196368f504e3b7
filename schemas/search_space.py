"""The space of a search: FAST's table 3 (ASPLOS 2022) and what it leaves out, restricted or extended by the study."""

from typing import Any

from pydantic import ConfigDict, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from schemas.datapath_limits import datapath_problem
from schemas.presets import load_preset
from schemas.problem import Problem, allowed_names, got, inconsistent, not_allowed
from schemas.quantity import SIZE
from schemas.study_base import StudyModel

TABLE_3: dict[str, list] = load_preset("search_space")
"""Values by parameter: FAST's table 3."""
DEFAULT_SPACE: dict[str, list] = TABLE_3 | {"dram_kind": ["gddr6"], "softmax": ["three-pass"], "dataflows": ["any"]}
"""Values by parameter that a search has if its study says nothing: table 3, and one value of what table 3 lacks."""

NAMES: dict[str, tuple[str, ...]] = {
    "l1_config": ("private", "shared"),
    "l2_config": ("disabled", "private", "shared"),
    "dram_kind": ("gddr6", "hbm2"),
    "softmax": ("three-pass", "two-pass"),
    "dataflows": ("any", "weight-stationary", "output-stationary", "input-stationary"),
}
"""Parameters whose values are names, in their canonical order; all others are whole numbers."""
WIDEST: dict[str, tuple[int, int]] = {
    "pes_x": (1, 1024),
    "pes_y": (1, 1024),
    "systolic_rows": (1, 1024),
    "systolic_columns": (1, 1024),
    "vector_multiplier": (1, 64),
    "l1_input_bytes": (256, 2**24),
    "l1_weight_bytes": (256, 2**24),
    "l1_output_bytes": (256, 2**24),
    "l2_input_multiplier": (1, 1024),
    "l2_weight_multiplier": (1, 1024),
    "l2_output_multiplier": (1, 1024),
    "global_buffer_bytes": (2**16, 2**32),
    "dram_channels": (1, 64),
    "native_batch": (1, 1024),
}
"""Smallest and largest number that a study may write, four to sixteen times what table 3 spans: the cost, power and
area models were looked at no farther. The global buffer may also be 0: none."""


class Space(StudyModel):
    """The designs that a search may propose: values by parameter, by default all of FAST's table 3. Values that are not
    in the table are allowed too, powers of two or not."""

    model_config = ConfigDict(json_schema_extra=lambda schema: _add_allowed_values(schema))

    pes_x: list[int] = DEFAULT_SPACE["pes_x"]
    """Columns of the mesh of processing elements (PEs)."""
    pes_y: list[int] = DEFAULT_SPACE["pes_y"]
    """Rows of the mesh of PEs."""
    systolic_rows: list[int] = DEFAULT_SPACE["systolic_rows"]
    """Rows of a PE's systolic array."""
    systolic_columns: list[int] = DEFAULT_SPACE["systolic_columns"]
    """Columns of a PE's systolic array."""
    vector_multiplier: list[int] = DEFAULT_SPACE["vector_multiplier"]
    """Lanes of a PE's vector unit as a multiple of `systolic_columns`."""
    l1_config: list[str] = DEFAULT_SPACE["l1_config"]
    """Whether inputs, weights and outputs have an L1 buffer each or share one."""
    l1_input_bytes: list[int] = DEFAULT_SPACE["l1_input_bytes"]
    """L1 for inputs, of a PE (bytes)."""
    l1_weight_bytes: list[int] = DEFAULT_SPACE["l1_weight_bytes"]
    """L1 for weights, of a PE (bytes)."""
    l1_output_bytes: list[int] = DEFAULT_SPACE["l1_output_bytes"]
    """L1 for outputs, of a PE (bytes)."""
    l2_config: list[str] = DEFAULT_SPACE["l2_config"]
    """Whether a PE has an L2, and whether inputs, weights and outputs share it."""
    l2_input_multiplier: list[int] = DEFAULT_SPACE["l2_input_multiplier"]
    """L2 for inputs as a multiple of L1."""
    l2_weight_multiplier: list[int] = DEFAULT_SPACE["l2_weight_multiplier"]
    """L2 for weights as a multiple of L1."""
    l2_output_multiplier: list[int] = DEFAULT_SPACE["l2_output_multiplier"]
    """L2 for outputs as a multiple of L1."""
    global_buffer_bytes: list[int] = DEFAULT_SPACE["global_buffer_bytes"]
    """Global buffer of a core (bytes); 0: none."""
    dram_channels: list[int] = DEFAULT_SPACE["dram_channels"]
    """Channels of off-chip memory."""
    native_batch: list[int] = DEFAULT_SPACE["native_batch"]
    """Samples that a core works on at once."""
    dram_kind: list[str] = DEFAULT_SPACE["dram_kind"]
    """Kind of off-chip memory. Bytes a second of a channel are in `schemas/presets/dram.yaml`, energy and area in
    `power_area.yaml`. Table 3 has GDDR6 alone."""
    softmax: list[str] = DEFAULT_SPACE["softmax"]
    """Passes over its input that a softmax makes (FAST section 5.6). Not in table 3."""
    dataflows: list[str] = DEFAULT_SPACE["dataflows"]
    """Which operand stays in the arrays: one for all kernels, or any, chosen for each. Not in table 3."""

    @field_validator("*", mode="before")
    @classmethod
    def _allowed(cls, written: Any, info: ValidationInfo) -> Any:
        return _checked_values(info.field_name or "", written)

    def inconsistencies(self) -> list[Problem]:
        """Arrays that no L1 of the space can feed."""
        widest = {name: max(getattr(self, name)) for name in ("l1_input_bytes", "l1_weight_bytes", "l1_output_bytes")}
        narrowest = {name: min(getattr(self, name)) for name in ("systolic_rows", "systolic_columns")}
        easiest = widest | narrowest | {"number_format": "bfloat16"}
        problems = [datapath_problem(easiest | {"l1_config": config}) for config in self.l1_config]
        if not all(problems):
            return []
        text = "; with ".join(f"l1_config {config} {why}" for config, why in zip(self.l1_config, problems, strict=True))
        remedy = "larger L1 buffers or smaller arrays"
        return [Problem((), f"no design can be built, not even with the largest L1: with {text}; allowed: {remedy}")]


def _checked_values(parameter: str, written: Any) -> Any:
    """The written values in canonical order, sizes as bytes (which the parameters' names say)."""
    if not isinstance(written, list) or not written:
        raise not_allowed(f"a list of at least one value: {allowed_values(parameter)}")
    values: list[int | str] = []
    problems = []
    for place, item in enumerate(written):
        value = _value(parameter, item)
        if value is None:
            names = NAMES.get(parameter)
            allowed = allowed_names(item, names) if names else f"allowed: {allowed_values(parameter)}"
            problems.append(Problem((place,), f"{got(item)}; {allowed}"))
        elif value in values:
            problems.append(Problem((place,), f"{got(item)} is listed already; allowed: each value once"))
        else:
            values.append(value)
    if problems:
        raise inconsistent(problems)
    names = NAMES.get(parameter)
    return sorted(values, key=names.index) if names else sorted(values)  # type: ignore[arg-type, type-var]


def _value(parameter: str, written: Any) -> int | str | None:
    """The value that is meant; None if it isn't allowed."""
    if parameter in NAMES:
        return written if isinstance(written, str) and written in NAMES[parameter] else None
    try:
        value = SIZE.parse(written) if parameter.endswith("_bytes") and isinstance(written, str) else written
    except PydanticCustomError:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    smallest, largest = WIDEST[parameter]
    allowed = smallest <= value <= largest or (value == 0 and parameter == "global_buffer_bytes")
    return value if allowed else None


def allowed_values(parameter: str) -> str:
    """What may stand in a parameter's list, in words."""
    if parameter in NAMES:
        return ", ".join(NAMES[parameter])
    smallest, largest = WIDEST[parameter]
    if not parameter.endswith("_bytes"):
        return f"a whole number from {smallest} to {largest}"
    none = "0 or " if parameter == "global_buffer_bytes" else ""
    return f"{none}a size from {SIZE.write(smallest)} to {SIZE.write(largest)}"


def _add_allowed_values(schema: dict[str, Any]) -> None:
    """Put the allowed values into the JSON Schema."""
    for parameter, property in schema["properties"].items():
        if parameter in NAMES:
            values: dict[str, Any] = {"enum": list(NAMES[parameter])}
        else:
            smallest, largest = WIDEST[parameter]
            values = {"type": "integer", "minimum": smallest, "maximum": largest}
            if parameter == "global_buffer_bytes":
                values = {"anyOf": [{"const": 0}, values]}
            if parameter.endswith("_bytes"):
                values = {"anyOf": [*values.get("anyOf", [values]), SIZE.json_schema()["anyOf"][1]]}
        property |= {"items": values, "minItems": 1, "uniqueItems": True}
