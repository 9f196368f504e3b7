"""Index maps of what convolutions, dots, reductions and window reductions read, and the slots of their loops.

Source of the dimension numbers: OpenXLA's operation semantics (ConvWithGeneralPadding, DotGeneral, Reduce,
ReduceWindow).
"""

from typing import TYPE_CHECKING, NamedTuple

from lib.program.dataflow import UnsupportedInstruction, describe
from lib.program.index_map import IndexMap, NotRepresentable, Term, trimmed, whole
from lib.program.kernels import (
    BATCH,
    GROUP,
    IN_C,
    KERNEL_H,
    OUT_C,
    OUT_H,
    OUT_W,
    REDUCTION,
    WINDOW,
)
from lib.program.program import Instruction
from lib.program.work import network_steps

if TYPE_CHECKING:
    from lib.program.region import Region

Entry = tuple[Term, ...]


class HeroMaps(NamedTuple):
    """What a hero adds to its kernel."""

    operands: tuple[IndexMap, ...]
    """Map of each operand."""
    slots: dict[int, list[int]] | None
    """Loops (major first) of each canonical slot; None: numbered from slot 0."""
    base_dilation: tuple[int, int] = (1, 1)
    """Of the first operand along out_h and out_w."""


def hero_maps(region: "Region", index: int) -> HeroMaps:
    """The maps of the operands of instruction `index`, whose own map the region holds; adds loops to the region.

    Raises UnsupportedInstruction for windows over more than two dimensions and NotRepresentable.
    """
    instructions = region.flow.instructions
    hero = instructions[index]
    operands = [instructions[operand] for operand in hero.operands]
    make = {
        "convolution": _convolution,
        "dot": _dot,
        "reduce": _reduce,
        "reduce-window": _reduce_window,
        "select-and-scatter": _select_and_scatter,
        "sort": _network,
        "scan": _network,
    }.get(hero.opcode)
    if make is None:
        raise UnsupportedInstruction(f"{describe(hero)}: no canonical loops are known for it")
    return make(region, index, hero, operands)


def _convolution(region: "Region", index: int, hero: Instruction, operands: list[Instruction]) -> HeroMaps:
    numbers, window = hero.convolution, hero.window
    assert numbers is not None
    source, weights = operands
    if len(numbers.output_spatial) > 2:
        raise UnsupportedInstruction(
            f"{describe(hero)}: {len(numbers.output_spatial)} spatial dimensions; kernels have at most 2"
        )
    groups = numbers.feature_groups * numbers.batch_groups
    group, out_c = _split_features(region, index, numbers.output_feature, groups)
    batch = region.maps[index][numbers.output_batch]
    in_c = _new(region, weights.dimensions[numbers.kernel_input_feature], REDUCTION)

    input_entries: list[Entry] = [()] * len(source.dimensions)
    weight_entries: list[Entry] = [()] * len(weights.dimensions)
    input_entries[numbers.input_batch] = group + batch if numbers.batch_groups > 1 else batch
    input_entries[numbers.input_feature] = group + in_c if numbers.feature_groups > 1 else in_c
    weight_entries[numbers.kernel_input_feature] = in_c
    weight_entries[numbers.kernel_output_feature] = group + out_c
    slots = {BATCH: _loops(batch), OUT_C: _loops(out_c), IN_C: _loops(in_c), GROUP: _loops(group)}

    dilation = [1, 1]
    first = 2 - len(numbers.output_spatial)
    for position, dimension in enumerate(numbers.output_spatial):
        assert window is not None
        axis = first + position
        out = region.maps[index][dimension]
        dilation[axis] = window.base_dilation[position]
        taps = _taps(region, window.size[position], dilation[axis])
        shared = _shared(out, taps, window.stride[position], window.window_dilation[position])
        input_entries[numbers.input_spatial[position]] = shared
        weight_entries[numbers.kernel_spatial[position]] = taps
        slots[OUT_H + axis] = _loops(out)
        slots[KERNEL_H + axis] = _loops(taps)
    maps = (trimmed(source, input_entries), trimmed(weights, weight_entries))
    return HeroMaps(maps, slots, (dilation[0], dilation[1]))


