"""The residency problem of a program's kernels under the published placement rules, priced by the simulator."""

from typing import Literal, NamedTuple, get_args

import numpy as np
from numba import njit

from lib.cost.cost_model import CostModel
from lib.hardware.datapath import Datapath
from lib.program.extraction import ProgramKernels
from lib.program.kernels import INPUT, OUTPUT, WEIGHT, Kernels
from lib.program.program import Program
from lib.residency.problem import PLACEMENTS, ResidencyProblem
from lib.schedule.candidates import compiled_view
from lib.schedule.loops import LOOP_ORDERS, has_canonical_loops
from lib.schedule.node_table import LOOPS_WALKED, node_elements_and_padded, operand_table, set_extents
from lib.schedule.schedules import Schedules

ChainVariant = Literal["paper-printed", "paper"]
"""`paper-printed`: FAST's integer programme word by word. A kernel has one input, the tensor from the kernel just
before or else its largest one; other inputs cost nothing. An output that stays is not written, whoever else reads it.
Only to reproduce the paper. `paper`: the same places for tensors, but all bytes are priced: other inputs are loaded,
and a write is saved only if the next kernel is the only reader and the tensor does not leave the program."""
Variant = Literal["paper-printed", "paper", "lifetime"]
"""`lifetime`: tensors stay as long as they live (:mod:`lib.residency.program_lifetime`)."""


class PlacementCosts(NamedTuple):
    """k kernels with r schedules each, by the operand roles that stay (bits 1 input, 2 weights, 4 output)."""

    seconds: np.ndarray
    """float64[k, 8, r]"""
    dram_bytes: np.ndarray
    """float64[k, 8, r, 3] by role."""
    parts: np.ndarray
    """float64[k, r, p] of the model's `part_names` with everything in DRAM."""


def schedules_a_kernel(kernels: Kernels, schedules: Schedules) -> int:
    """How many rows each kernel has; raises ValueError where they are not equally many, kernel after kernel."""
    choices = len(schedules.kernel) // max(1, kernels.number)
    if not np.array_equal(schedules.kernel, np.repeat(np.arange(kernels.number), choices)):
        raise ValueError(
            f"residency: {len(schedules.kernel)} schedule rows for {kernels.number} kernels; equally many a kernel are "
            "needed, in the order of the kernels"
        )
    return choices


def placement_costs(kernels: Kernels, schedules: Schedules, datapath: Datapath, model: CostModel) -> PlacementCosts:
    """Price every row under every placement; r rows a kernel, kernel after kernel.

    Whether a placement fits is asked elsewhere: kernels are priced as if the global buffer had room for all operands,
    which costs and saves no time by itself. Without a global buffer every placement costs what none does. Raises
    ValueError where rows and kernels do not match, or a row has no cost.
    """
    choices = schedules_a_kernel(kernels, schedules)
    placements = PLACEMENTS if datapath.global_buffer_bytes > 0 else 1
    if placements > 1:
        datapath = with_room(kernels, datapath)
    rows = Schedules(*(np.repeat(field, placements, axis=0) for field in schedules))
    rows = rows._replace(resident=np.tile(np.arange(placements, dtype=np.uint8), len(schedules.kernel)))
    costs = model.cost(kernels, rows, datapath, parts=True)
    assert costs.parts is not None
    failed = np.flatnonzero(np.isnan(costs.value))
    if len(failed):
        raise ValueError(f"residency: the schedule of kernel {rows.kernel[failed[0]]} has no cost on this datapath")
    seconds = costs.value.reshape(kernels.number, choices, placements)
    dram_bytes = costs.dram_bytes.reshape(kernels.number, choices, placements, 3)
    if placements == 1:
        seconds, dram_bytes = np.repeat(seconds, PLACEMENTS, axis=2), np.repeat(dram_bytes, PLACEMENTS, axis=2)
    parts = costs.parts.reshape(kernels.number, choices, placements, -1)[:, :, 0]
    return PlacementCosts(seconds.transpose(0, 2, 1), dram_bytes.transpose(0, 2, 1, 3), parts)


def with_room(kernels: Kernels, datapath: Datapath) -> Datapath:
    """The datapath with a global buffer that holds all operands of any kernel beside its tiles; itself without one."""
    if datapath.global_buffer_bytes == 0:
        return datapath
    everything = int((kernels.operand_elements * np.maximum(kernels.operand_element_bytes, 4)).sum())
    return datapath._replace(global_buffer_bytes=2 * (datapath.global_buffer_bytes + everything))


