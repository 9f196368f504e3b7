"""Rewrite rules of simplification, by opcode.

A rule takes the graph so far and an instruction whose operands are in it. It returns the index of an instruction that
already computes the same, a replacement (which is rewritten in turn), or None where it does not apply. Rules follow
XLA's AlgebraicSimplifier; those that keep no exact bits (division by a constant) are the ones that XLA applies too.
"""

from collections.abc import Callable

from lib.program.folding import folded_value, is_float
from lib.program.graph import Graph
from lib.program.op_kinds import ELEMENTWISE_CLASSES, op_classes_by_opcode
from lib.program.program import LOOP_OPCODES, Instruction, Window, row_major
from lib.program.reshaping import RESHAPING_RULES, starts_neutral, whole_slice

Rule = Callable[[Graph, Instruction], "int | Instruction | None"]


def rewritten(graph: Graph, instruction: Instruction) -> int:
    """Index of the simplest known form of the instruction, which is added if it is new."""
    while True:
        outcome = _first_outcome(graph, instruction)
        if outcome is None:
            return graph.add(instruction)
        if isinstance(outcome, int):
            return outcome
        instruction = outcome


def _first_outcome(graph: Graph, instruction: Instruction) -> int | Instruction | None:
    for rule in (
        count_steps,
        fold_constant,
        *RULES.get(instruction.opcode, ()),
        sink_broadcasts,
        sink_reshapes,
        fold_large_constant,
    ):
        outcome = rule(graph, instruction)
        if outcome is not None:
            return outcome
    return None


def fold_constant(graph: Graph, instruction: Instruction) -> Instruction | None:
    """An op on small constants is a constant; one value everywhere is a broadcast scalar."""
    if instruction.opcode == "constant":
        value = instruction.value
        if value is None or not instruction.dimensions or len(set(value)) > 1:
            return None
        scalar = graph.add(instruction.replace(dimensions=(), layout=(), value=value[:1]))
        return instruction.replace(opcode="broadcast", operands=(scalar,), value=None)
    if instruction.opcode == "broadcast" and not graph[instruction.operands[0]].dimensions:
        return None
    value = folded_value(instruction, [_expanded(graph, graph[operand]) for operand in instruction.operands])
    if value is None:
        return None
    return Instruction(
        instruction.name, "constant", instruction.dtype, instruction.dimensions, instruction.layout, value=value
    )


def _expanded(graph: Graph, instruction: Instruction) -> Instruction:
    """A small broadcast of known values as the constant that it is; else the instruction itself."""
    if instruction.opcode != "broadcast":
        return instruction
    value = folded_value(instruction, [graph[instruction.operands[0]]])
    return instruction if value is None else instruction.replace(value=value)


def count_steps(graph: Graph, instruction: Instruction) -> Instruction | None:
    """A number made of constants and counters of loops counts steps too: the scalar unit computes it beside the
    loop's work (slice offsets, say), so it costs nothing."""
    operands = [graph[operand] for operand in instruction.operands]
    counters = [one for one in operands if one.opcode == "loop-counter"]
    scalar = op_classes_by_opcode()[instruction.opcode] in ELEMENTWISE_CLASSES or instruction.opcode == "reshape"
    if not (counters and scalar) or instruction.elements != 1:
        return None
    others = [index for index, one in zip(instruction.operands, operands, strict=True) if one not in counters]
    if any(graph[index].opcode != "constant" and graph.scalar(index) is None for index in others):
        return None
    return Instruction(
        instruction.name, "loop-counter", instruction.dtype, instruction.dimensions, instruction.layout,
        executions=max(one.executions for one in counters),
    )  # fmt: skip


def fold_large_constant(graph: Graph, instruction: Instruction) -> Instruction | None:
    """An op on constants alone is a constant, whose values are left out."""
    operands = [graph[operand] for operand in instruction.operands]
    if instruction.opcode in ("broadcast", "iota", *LOOP_OPCODES) or not operands:
        return None
    sources = [graph[one.operands[0]] if one.opcode == "broadcast" else one for one in operands]
    if any(source.opcode not in ("constant", "iota") for source in sources):
        return None
    return Instruction(instruction.name, "constant", instruction.dtype, instruction.dimensions, instruction.layout)