def _split_features(region: "Region", index: int, dimension: int, groups: int) -> tuple[Entry, Entry]:
    """(group, out_c) terms of the output features."""
    features = region.maps[index][dimension]
    extent = region.flow.instructions[index].dimensions[dimension]
    if groups == 1:
        return (), features
    if groups == extent:
        return features, ()
    if len(features) > 1:
        raise NotRepresentable("grouped features that several loops walk")
    major, minor = region.split_loop(features[0].loop, groups)
    return whole([major]), whole([minor])


def _dot(region: "Region", index: int, hero: Instruction, operands: list[Instruction]) -> HeroMaps:
    numbers = hero.dot
    assert numbers is not None
    left, right = operands
    entries = list(region.maps[index])
    batches = len(numbers.left_batch)
    left_free = _free_dimensions(left, numbers.left_contracting + numbers.left_batch)
    right_free = _free_dimensions(right, numbers.right_contracting + numbers.right_batch)
    left_entries: list[Entry] = [()] * len(left.dimensions)
    right_entries: list[Entry] = [()] * len(right.dimensions)
    for position in range(batches):
        left_entries[numbers.left_batch[position]] = entries[position]
        right_entries[numbers.right_batch[position]] = entries[position]
    for position, dimension in enumerate(left_free):
        left_entries[dimension] = entries[batches + position]
    for position, dimension in enumerate(right_free):
        right_entries[dimension] = entries[batches + len(left_free) + position]
    contracted: list[int] = []
    for left_dimension, right_dimension in zip(numbers.left_contracting, numbers.right_contracting, strict=True):
        entry = _new(region, left.dimensions[left_dimension], REDUCTION)
        left_entries[left_dimension] = right_entries[right_dimension] = entry
        contracted += _loops(entry)

    rows = [loop for entry in entries[batches : batches + len(left_free)] for loop in _loops(entry)]
    slots = {
        GROUP: [loop for entry in entries[:batches] for loop in _loops(entry)],
        OUT_C: [loop for entry in entries[batches + len(left_free) :] for loop in _loops(entry)],
        IN_C: contracted,
        **_row_slots(rows),
    }
    return HeroMaps((trimmed(left, left_entries), trimmed(right, right_entries)), slots)


def _row_slots(rows: list[int]) -> dict[int, list[int]]:
    """A dot's rows: one loop is the batch; of more, the minor ones are out_w and out_h, the others the batch."""
    if len(rows) <= 2:
        return {BATCH: rows[:1], OUT_W: rows[1:]}
    return {BATCH: rows[:-2], OUT_H: rows[-2:-1], OUT_W: rows[-1:]}


def _reduce(region: "Region", index: int, hero: Instruction, operands: list[Instruction]) -> HeroMaps:
    arrays, starts = _arrays_and_starts(operands)
    source = arrays[0]
    kept = iter(region.maps[index])
    entries = [
        _new(region, extent, REDUCTION) if dimension in hero.axes else next(kept)
        for dimension, extent in enumerate(source.dimensions)
    ]
    return HeroMaps((*(trimmed(source, entries) for _ in arrays), *starts), None)


def _arrays_and_starts(operands: list[Instruction]) -> tuple[list[Instruction], list[IndexMap]]:
    """The arrays that are reduced together, and the maps of their starting values."""
    count = len(operands) // 2
    return operands[:count], [((),) * len(start.dimensions) for start in operands[count:]]


def _network(region: "Region", index: int, hero: Instruction, operands: list[Instruction]) -> HeroMaps:
    """A loop, which no array extends along, over the operations that each element takes part in."""
    region.new_loop(max(2, network_steps(hero) * hero.body_ops), REDUCTION)
    own = region.maps[index]
    return HeroMaps(tuple(own if one.dimensions else () for one in operands), None)