def leaving(found: ProgramKernels, program: Program) -> np.ndarray:
    """bool[m]: whether an occurrence's output leaves the program or a loop of it, so that it must be written."""
    return found.occurrence_leaves | np.isin(found.occurrence_root, np.array(program.outputs))


def residency_problem(
    found: ProgramKernels, leaves: np.ndarray, schedules: Schedules, datapath: Datapath, model: CostModel,
    variant: ChainVariant, *, count_tiles: bool = True,
) -> ResidencyProblem:  # fmt: skip
    """The problem of a program's occurrences in their order.

    `leaves`: :func:`leaving`; `schedules`: one row a kernel, or r rows that each occurrence may choose from, kernel
    after kernel (the tables are [m, 8] or [m, 8, r]). A tensor that stays lies in the buffer once and
    whole, as in DRAM (as float32 partial sums where those would leave the chip otherwise), and needs no tile; tiles of
    the others lie there twice, padded to registers. With `count_tiles` False they take no room: an upper bound of what
    residency can do. Where inputs stay in part, their cost is divided by their bytes; as stalls grow convexly with what
    is loaded, that is no less than the kernel's time. Raises ValueError for an unknown variant and as
    :func:`placement_costs`.
    """
    costs = placement_costs(found.kernels, schedules, datapath, model)
    return priced_problem(found, leaves, schedules, costs, datapath, variant, count_tiles=count_tiles)


def priced_problem(
    found: ProgramKernels, leaves: np.ndarray, schedules: Schedules, costs: PlacementCosts, datapath: Datapath,
    variant: ChainVariant, *, count_tiles: bool = True,
) -> ResidencyProblem:  # fmt: skip
    """The same where the rows' costs by placement are known already."""
    if variant not in get_args(ChainVariant):
        raise ValueError(f"residency: no variant '{variant}' in a chain; there are {', '.join(get_args(ChainVariant))}")
    kernels = found.kernels
    tiles, sums = tile_room(kernels, schedules, datapath, count_tiles)
    edges = found.occurrence_edge
    edges = edges[np.argsort(edges[:, 1], kind="stable")]
    tables = []
    choices = costs.seconds.shape[2]
    for choice in range(choices):
        table = _chain(
            compiled_view(kernels), found.occurrence_kernel, edges, leaves, costs.seconds[:, :, choice],
            costs.dram_bytes[:, :, choice], tiles[:, choice], sums[:, choice], variant == "paper-printed",
        )  # fmt: skip
        tables.append(table)
    seconds, dram_bytes, need = (
        np.stack([table[part] for table in tables], axis=2) if choices > 1 else tables[0][part] for part in range(3)
    )
    weight_bytes, may_stay = tables[0][3:]
    runs = found.occurrence_executions.reshape(-1, *[1] * (seconds.ndim - 1))
    return ResidencyProblem(
        seconds * runs, dram_bytes * runs, datapath.dram_bytes_per_s, need, weight_bytes, may_stay,
        datapath.global_buffer_bytes,
    )  # fmt: skip


