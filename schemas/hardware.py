"""The `hardware:` section: hardware variants, as FAST's architecture template with clock, cores and DRAM."""

from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from schemas.datapath_limits import datapath_problem
from schemas.hardware_sample import Group, HardwareSample, sample_problem, sampled_ids, sampled_values
from schemas.measure import ORIGINS, Measure, Runtime, measuring_problems
from schemas.presets import load_preset
from schemas.problem import Problem
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
    """A preset (tpu-v2, tpu-v3, fast-large, fast-small, local-cpu) or another entry of `hardware` that this one
    extends."""
    runtime: Runtime = "simulated"
    """Where runtimes come from: the simulator; the files of a dataset's `source`; or this machine, where XLA measures
    kernels (the fusion task) and IREE tiles of them (the tile task)."""
    measure: Measure = Measure()
    """How this machine is measured, with `runtime: xla` or `iree`."""
    datapath: DatapathEntry = DatapathEntry()
    """The datapath; without `base` every key must be given. With `runtime: recorded` it describes the chip that was
    timed, for the analytical estimate. Of a device that is measured it may be left out, with `base`; then there are no
    estimates."""
    sample: HardwareSample | None = None
    """Makes many variants of this entry, from ranges; its id then means all of them."""

    @property
    def is_measured(self) -> bool:
        """Whether this machine measures it."""
        return ORIGINS[self.runtime] == "measured"

    def variant_ids(self, id: str) -> list[str]:
        """The variants that the entry called `id` means: itself, or those that it samples in order of their numbers."""
        return [id] if self.sample is None else sampled_ids(id, len(self.sample.groups()))

    def inconsistencies(self) -> list[Problem]:
        """A key is given or varies; what measures goes with a runtime that does."""
        problem = self.sample and sample_problem(self.sample, self.datapath.model_dump(exclude_none=True))
        return [
            *([problem] if problem else []),
            *measuring_problems(self.runtime, self.measure, self.model_fields_set),
        ]


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


def variants_of(selection: list[str] | Literal["all"], hardware: dict[str, Hardware]) -> list[str]:
    """The variants that a selection means, sorted; an entry that is sampled means all of its variants, an id that is
    no entry itself."""
    chosen = list(hardware) if selection == "all" else selection
    ids = {v for id in chosen for v in (hardware[id].variant_ids(id) if id in hardware else [id])}
    return sorted(ids)


class Variant(NamedTuple):
    """One hardware variant of a study."""

    entry: str
    """Id of the entry that it is, or that samples it."""
    group: Group | None
    """Of a sampled variant."""
    values: dict[str, Any]
    """What a sampled variant has of its own, in names of a resolved datapath, canonical order."""


def entry_variants(hardware: dict[str, Hardware], id: str) -> dict[str, Variant]:
    """The variants of an entry by id. Raises ValueError where its ranges do not hold enough."""
    sample = hardware[id].sample
    if sample is None:
        return {id: Variant(id, None, {})}
    common = merged_datapath(base_chain(hardware, id))

    def resolved(values: dict[str, float]) -> dict[str, Any]:
        return {name: values[key] for name, key in DATAPATH_KEYS.items() if key in values}

    drawn = sampled_values(sample, lambda values: datapath_problem(common | resolved(values)) is None)
    groups = sample.groups()
    ids = sampled_ids(id, len(groups))
    return {v: Variant(id, g, resolved(values)) for v, g, values in zip(ids, groups, drawn, strict=True)}


def study_entry(datapath: dict[str, Any]) -> dict[str, Any]:
    """A resolved datapath as an entry that can stand under the study's `hardware:`, with units."""
    written = {}
    for name, key in DATAPATH_KEYS.items():
        quantity = _QUANTITIES[key][1] if key in _QUANTITIES else None
        written[key] = quantity.write(datapath[name]) if quantity else datapath[name]
    return {"datapath": written}