def _reduce_window(region: "Region", index: int, hero: Instruction, operands: list[Instruction]) -> HeroMaps:
    window = hero.window
    assert window is not None
    arrays, starts = _arrays_and_starts(operands)
    own = region.maps[index]
    windowed = [
        dimension
        for dimension, (extent, size, stride, base) in enumerate(
            zip(hero.dimensions, window.size, window.stride, window.base_dilation, strict=True)
        )
        if size > 1 or (extent > 1 and max(stride, base) > 1)
    ]
    if len(windowed) > 2:
        raise UnsupportedInstruction(
            f"{describe(hero)}: a window over {len(windowed)} dimensions; kernels have at most 2"
        )
    slots: dict[int, list[int]] = {}
    dilation = [1, 1]
    entries: list[Entry] = []
    for dimension, entry in enumerate(own):
        if dimension not in windowed:
            entries.append(entry)
            continue
        axis = 2 - len(windowed) + windowed.index(dimension)
        dilation[axis] = window.base_dilation[dimension]
        taps = _taps(region, window.size[dimension], dilation[axis])
        entries.append(_shared(entry, taps, window.stride[dimension], window.window_dilation[dimension]))
        slots[OUT_H + axis], slots[KERNEL_H + axis] = _loops(entry), _loops(taps)
    slots |= _unwindowed_slots(own, windowed)
    maps = (*(trimmed(source, entries) for source in arrays), *starts)
    return HeroMaps(maps, slots, (dilation[0], dilation[1]))


def _unwindowed_slots(own: IndexMap, windowed: list[int]) -> dict[int, list[int]]:
    others = [_loops(entry) for dimension, entry in enumerate(own) if dimension not in windowed]
    return {BATCH: [loop for loops in others[:-1] for loop in loops], OUT_C: others[-1] if others else []}


def _select_and_scatter(region: "Region", index: int, hero: Instruction, operands: list[Instruction]) -> HeroMaps:
    """Each element of the result looks at the windows that it lies in, ceil(size / stride) a dimension: along a
    windowed dimension its gradients are read as by a transposed convolution. The array of which the windows are is
    read at the element alone; what lies around it in its windows is left out."""
    window = hero.window
    assert window is not None
    own = region.maps[index]
    windowed = [d for d, (size, stride) in enumerate(zip(window.size, window.stride, strict=True)) if size * stride > 1]
    if len(windowed) > 2:
        raise UnsupportedInstruction(
            f"{describe(hero)}: a window over {len(windowed)} dimensions; kernels have at most 2"
        )
    slots: dict[int, list[int]] = {}
    dilation = [1, 1]
    gradient: list[Entry] = list(own)
    for position, dimension in enumerate(windowed):
        axis = 2 - len(windowed) + position
        stride = dilation[axis] = window.stride[dimension]
        taps = _taps(region, -(-window.size[dimension] // stride), stride)
        gradient[dimension] = _shared(own[dimension], taps, 1, stride)
        slots[OUT_H + axis], slots[KERNEL_H + axis] = _loops(own[dimension]), _loops(taps)
    slots |= _unwindowed_slots(own, windowed)
    start: IndexMap = ((),) * len(operands[2].dimensions)
    return HeroMaps((own, trimmed(operands[1], gradient), start), slots, (dilation[0], dilation[1]))


def _new(region: "Region", extent: int, kind: int) -> Entry:
    return whole([region.new_loop(extent, kind)]) if extent > 1 else ()


def _taps(region: "Region", size: int, base_dilation: int) -> Entry:
    """The window's loop; a window of 1 has one too under base dilation, which belongs to window loops."""
    return whole([region.new_loop(size, WINDOW)]) if size > 1 or base_dilation > 1 else ()


def _shared(out: Entry, taps: Entry, stride: int, dilation: int) -> Entry:
    """A dimension walked by an output loop and a window loop."""
    if not taps:
        return _strided(out, stride)
    if len(out) > 1:
        raise NotRepresentable("a windowed dimension that several loops walk")
    loop = out[0].loop if out else -1
    return (Term(loop, stride if out else 1, taps[0].loop, dilation),)


def _strided(entry: Entry, stride: int) -> Entry:
    if stride == 1 or not entry:
        return entry
    if len(entry) > 1:
        raise NotRepresentable("a strided dimension that several loops walk")
    return (Term(entry[0].loop, stride),)


def _loops(entry: Entry) -> list[int]:
    return [term.loop for term in entry]


def _free_dimensions(operand: Instruction, taken: tuple[int, ...]) -> list[int]:
    return [dimension for dimension in range(len(operand.dimensions)) if dimension not in taken]
