"""One kernel of a program as a row of :class:`lib.program.kernels.Kernels`."""

from math import prod

from lib.program.canonical_loops import CanonicalLoops
from lib.program.dataflow import IN_PLACE, Dataflow, Operand, UnsupportedInstruction, describe
from lib.program.indexed_maps import INDICES, TABLE, numbers_a_position
from lib.program.kernel_builder import KernelRow, OperandRow, OpRow
from lib.program.kernels import INPUT, KERNEL_CLASSES, OUTPUT, WEIGHT
from lib.program.op_form import op_form
from lib.program.program import LARGEST_INTEGER, ConvolutionDimensions, Instruction
from lib.program.region import PART_READERS, Region
from lib.program.work import NETWORKS

LARGEST_EXTENT = 2**31 - 1
"""Of a loop, and the most runs of a kernel: what arrays of kernels hold (int32)."""
PICKING = (*PART_READERS, "gather")
"""Opcodes that read a part of their first operand."""
CLASSES = {
    "convolution": "convolution", "dot": "dot", "reduce": "reduction", "sort": "reduction", "scan": "reduction",
    "reduce-window": "window", "select-and-scatter": "window",
}  # fmt: skip
"""Kernel class by the hero's opcode."""


def kernel_row(flow: Dataflow, members: tuple[int, ...]) -> tuple[KernelRow, tuple[int, ...]]:
    """The kernel of `members` (ascending; the root last) and the instruction that holds each of its operands.

    Raises ValueError for members that are no legal kernel, UnsupportedInstruction for what no kernel represents, sizes
    that arrays of kernels don't hold among it.
    """
    return region_row(_region(flow, members))


def region_row(region: Region) -> tuple[KernelRow, tuple[int, ...]]:
    """The kernel of a region that is complete, see :func:`kernel_row`. Raises UnsupportedInstruction."""
    flow, members = region.flow, tuple(reversed(region.members))
    loops = CanonicalLoops(region)
    node: dict[tuple, int] = {}
    operands: list[OperandRow] = []
    sources: list[int] = []
    reads: list[list[tuple]] = []
    inside = set(members)
    for member in members:
        keys: list[tuple] = []
        for operand in flow.operands[member]:
            if operand.source in inside:
                keys.append(("op", operand.source))
                continue
            if _is_overwritten(flow, member, operand):
                continue
            view, index_map = region.operand_view(member, operand)
            stride, order = loops.rows(flow.instructions[view], index_map)
            # Another slice, or another look-up, reads another part.
            cut = member if operand.position == 0 and flow.instructions[member].opcode in PICKING else -1
            key = ("operand", operand.source, cut, stride, order)
            if key not in node:
                node[key] = len(operands)
                operands.append(_operand_row(flow, member, operand, view, stride, order))
                sources.append(operand.source)
            keys.append(key)
        reads.append(keys)
    root = flow.instructions[members[-1]]
    written = prod(region.written)
    stride, order = loops.rows(root, region.maps[members[-1]])
    hero = region.hero if region.hero >= 0 else members[-1]
    ops: list[OpRow] = []
    hero_place = 0
    for member, keys in zip(members, reads, strict=True):
        instruction = flow.instructions[member]
        own = loops.iteration_stride() if member == region.hero else loops.rows(instruction, region.maps[member])[0]
        elements = written if member == members[-1] else instruction.elements
        read = tuple(dict.fromkeys(node[key] for key in keys))
        form = op_form(instruction, [flow.instructions[operand] for operand in instruction.operands])
        for _ in range(_rows(instruction)):
            ops.append(OpRow(instruction.opcode, own, elements, instruction.element_bytes, read, form))
            read = (len(operands) + len(ops) - 1,)
        node["op", member] = read[0]
        if member == hero:
            hero_place = len(ops) - 1
    row = KernelRow(
        kernel_class=KERNEL_CLASSES.index(_kernel_class(flow, region)),
        loops=loops.loops,
        loop_kind=loops.loop_kind,
        hero=hero_place,
        operands=[*operands, OperandRow(OUTPUT, stride, order, written, root.element_bytes)],
        ops=ops,
        base_dilation=loops.base_dilation,
    )
    _check_sizes(flow, members, row)
    return row, tuple(sources)


