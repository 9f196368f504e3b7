"""The `hardware:` section: hardware variants, as FAST's architecture template with clock, cores and DRAM."""

from typing import Annotated, Any, Literal

from pydantic import Field

from schemas.presets import load_preset
from schemas.quantity import BANDWIDTH, FREQUENCY, SIZE, Bandwidth, Frequency, Quantity, Size
from schemas.study_base import PositiveInt, StudyModel

BufferSize = Annotated[Size, Field(ge=1)]

_QUANTITIES: dict[str, tuple[str, Quantity]] = {
    "clock": ("clock_hz", FREQUENCY),
    "l1_input": ("l1_input_bytes", SIZE),
    "l1_weight": ("l1_weight_bytes", SIZE),
    "l1_output": ("l1_output_bytes", SIZE),
    "global_buffer": ("global_buffer_bytes", SIZE),
    "dram_bandwidth": ("dram_bytes_per_s", BANDWIDTH),
}
"""Keys of a datapath that the study writes with a unit: name in a resolved datapath, kind of quantity."""


class DatapathEntry(StudyModel):
    """The datapath of a hardware variant, or the keys in which it differs from its `base`.

    Processing elements (PEs) and buffers are those of one core. Template and terms: FAST, ASPLOS 2022,
    table 3 and figure 7.
    """

    clock: Annotated[Frequency, Field(ge=1e6, le=1e11)] | None = None
    """Clock frequency (Hz)."""
    cores: PositiveInt | None = None
    """Cores of the chip: independent accelerators that share DRAM bandwidth evenly."""
    pes_x: PositiveInt | None = None
    """Columns of the mesh of PEs."""
    pes_y: PositiveInt | None = None
    """Rows of the mesh of PEs."""
    systolic_rows: PositiveInt | None = None
    """Rows of a PE's systolic array: the contracted dimension."""
    systolic_columns: PositiveInt | None = None
    """Columns of a PE's systolic array: output channels."""
    vector_lanes: PositiveInt | None = None
    """Lanes of a PE's vector unit."""
    l1_config: Literal["private", "shared"] | None = None
    """Whether inputs, weights and outputs have an L1 buffer each, or share one of the three sizes' sum."""
    l1_input: BufferSize | None = None
    """L1 for inputs, of a PE (bytes)."""
    l1_weight: BufferSize | None = None
    """L1 for weights, of a PE (bytes)."""
    l1_output: BufferSize | None = None
    """L1 for outputs, of a PE (bytes)."""
    l2_config: Literal["disabled", "private", "shared"] | None = None
    """Whether a PE has an L2, and whether inputs, weights and outputs share it."""
    l2_input_multiplier: PositiveInt | None = None
    """Size of the L2 for inputs as a multiple of `l1_input`."""
    l2_weight_multiplier: PositiveInt | None = None
    """Size of the L2 for weights as a multiple of `l1_weight`."""
    l2_output_multiplier: PositiveInt | None = None
    """Size of the L2 for outputs as a multiple of `l1_output`."""
    global_buffer: Annotated[Size, Field(ge=0)] | None = None
    """Global buffer of a core (bytes); 0: there is none."""
    dram_kind: Literal["gddr6", "hbm2"] | None = None
    """Kind of off-chip memory, for power and area."""
    dram_channels: PositiveInt | None = None
    """Channels of off-chip memory, of the chip."""
    dram_bandwidth: Annotated[Bandwidth, Field(ge=1e6, le=1e14)] | None = None
    """Bandwidth of off-chip memory, of the whole chip (bytes per second)."""
    number_format: Literal["bfloat16", "int8", "float32"] | None = None
    """Format that the systolic arrays multiply."""
    depthwise_mapping: Literal["diagonal", "taps"] | None = None
    """How depthwise convolutions lie on the systolic array: channels on its diagonal, a pass a filter tap (TPU), or
    filter taps on its rows and channels on its columns (FAST)."""
    vector_path: Literal["direct", "mesh"] | None = None
    """How vector units reach the global buffer: by ports of their own, 4 bytes a lane and cycle (TPU), or over the mesh
    like the arrays (FAST)."""
    array_efficiency: Annotated[float, Field(gt=0, le=1)] | None = None
    """Share of an array's peak rate that its code reaches on dense products: 1 where schedules are ideal; a compiler's
    code for TPUs reaches about 0.75."""
    register_sublanes: PositiveInt | None = None
    """Rows of the register tile at four bytes an element (TPU: 8)."""
    register_lanes: PositiveInt | None = None
    """Columns of the register tile (TPU: 128)."""
    native_batch: PositiveInt | None = None
    """Samples that a core works on at once, for queries per second."""

    def given(self) -> dict[str, Any]:
        """The keys that are given, in the names of a resolved datapath (units in the names)."""
        values = {key: getattr(self, key) for key in type(self).model_fields}
        return {_QUANTITIES.get(key, (key,))[0]: value for key, value in values.items() if value is not None}


class Hardware(StudyModel):
    """A hardware variant."""

    base: str | None = None
    """A preset (tpu-v2, tpu-v3, fast-large, fast-small) or another entry of `hardware` that this one extends."""
    runtime: Literal["simulated"] = "simulated"
    """Where runtimes come from; measured and recorded ones come with a later release."""
    datapath: DatapathEntry = DatapathEntry()
    """The datapath; without `base` every key must be given."""


HARDWARE_PRESETS: dict[str, DatapathEntry] = {
    name: DatapathEntry.model_validate(entry) for name, entry in load_preset("hardware").items()
}
DATAPATH_KEYS: dict[str, str] = {_QUANTITIES.get(key, (key,))[0]: key for key in DatapathEntry.model_fields}
"""Name in a resolved datapath to key in the study, in canonical order."""


class BaseCircleError(ValueError):
    """Hardware variants that extend one another in a circle."""


def base_chain(hardware: dict[str, Hardware], id: str) -> list[DatapathEntry]:
    """The datapath entries that `id` is made of, its own first.

    An entry of `hardware` hides the preset of the same name, except for itself: `tpu-v3: {base: tpu-v3}`
    extends the preset. Raises BaseCircleError, or KeyError for a base that is neither.
    """
    chain, visited = [], []
    while True:
        entry = hardware[id]
        visited.append(id)
        chain.append(entry.datapath)
        if entry.base is None:
            return chain
        if entry.base not in hardware or entry.base == id:
            return [*chain, HARDWARE_PRESETS[entry.base]]
        if entry.base in visited:
            raise BaseCircleError(" -> ".join([*visited, entry.base]))
        id = entry.base


def merged_datapath(chain: list[DatapathEntry]) -> dict[str, Any]:
    """The resolved datapath, in canonical key order; keys that no entry of the chain gives are left out."""
    values: dict[str, Any] = {}
    for entry in reversed(chain):
        values |= entry.given()
    return {name: values[name] for name in DATAPATH_KEYS if name in values}


def study_entry(datapath: dict[str, Any]) -> dict[str, Any]:
    """A resolved datapath as an entry that can stand under the study's `hardware:`, with units."""
    written = {}
    for name, key in DATAPATH_KEYS.items():
        quantity = _QUANTITIES[key][1] if key in _QUANTITIES else None
        written[key] = quantity.write(datapath[name]) if quantity else datapath[name]
    return {"datapath": written}