def sink_reshapes(graph: Graph, instruction: Instruction) -> Instruction | None:
    """An elementwise op on values that are all reshaped alike is done before the reshape."""
    if op_classes_by_opcode()[instruction.opcode] not in ELEMENTWISE_CLASSES:
        return None
    operands = [graph[operand] for operand in instruction.operands]
    reshaped = [operand for operand in operands if operand.opcode == "reshape"]
    shapes = {(graph[one.operands[0]].dimensions, graph[one.operands[0]].layout) for one in reshaped}
    others = [operand for operand in operands if operand.opcode != "reshape" and operand.dimensions]
    scalars = all(one.opcode == "broadcast" and not graph[one.operands[0]].dimensions for one in others)
    if len(shapes) != 1 or not scalars:
        return None
    dimensions, layout = shapes.pop()
    sources = []
    for index, operand in zip(instruction.operands, operands, strict=True):
        if operand.opcode == "reshape":
            sources.append(operand.operands[0])
        elif operand.dimensions:
            sources.append(graph.add(operand.replace(dimensions=dimensions, layout=layout)))
        else:
            sources.append(index)
    inner = instruction.replace(dimensions=dimensions, layout=layout, operands=tuple(sources))
    return Instruction(
        f"{instruction.name}.reshape", "reshape", instruction.dtype, instruction.dimensions, instruction.layout,
        (rewritten(graph, inner),),
    )  # fmt: skip


def sink_broadcasts(graph: Graph, instruction: Instruction) -> Instruction | None:
    """An elementwise op on values that are all broadcast alike is done before the broadcast."""
    if op_classes_by_opcode()[instruction.opcode] not in ELEMENTWISE_CLASSES or not instruction.dimensions:
        return None
    operands = [graph[operand] for operand in instruction.operands]
    wide = [operand for operand in operands if operand.dimensions]
    if any(operand.opcode != "broadcast" for operand in wide):
        return None
    sources = [graph[operand.operands[0]] for operand in wide]
    forms = {
        (source.dimensions, operand.axes) for source, operand in zip(sources, wide, strict=True) if source.dimensions
    }
    if len(forms) > 1:
        return None
    dimensions, axes = forms.pop() if forms else ((), ())
    layout = row_major(len(dimensions))
    narrow = []
    for index, operand in zip(instruction.operands, operands, strict=True):
        source = operand.operands[0] if operand.dimensions else index
        if operand.dimensions and not graph[source].dimensions and dimensions:
            source = graph.add(operand.replace(dimensions=dimensions, layout=layout))
        narrow.append(source)
    inner = instruction.replace(
        name=f"{instruction.name}.scalar", dimensions=dimensions, layout=layout, operands=tuple(narrow)
    )
    return Instruction(
        instruction.name, "broadcast", instruction.dtype, instruction.dimensions, instruction.layout,
        (rewritten(graph, inner),), axes=axes,
    )  # fmt: skip


def drop_same_type(graph: Graph, instruction: Instruction) -> int | None:
    """A convert to the type that the operand has."""
    operand = instruction.operands[0]
    return operand if graph[operand].dtype == instruction.dtype else None


def neutral_element(graph: Graph, instruction: Instruction) -> int | None:
    """x + 0, x - 0, x * 1, x / 1."""
    left, right = instruction.operands
    neutral = 0.0 if instruction.opcode in ("add", "subtract") else 1.0
    if graph.scalar(right) == neutral:
        return left
    if instruction.opcode in ("add", "multiply") and graph.scalar(left) == neutral:
        return right
    return None


def divide_by_constant(graph: Graph, instruction: Instruction) -> Instruction | None:
    """x / c is x * (1 / c)."""
    left, right = instruction.operands
    value = graph.scalar(right)
    if value is None or value == 0 or not is_float(instruction.dtype):
        return None
    return instruction.replace(opcode="multiply", operands=(left, graph.filled(graph[right], 1 / value)))


def simple_power(graph: Graph, instruction: Instruction) -> int | Instruction | None:
    """x ** 1, x ** 2, x ** 0.5, x ** -0.5."""
    base, exponent = instruction.operands
    match graph.scalar(exponent):
        case 1.0:
            return base
        case 2.0:
            return instruction.replace(opcode="multiply", operands=(base, base))
        case 0.5:
            return instruction.replace(opcode="sqrt", operands=(base,))
        case -0.5:
            return instruction.replace(opcode="rsqrt", operands=(base,))
    return None


def decided_select(graph: Graph, instruction: Instruction) -> int | None:
    """A select whose condition is known, or whose choices are the same."""
    condition, yes, no = instruction.operands
    known = graph.scalar(condition)
    if yes == no:
        return yes
    return None if known is None else (yes if known else no)


def double_negation(graph: Graph, instruction: Instruction) -> int | None:
    """-(-x), not(not(x))."""
    operand = graph[instruction.operands[0]]
    return operand.operands[0] if operand.opcode == instruction.opcode else None


