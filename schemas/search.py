"""The `searches:` section: searches for a datapath, as FAST (ASPLOS 2022)."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from schemas.presets import load_preset
from schemas.problem import Problem, got, inconsistent, not_allowed
from schemas.quantity import SIZE
from schemas.return_on_investment import ReturnOnInvestment
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


def _from_table(parameter: str, written: Any) -> Any:
    """The written values in the table's order, sizes as bytes (which the parameters' names say)."""
    if not isinstance(written, list) or not written:
        raise not_allowed("a list of at least one value")
    table, values, problems = FULL_SPACE[parameter], [], []
    for place, item in enumerate(written):
        try:
            value = SIZE.parse(item) if parameter.endswith("_bytes") and isinstance(item, str) else item
        except PydanticCustomError:
            value = None
        if isinstance(value, bool) or value not in table:
            problems.append(Problem((place,), f"{got(item)}; allowed: {_allowed_values(parameter)}"))
        elif value in values:
            problems.append(Problem((place,), f"{got(item)} is listed already; allowed: each value once"))
        else:
            values.append(value)
    if problems:
        raise inconsistent(problems)
    return sorted(values, key=table.index)


def _add_allowed_values(schema: dict[str, Any]) -> None:
    """Put the table's values into the JSON Schema."""
    for parameter, property in schema["properties"].items():
        values: dict[str, Any] = {"enum": FULL_SPACE[parameter]}
        if parameter.endswith("_bytes"):
            values = {"anyOf": [values, SIZE.json_schema()["anyOf"][1]]}
        property |= {"items": values, "minItems": 1, "uniqueItems": True}


class Space(StudyModel):
    """The datapaths that a search may propose: values by parameter, by default all of FAST's table 3."""

    model_config = ConfigDict(json_schema_extra=_add_allowed_values)

    pes_x: list[int] = FULL_SPACE["pes_x"]
    """Columns of the mesh of processing elements (PEs)."""
    pes_y: list[int] = FULL_SPACE["pes_y"]
    """Rows of the mesh of PEs."""
    systolic_rows: list[int] = FULL_SPACE["systolic_rows"]
    """Rows of a PE's systolic array."""
    systolic_columns: list[int] = FULL_SPACE["systolic_columns"]
    """Columns of a PE's systolic array."""
    vector_multiplier: list[int] = FULL_SPACE["vector_multiplier"]
    """Lanes of a PE's vector unit as a multiple of `systolic_columns`."""
    l1_config: list[str] = FULL_SPACE["l1_config"]
    """Whether inputs, weights and outputs have an L1 buffer each or share one."""
    l1_input_bytes: list[int] = FULL_SPACE["l1_input_bytes"]
    """L1 for inputs, of a PE (bytes)."""
    l1_weight_bytes: list[int] = FULL_SPACE["l1_weight_bytes"]
    """L1 for weights, of a PE (bytes)."""
    l1_output_bytes: list[int] = FULL_SPACE["l1_output_bytes"]
    """L1 for outputs, of a PE (bytes)."""
    l2_config: list[str] = FULL_SPACE["l2_config"]
    """Whether a PE has an L2, and whether inputs, weights and outputs share it."""
    l2_input_multiplier: list[int] = FULL_SPACE["l2_input_multiplier"]
    """L2 for inputs as a multiple of L1."""
    l2_weight_multiplier: list[int] = FULL_SPACE["l2_weight_multiplier"]
    """L2 for weights as a multiple of L1."""
    l2_output_multiplier: list[int] = FULL_SPACE["l2_output_multiplier"]
    """L2 for outputs as a multiple of L1."""
    global_buffer_bytes: list[int] = FULL_SPACE["global_buffer_bytes"]
    """Global buffer of a core (bytes); 0: none."""
    dram_channels: list[int] = FULL_SPACE["dram_channels"]
    """Channels of GDDR6."""
    native_batch: list[int] = FULL_SPACE["native_batch"]
    """Samples that a core works on at once."""

    @field_validator("*", mode="before")
    @classmethod
    def _values_of_the_table(cls, written: Any, info: ValidationInfo) -> Any:
        return _from_table(info.field_name or "", written)


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
    return_on_investment: ReturnOnInvestment = ReturnOnInvestment()
    """What a chip costs, for the volume at which the best design pays back; changes no trial."""
