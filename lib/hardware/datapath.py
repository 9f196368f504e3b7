"""A datapath: FAST's architecture template with clock, cores, DRAM kind and number format."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from numba import njit

from schemas.datapath_limits import ELEMENT_BYTES

L1_CONFIGS = ("private", "shared")
L2_CONFIGS = ("disabled", "private", "shared")
L2_DISABLED, L2_PRIVATE, L2_SHARED = range(3)
"""Private: inputs, weights and outputs have a buffer each; shared: they share one (FAST table 3)."""
MESH_VECTORS = 2
"""Array rows or columns that an edge of the mesh carries a cycle. Calibrated on the compute utilisation of FAST-Large
(FAST table 5: 0.61): with 1, 1.5, 2 and without a limit it comes out at 0.39, 0.46, 0.49 and 0.54. Power is charged
alike."""
DRAM_KINDS = ("gddr6", "hbm2")
DEPTHWISE_MAPPINGS = ("diagonal", "taps")
DIAGONAL, TAPS = range(2)
"""Depthwise convolutions on a systolic array: channels on its diagonal, a pass a filter tap; or filter taps on its rows
and channels on its columns. A matter of the design family (what feeds the array), not of the array's size."""
VECTOR_PATHS = ("direct", "mesh")
DIRECT, MESH = range(2)
"""How vector units reach the global buffer: by ports of their own, 4 bytes a lane and cycle either way, as a TPU's
vector memory lies beside its lanes (Norrie et al., IEEE Micro 2021), whose power is part of the lanes'; or over the
mesh like the arrays, as FAST's PEs hold theirs (figure 7)."""


class Datapath(NamedTuple):
    """One core's share of the chip, as plain numbers that compiled code reads.

    Cores are independent accelerators that share DRAM bandwidth evenly, so everything below but
    `cores` describes one core. Made from the study's `datapath:` by :func:`datapath_from_spec`.
    """

    clock_hz: float
    cores: int
    pes_x: int
    pes_y: int
    systolic_rows: int
    systolic_columns: int
    vector_lanes: int
    """Lanes of one PE's vector unit (FAST table 3: multiplier x systolic columns)."""
    l1_shared: bool
    l1_input_bytes: int
    """Of one PE, like the other L1 sizes."""
    l1_weight_bytes: int
    l1_output_bytes: int
    l2_kind: int
    """0 disabled, 1 private, 2 shared."""
    l2_input_multiplier: int
    """Size of L2 relative to L1."""
    l2_weight_multiplier: int
    l2_output_multiplier: int
    global_buffer_bytes: int
    """0: there is none."""
    dram_kind: int
    """0 GDDR6, 1 HBM2."""
    dram_channels: int
    dram_bytes_per_s: float
    """This core's share."""
    element_bytes: int
    """Of the number format: bfloat16 2, int8 1, float32 4."""
    depthwise_mapping: int
    """0 channels on the diagonal (TPU), 1 taps on rows (FAST)."""
    vector_path: int
    """0 ports of the vector units' own (TPU), 1 over the mesh (FAST)."""
    array_efficiency: float
    """Share of the arrays' peak rate that code reaches on dense products."""
    register_sublanes: int
    """Rows of the register tile at four bytes an element (TPU: 8)."""
    register_lanes: int
    """Columns of the register tile (TPU: 128)."""
    native_batch: int
    """Samples that the chip works on at once, per core."""


_NUMBERS = frozenset(Datapath._fields) - {
    "l1_shared", "l2_kind", "dram_kind", "element_bytes", "depthwise_mapping", "vector_path",
}  # fmt: skip
_KEYS = _NUMBERS | {"l1_config", "l2_config", "dram_kind", "number_format", "depthwise_mapping", "vector_path"}
"""Of a resolved `datapath:` entry."""


def datapath_from_spec(spec: Mapping[str, Any]) -> Datapath:
    """The datapath of one core from a resolved `datapath:` entry of the study (plain numbers and names).

    DRAM bandwidth is the whole chip's in `spec` and one core's in the result. Raises ValueError that lists
    missing and unknown keys, or names a choice that does not exist.
    """
    if spec.keys() != _KEYS:
        missing, unknown = sorted(_KEYS - set(spec)), sorted(set(spec) - _KEYS)
        raise ValueError(f"datapath: missing keys {missing}, unknown keys {unknown}")
    fields: dict[str, Any] = {name: int(spec[name]) for name in _NUMBERS}
    fields["clock_hz"] = float(spec["clock_hz"])
    fields["array_efficiency"] = float(spec["array_efficiency"])
    fields["dram_bytes_per_s"] = float(spec["dram_bytes_per_s"]) / fields["cores"]
    fields["l1_shared"] = bool(_choice(spec, "l1_config", L1_CONFIGS))
    fields["l2_kind"] = _choice(spec, "l2_config", L2_CONFIGS)
    fields["dram_kind"] = _choice(spec, "dram_kind", DRAM_KINDS)
    fields["depthwise_mapping"] = _choice(spec, "depthwise_mapping", DEPTHWISE_MAPPINGS)
    fields["vector_path"] = _choice(spec, "vector_path", VECTOR_PATHS)
    number_format = tuple(ELEMENT_BYTES)[_choice(spec, "number_format", tuple(ELEMENT_BYTES))]
    fields["element_bytes"] = ELEMENT_BYTES[number_format]
    return Datapath(**fields)