def tile_room(
    kernels: Kernels, schedules: Schedules, datapath: Datapath, count_tiles: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Of r rows a kernel, kernel after kernel: int64[o, r] what both tiles of every operand take of the global buffer
    (nothing without one or where they are not counted), and bool[k, r] whether the output consists of partial sums
    until the kernel ends."""
    choices = schedules_a_kernel(kernels, schedules)
    tiles = np.zeros((len(kernels.operand_role), choices), dtype=np.int64)
    sums = np.zeros((kernels.number, choices), dtype=np.bool_)
    operands = operand_table(kernels, datapath.register_sublanes, datapath.register_lanes)
    _partial_sums(
        operands, kernels.loops, has_canonical_loops(kernels), schedules.tile, schedules.loop_order, LOOP_ORDERS, sums
    )  # fmt: skip
    if count_tiles and datapath.global_buffer_bytes > 0:
        _tile_bytes(operands, schedules.tile, tiles)
    return tiles, sums


@njit(cache=True, error_model="numpy")
def _tile_bytes(operands, tile, both) -> None:
    """Fill int64[o, r] with the bytes of the two tiles of every operand."""
    extents = np.ones(9, dtype=np.int64)
    choices = both.shape[1]
    for one in range(len(tile)):
        k, choice = one // choices, one % choices
        set_extents(extents, tile[one])
        for row in range(operands.offset[k], operands.offset[k + 1]):
            padded = node_elements_and_padded(operands.node, operands.dimension, row, extents)[1]
            both[row, choice] = np.int64(np.ceil(2.0 * padded * operands.weight[row]))


@njit(cache=True)
def _partial_sums(operands, loops, canonical, tile, order, orders, sums) -> None:
    """Fill bool[k, r]: a contracted loop that is cut lies outside of an output loop that is cut."""
    choices = sums.shape[1]
    for one in range(len(tile)):
        k = one // choices
        walked = operands.node[operands.offset[k + 1] - 1, LOOPS_WALKED]
        reducing = False
        for level in range(8):
            slot = orders[order[one], level] if canonical[k] else level
            if tile[one, slot] >= loops[k, slot]:
                continue
            if walked >> slot & 1:
                sums[k, one % choices] |= reducing
            else:
                reducing = True


@njit(cache=True, error_model="numpy")
def _chain(kernels, occurrence_kernel, edges, leaves, kernel_s, kernel_bytes, tile_bytes, sums, printed):
    m = len(occurrence_kernel)
    seconds, dram_bytes = np.empty((m, 8)), np.empty((m, 8))
    need = np.empty((m, 8), dtype=np.int64)
    weight_bytes = np.zeros(m, dtype=np.int64)
    may_stay = np.zeros(m, dtype=np.bool_)
    elsewhere = leaves.copy()  # somebody but the next occurrence reads the output
    for edge in range(len(edges)):
        producer, reader = edges[edge, 0], edges[edge, 1]
        if reader == producer + 1:
            may_stay[reader] = True
        else:
            elsewhere[producer] = True
    before = np.zeros(len(kernels.operand_role), dtype=np.bool_)  # operands from the occurrence before
    first_edge = 0
    before_bytes = 0.0
    for occurrence in range(m):
        k = occurrence_kernel[occurrence]
        first, output = kernels.operand_offset[k], kernels.operand_offset[k + 1] - 1
        for row in range(first, output):
            before[row] = False
        while first_edge < len(edges) and edges[first_edge, 1] == occurrence:
            if edges[first_edge, 0] == occurrence - 1:
                before[first + edges[first_edge, 2]] = True
            first_edge += 1
        main, all_inputs, largest = 0.0, 0.0, 0.0
        tiles_before, tiles_weight, tiles = 0.0, 0.0, 0.0
        for row in range(first, output):
            size = float(kernels.operand_elements[row]) * kernels.operand_element_bytes[row]
            tiles += tile_bytes[row]
            if kernels.operand_role[row] == WEIGHT:
                weight_bytes[occurrence] += np.int64(size)
                tiles_weight += tile_bytes[row]
            elif kernels.operand_role[row] == INPUT:
                all_inputs += size
                if size > largest:
                    largest = size
                if before[row]:
                    main += size
                    tiles_before += tile_bytes[row]
        if not may_stay[occurrence]:
            main = largest
        share = main / all_inputs if all_inputs > 0 else 1.0
        tiles += tile_bytes[output]
        element_bytes = float(kernels.operand_element_bytes[output])
        output_bytes = kernels.operand_elements[output] * element_bytes
        held_bytes = output_bytes
        if sums[k] and element_bytes < 4:
            held_bytes *= 4.0 / element_bytes
        # Of the inputs' cost, where the main one is loaded and where it stays; the printed programme pays for no other.
        saved_share = (1.0 - share, 1.0) if printed else (0.0, share)
        written_anyway = elsewhere[occurrence] and not printed
        for bits in range(8):
            priced = bits & 3 if written_anyway else bits
            without, kept = priced & 6, priced | 1
            saved = saved_share[bits & 1]
            seconds[occurrence, bits] = kernel_s[k, without] + saved * (kernel_s[k, kept] - kernel_s[k, without])
            moved = kernel_bytes[k, without, INPUT] * (1.0 - saved)
            moved += kernel_bytes[k, priced, WEIGHT] + kernel_bytes[k, priced, OUTPUT]
            dram_bytes[occurrence, bits] = moved
            own = tiles
            if bits & 1:
                own += before_bytes - tiles_before
            if bits & 2:
                own -= tiles_weight
            if bits & 4:
                own += held_bytes - tile_bytes[output]
            need[occurrence, bits] = np.int64(np.ceil(own))
        before_bytes = output_bytes
    return seconds, dram_bytes, need, weight_bytes, may_stay
