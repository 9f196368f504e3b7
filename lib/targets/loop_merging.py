"""A matrix op as IREE sees it once its own passes have merged what can be one loop.

IREE takes tile sizes by loop, and forgets them where it rewrites the op. So the op is written as it would be rewritten:
a convolution without a window (1x1, or as large as the image) is a matrix product of the pixels that it reads, loops of
one step go, and loops that walk all arrays as one do so as one. Convolutions with a window keep all of their loops.
"""

from lib.program.kernels import BATCH
from lib.targets.matrix_op import Dimension, Loop, MatrixOp

Arrays = list[tuple[Dimension, ...]]


def merged(op: MatrixOp) -> MatrixOp:
    """The op with the fewest loops, on input that holds its padding and inserted zeros already, and without a window no
    pixels between those that are read."""
    arrays = [tuple(_with_zeros(dimension) for dimension in array) for array in (op.left, op.right, op.output)]
    slid = [tuple(_without_window(dimension, op.loops) for dimension in array) for array in arrays]
    if any(dimension.tap >= 0 for array in slid for dimension in array):
        return _single_steps_first(op._replace(left=arrays[0], right=arrays[1], output=arrays[2]))
    slid = [tuple(_without_steps(dimension, op.loops) for dimension in array) for array in slid]
    loops: dict[int, Loop] = dict(enumerate(op.loops))
    needed = {dimension.loop for array in slid for dimension in array if dimension.extent > 1}
    for number in [number for number, loop in loops.items() if loop.extent == 1 and number not in needed]:
        del loops[number]
    slid = [tuple(dimension for dimension in array if dimension.loop in loops) for array in slid]
    pair = _mergeable(loops, slid)
    while pair is not None:
        major, minor = pair
        parts = loops[major].parts + loops.pop(minor).parts
        loops[major] = loops[major]._replace(parts=parts)
        slid = [_with_one_dimension(array, major, minor) for array in slid]
        pair = _mergeable(loops, slid)
    return _numbered(op, loops, slid)


def _with_zeros(dimension: Dimension) -> Dimension:
    return dimension._replace(extent=dimension.padded, spread=1, before=0, after=0)


def _without_window(dimension: Dimension, loops: tuple[Loop, ...]) -> Dimension:
    """Walked by one loop where the other one of a window has one step."""
    if dimension.tap < 0:
        return dimension
    if loops[dimension.tap].extent == 1:
        return dimension._replace(tap=-1, dilation=1)
    if loops[dimension.loop].extent == 1:
        return dimension._replace(loop=dimension.tap, stride=dimension.dilation, tap=-1, dilation=1)
    return dimension


def _without_steps(dimension: Dimension, loops: tuple[Loop, ...]) -> Dimension:
    """With the elements alone that its loop walks: a slice that IREE makes in a dispatch of its own."""
    if dimension.stride == 1:
        return dimension
    return dimension._replace(extent=loops[dimension.loop].extent, stride=1)


def _mergeable(loops: dict[int, Loop], arrays: Arrays) -> tuple[int, int] | None:
    """Two loops, the major one first, of which each array has both, one dimension after the other, or none."""
    for major in loops:
        for minor in loops:
            if major == minor or loops[major].contracted != loops[minor].contracted:
                continue
            if all(_one_after_the_other(array, major, minor, loops[minor].extent) for array in arrays):
                return major, minor
    return None


def _one_after_the_other(array: tuple[Dimension, ...], major: int, minor: int, steps: int) -> bool:
    places = {dimension.loop: place for place, dimension in enumerate(array)}
    if major not in places or minor not in places:
        return major not in places and minor not in places
    first, second = array[places[major]], array[places[minor]]
    return places[minor] == places[major] + 1 and first.stride == second.stride == 1 and second.extent == steps


def _with_one_dimension(array: tuple[Dimension, ...], major: int, minor: int) -> tuple[Dimension, ...]:
    extents = {dimension.loop: dimension.extent for dimension in array}
    return tuple(
        one._replace(extent=one.extent * extents[minor]) if one.loop == major else one
        for one in array
        if one.loop != minor
    )


def _numbered(op: MatrixOp, loops: dict[int, Loop], arrays: Arrays) -> MatrixOp:
    """Parallel loops as the output has them, then contracted ones as the left operand has them: IREE's order."""
    order = [dimension.loop for dimension in arrays[2]]
    walked = [loop for dimension in arrays[0] for loop in (dimension.loop, dimension.tap) if loop >= 0]
    order += [loop for loop in walked if loops[loop].contracted]
    place = {number: position for position, number in enumerate(order)} | {-1: -1}
    moved = [tuple(one._replace(loop=place[one.loop], tap=place[one.tap]) for one in array) for array in arrays]
    return op._replace(loops=tuple(loops[number] for number in order), left=moved[0], right=moved[1], output=moved[2])


def _single_steps_first(op: MatrixOp) -> MatrixOp:
    """With the output's dimensions of one element before the others, where IREE looks for a batch of one."""
    single = [one for one in op.output if op.loops[one.loop].extent == 1 and op.loops[one.loop].parts[0].slot == BATCH]
    output = tuple(single + [one for one in op.output if one not in single])
    return _numbered(op, dict(enumerate(op.loops)), [op.left, op.right, output])