def spec_of_datapath(datapath: Datapath) -> dict[str, Any]:
    """The resolved `datapath:` entry that :func:`datapath_from_spec` makes `datapath` from: the whole chip's bandwidth,
    choices by name."""
    spec: dict[str, Any] = datapath._asdict()
    spec["dram_bytes_per_s"] = datapath.dram_bytes_per_s * datapath.cores
    spec["l1_config"] = L1_CONFIGS[int(spec.pop("l1_shared"))]
    spec["l2_config"] = L2_CONFIGS[spec.pop("l2_kind")]
    spec["dram_kind"] = DRAM_KINDS[datapath.dram_kind]
    spec["depthwise_mapping"] = DEPTHWISE_MAPPINGS[datapath.depthwise_mapping]
    spec["vector_path"] = VECTOR_PATHS[datapath.vector_path]
    spec["number_format"] = next(name for name, size in ELEMENT_BYTES.items() if size == spec["element_bytes"])
    del spec["element_bytes"]
    return spec


def _choice(spec: Mapping[str, Any], key: str, allowed: tuple[str, ...]) -> int:
    if spec[key] not in allowed:
        raise ValueError(f"datapath.{key}: {spec[key]!r} is not one of {', '.join(allowed)}")
    return allowed.index(spec[key])


@njit(cache=True)
def processing_elements(datapath) -> int:
    """PEs of one core."""
    return datapath.pes_x * datapath.pes_y


@njit(cache=True)
def vector_lanes_of_core(datapath) -> int:
    """Vector lanes of one core: one element of one simple op each a cycle."""
    return datapath.vector_lanes * processing_elements(datapath)


@njit(cache=True)
def mesh_bytes_per_cycle(datapath) -> int:
    """Bytes a cycle that the global buffer of a core moves over the edges of the mesh of PEs: MESH_VECTORS times what
    its arrays take and give at full rate. Inputs enter each row of PEs once and are passed on along x, weights enter
    each column of PEs and are passed on along y, and each row of PEs sends one array row of results back."""
    rows, columns = datapath.systolic_rows, datapath.systolic_columns
    vector_elements = datapath.pes_y * (rows + columns) + datapath.pes_x * columns
    return MESH_VECTORS * datapath.element_bytes * vector_elements


@njit(cache=True)
def peak_flops_per_s(datapath) -> float:
    """FLOP/s of one core's systolic arrays; a multiply-accumulate is two."""
    macs = processing_elements(datapath) * datapath.systolic_rows * datapath.systolic_columns
    return 2.0 * macs * datapath.clock_hz


@njit(cache=True)
def ridge_flops_per_byte(datapath) -> float:
    """Operational intensity at which compute and DRAM take the same time."""
    return peak_flops_per_s(datapath) / datapath.dram_bytes_per_s


@njit(cache=True)
def on_chip_bytes(datapath) -> tuple[int, int, int, int]:
    """Capacity of the level that holds tiles: (all, input, weight, output) bytes of one core.

    The level is the global buffer if there is one, else L2 (L1 times its multipliers) if enabled, else L1, over
    all PEs of the core. Where the operands share a buffer each may fill it, so the last three equal the first.
    """
    if datapath.global_buffer_bytes > 0:
        whole = datapath.global_buffer_bytes
        return whole, whole, whole, whole
    pes = processing_elements(datapath)
    inputs = datapath.l1_input_bytes * pes
    weights = datapath.l1_weight_bytes * pes
    outputs = datapath.l1_output_bytes * pes
    shared = datapath.l1_shared
    if datapath.l2_kind != L2_DISABLED:
        inputs *= datapath.l2_input_multiplier
        weights *= datapath.l2_weight_multiplier
        outputs *= datapath.l2_output_multiplier
        shared = datapath.l2_kind == L2_SHARED
    whole = inputs + weights + outputs
    if shared:
        return whole, whole, whole, whole
    return whole, inputs, weights, outputs


@njit(cache=True)
def double_buffered_bytes(datapath) -> tuple[int, int, int, int]:
    """What one set of tiles may take of :func:`on_chip_bytes`: half, as the next set loads meanwhile."""
    whole, inputs, weights, outputs = on_chip_bytes(datapath)
    return whole // 2, inputs // 2, weights // 2, outputs // 2