def _region(flow: Dataflow, members: tuple[int, ...]) -> Region:
    region = Region(flow, members[-1])
    for member in reversed(members[:-1]):
        readers = {use.reader for use in flow.uses[member]}
        if flow.output[member] or not readers <= set(members) or not region.add(member):
            raise ValueError(
                f"program '{flow.program.name}': {describe(flow.instructions[member])} can't be in the kernel of "
                f"'{flow.instructions[members[-1]].name}'"
            )
    return region


def _is_overwritten(flow: Dataflow, member: int, operand: Operand) -> bool:
    """Whether an update in place reads nothing of the array: all but what a scatter combines with."""
    opcode = flow.instructions[member].opcode
    return opcode in IN_PLACE and operand.position == TABLE and opcode != "scatter"


def _rows(instruction: Instruction) -> int:
    """Ops that stand for an instruction: one for each operation that it applies at a point. The network of a sort or
    scan has a loop for them."""
    return 1 if instruction.opcode in NETWORKS else instruction.body_ops


def _operand_row(
    flow: Dataflow, member: int, operand: Operand, view: int, stride: tuple[int, ...], order: tuple[int, ...]
) -> OperandRow:
    source, reader = flow.instructions[operand.source], flow.instructions[member]
    weight = source.opcode == "constant" or source.role == "weight"
    elements = min(source.elements, flow.instructions[view].elements)
    together = 1
    if reader.indexing is not None and operand.position == INDICES:
        together = numbers_a_position(reader.indexing, flow.instructions[reader.operands[INDICES]])
    role = WEIGHT if weight else INPUT
    return OperandRow(role, stride, order, elements // together, source.element_bytes * together)


def _kernel_class(flow: Dataflow, region: Region) -> str:
    if region.hero < 0:
        work = any(flow.is_elementwise(member) for member in region.members)
        return "elementwise" if work else "movement"
    hero = flow.instructions[region.hero]
    if hero.convolution is not None and _is_depthwise(flow, region.hero, hero.convolution):
        return "depthwise-convolution"
    return CLASSES[hero.opcode]


def _is_depthwise(flow: Dataflow, index: int, numbers: ConvolutionDimensions) -> bool:
    """One input channel a group; in the gradient of the weights: one output channel a batch group."""
    hero = flow.instructions[index]
    if numbers.feature_groups > 1:
        return flow.instructions[hero.operands[1]].dimensions[numbers.kernel_input_feature] == 1
    return numbers.batch_groups > 1 and numbers.batch_groups == hero.dimensions[numbers.output_feature]


def _check_sizes(flow: Dataflow, members: tuple[int, ...], row: KernelRow) -> None:
    """Loops, bytes and operations that arrays of kernels can hold."""
    where = f"program '{flow.program.name}', kernel '{flow.instructions[members[-1]].name}'"
    remedy = f"give the workload a smaller batch than {flow.program.batch}, or smaller tensors"
    longest = max(row.loops)
    if longest > LARGEST_EXTENT:
        widest = max(members, key=lambda member: flow.instructions[member].elements)
        raise UnsupportedInstruction(
            f"{where}: {describe(flow.instructions[widest])}: a loop of {longest} steps; a kernel's loops have at most"
            f" {LARGEST_EXTENT} (int32); {remedy}"
        )
    for member in members:
        if flow.instructions[member].bytes > LARGEST_INTEGER:
            raise UnsupportedInstruction(
                f"{where}: {describe(flow.instructions[member])}: its {flow.instructions[member].bytes} bytes are more"
                f" than a 64-bit integer counts; {remedy}"
            )
    if 2 * prod(row.loops) > LARGEST_INTEGER:
        raise UnsupportedInstruction(
            f"{where}: {describe(flow.instructions[members[-1]])}: its {2 * prod(row.loops)} operations are more than a"
            f" 64-bit integer counts; {remedy}"
        )
