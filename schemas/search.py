"""The `searches:` section: searches for a datapath, as FAST (ASPLOS 2022)."""

from functools import partial
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema

from schemas.presets import load_preset
from schemas.problem import not_allowed
from schemas.quantity import SIZE
from schemas.study_base import PositiveInt, Selection, StudyModel

FULL_SPACE: dict[str, list] = load_preset("search_space")
"""Values by parameter: FAST's table 3."""


def _allowed_values(parameter: str) -> str:
    table = FULL_SPACE[parameter]
    if isinstance(table[0], str):
        return ", ".join(table)
    write = SIZE.write if parameter.endswith("_bytes") else str
    zero, first = ("0 or ", table[1]) if table[0] == 0 else ("", table[0])
    return f"{zero}a power of two from {write(first)} to {write(table[-1])}"


def _checked_value(parameter: str, written: Any) -> int | str:
    value = written
    if parameter.endswith("_bytes") and isinstance(written, str):
        value = SIZE.parse(written)
    if isinstance(value, bool) or value not in FULL_SPACE[parameter]:
        raise not_allowed(_allowed_values(parameter))
    return value


def _checked_values(parameter: str, values: list) -> list:
    if not values or len(set(values)) != len(values):
        raise not_allowed("at least one value, each once")
    return [value for value in FULL_SPACE[parameter] if value in values]


def _values(parameter: str) -> Any:
    """The type of a parameter's list of values: from the table, at least one, in the table's order."""
    table = FULL_SPACE[parameter]
    item_schema: dict[str, Any] = {"enum": table}
    if parameter.endswith("_bytes"):
        item_schema = {"anyOf": [item_schema, {"type": "string", "pattern": "^[0-9]+ *(B|KiB|MiB|GiB)$"}]}
    item = Annotated[Any, PlainValidator(partial(_checked_value, parameter)), WithJsonSchema(item_schema)]
    return Annotated[list[item], AfterValidator(partial(_checked_values, parameter)), Field(min_length=1)]  # type: ignore


class Space(StudyModel):
    """The datapaths that a search may propose: values by parameter, by default all of FAST's table 3."""

    pes_x: _values("pes_x") = FULL_SPACE["pes_x"]
    """Columns of the mesh of processing elements (PEs)."""
    pes_y: _values("pes_y") = FULL_SPACE["pes_y"]
    """Rows of the mesh of PEs."""
    systolic_rows: _values("systolic_rows") = FULL_SPACE["systolic_rows"]
    """Rows of a PE's systolic array."""
    systolic_columns: _values("systolic_columns") = FULL_SPACE["systolic_columns"]
    """Columns of a PE's systolic array."""
    vector_multiplier: _values("vector_multiplier") = FULL_SPACE["vector_multiplier"]
    """Lanes of a PE's vector unit as a multiple of `systolic_columns`."""
    l1_config: _values("l1_config") = FULL_SPACE["l1_config"]
    """Whether inputs, weights and outputs have an L1 buffer each or share one."""
    l1_input_bytes: _values("l1_input_bytes") = FULL_SPACE["l1_input_bytes"]
    """L1 for inputs, of a PE (bytes)."""
    l1_weight_bytes: _values("l1_weight_bytes") = FULL_SPACE["l1_weight_bytes"]
    """L1 for weights, of a PE (bytes)."""
    l1_output_bytes: _values("l1_output_bytes") = FULL_SPACE["l1_output_bytes"]
    """L1 for outputs, of a PE (bytes)."""
    l2_config: _values("l2_config") = FULL_SPACE["l2_config"]
    """Whether a PE has an L2, and whether inputs, weights and outputs share it."""
    l2_input_multiplier: _values("l2_input_multiplier") = FULL_SPACE["l2_input_multiplier"]
    """L2 for inputs as a multiple of L1."""
    l2_weight_multiplier: _values("l2_weight_multiplier") = FULL_SPACE["l2_weight_multiplier"]
    """L2 for weights as a multiple of L1."""
    l2_output_multiplier: _values("l2_output_multiplier") = FULL_SPACE["l2_output_multiplier"]
    """L2 for outputs as a multiple of L1."""
    global_buffer_bytes: _values("global_buffer_bytes") = FULL_SPACE["global_buffer_bytes"]
    """Global buffer of a core (bytes); 0: none."""
    dram_channels: _values("dram_channels") = FULL_SPACE["dram_channels"]
    """Channels of GDDR6."""
    native_batch: _values("native_batch") = FULL_SPACE["native_batch"]
    """Samples that a core works on at once."""


class Limits(StudyModel):
    """The most that a design may take, relative to the baseline."""

    tdp_ratio: Annotated[float, Field(gt=0)] = 2.0
    """Thermal design power. FAST's threshold is 2.0 times that of the die-shrunk TPU-v3 (table 5)."""
    area_ratio: Annotated[float, Field(gt=0)] = 1.67
    """Die area. FAST's threshold is 1.67 times that of the die-shrunk TPU-v3 (table 5)."""


class Search(StudyModel):
    """A search for the datapath that serves some workloads best."""

    workloads: Selection
    """The programs; the objective is the geometric mean over them."""
    baseline: str
    """The hardware variant that designs are compared with."""
    objective: Literal["perf-per-tdp"] = "perf-per-tdp"
    """What is maximised: queries per second and watt of thermal design power, relative to the baseline."""
    optimiser: Literal["tpe", "random"] = "tpe"
    """How designs are proposed: multivariate tree-structured Parzen estimator, or at random."""
    trials: PositiveInt = 50
    """Designs that each island tries."""
    islands: PositiveInt = 1
    """Independent searches with seeds of their own, which run at the same time."""
    limits: Limits = Limits()
    """The most that a design may take, relative to the baseline."""
    space: Space = Space()
    """Values by parameter; a parameter that is not named keeps all of its values."""