def reduce_one_value(graph: Graph, instruction: Instruction) -> int | None:
    """The sum of n equal known values v is n * v."""
    if len(instruction.operands) != 2:
        return None
    value, start = (graph.scalar(operand) for operand in instruction.operands)
    if instruction.reducer != "add" or value is None or start is None:
        return None
    count = graph[instruction.operands[0]].elements // instruction.elements
    return graph.filled(instruction, value * count + start)


def pad_into_window(graph: Graph, instruction: Instruction) -> Instruction | None:
    """What is padded around (or, interior, between) the pixels that a window runs over is the window's own padding:
    zeros for a convolution, the starting value for a reduce-window."""
    if len(instruction.operands) != 2:
        return None
    index, second = instruction.operands
    if index not in graph.foldable_pads or graph[index].opcode != "pad" or instruction.window is None:
        return None
    pad = graph[index]
    neutral: float | None = 0.0
    if instruction.convolution is not None:
        spatial = instruction.convolution.input_spatial
    else:
        neutral, spatial = graph.scalar(second), tuple(range(len(pad.dimensions)))
    padding = zip(pad.padding_low, pad.padding_high, pad.padding_interior, strict=True)
    outside = any(any(sizes) for dimension, sizes in enumerate(padding) if dimension not in spatial)
    if outside or neutral is None or graph.scalar(pad.operands[1]) != neutral:
        return None
    window = _padded_window(instruction.window, pad, spatial)
    return instruction.replace(operands=(pad.operands[0], second), window=window) if window else None


def _padded_window(window: Window, pad: Instruction, spatial: tuple[int, ...]) -> Window | None:
    low, high, dilation = list(window.padding_low), list(window.padding_high), list(window.base_dilation)
    for position, dimension in enumerate(spatial):
        interior = pad.padding_interior[dimension]
        edges = (pad.padding_low[dimension], pad.padding_high[dimension])
        # Padding before and after dilation do not compose where both insert zeros between pixels.
        if dilation[position] != 1 and (interior or any(edges)):
            return None
        low[position] += edges[0]
        high[position] += edges[1]
        dilation[position] = dilation[position] * (interior + 1)
    return Window(
        window.size, window.stride, tuple(low), tuple(high), window.window_dilation, tuple(dilation), window.reversal
    )


def window_of_one(graph: Graph, instruction: Instruction) -> int | None:
    """A reduce-window over windows of one element, none of it padding, that moves by one from a neutral value."""
    window, operand = instruction.window, instruction.operands[0]
    assert window is not None
    plain = all(extent == 1 for extent in (*window.size, *window.stride, *window.base_dilation))
    padded = any((*window.padding_low, *window.padding_high))
    return operand if plain and not padded and starts_neutral(graph, instruction) else None


def known_start(graph: Graph, instruction: Instruction) -> Instruction | None:
    """A dynamic-slice at known offsets is a slice; offsets are moved to where the slice lies inside."""
    source = graph[instruction.operands[0]]
    offsets = [graph.scalar(operand) for operand in instruction.operands[1:]]
    if len(offsets) != len(source.dimensions) or any(offset is None for offset in offsets):
        return None
    starts = tuple(
        int(min(max(offset or 0, 0), extent - part))
        for offset, extent, part in zip(offsets, source.dimensions, instruction.dimensions, strict=True)
    )
    limits = tuple(start + part for start, part in zip(starts, instruction.dimensions, strict=True))
    return instruction.replace(
        opcode="slice", operands=instruction.operands[:1], slice_start=starts, slice_limit=limits,
        slice_stride=(1,) * len(starts),
    )  # fmt: skip


def whole_update(graph: Graph, instruction: Instruction) -> int | None:
    """An update of everything."""
    update = instruction.operands[1]
    return update if graph[update].dimensions == instruction.dimensions else None


RULES: dict[str, tuple[Rule, ...]] = {
    **RESHAPING_RULES,
    "convert": (drop_same_type,),
    "add": (neutral_element,),
    "subtract": (neutral_element,),
    "multiply": (neutral_element,),
    "divide": (neutral_element, divide_by_constant),
    "power": (simple_power,),
    "select": (decided_select,),
    "negate": (double_negation,),
    "not": (double_negation,),
    "reduce": (*RESHAPING_RULES["reduce"], reduce_one_value),
    "convolution": (pad_into_window,),
    "reduce-window": (window_of_one, pad_into_window),
    "dynamic-slice": (whole_slice, known_start),
    "dynamic-update-slice": (whole_update,),
}
