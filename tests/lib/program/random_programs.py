"""Random small programs of every op kind that changes an array's form, and what they compute."""

from math import prod

import numpy as np
from hypothesis import strategies as st

from lib.program.program import DotDimensions, Indexing, Instruction, Program, Window
from tests.program_examples import NHWC, Sketch

SMALL = st.integers(1, 3)


@st.composite
def programs(draw, heroes: bool = True) -> Program:
    """Up to 12 instructions on two inputs, the last one and perhaps another as outputs.

    Without `heroes` no convolution or dot is drawn, so that :func:`results` can tell what the program computes.
    """
    s = Sketch()
    pool = [s.input(*draw(st.lists(SMALL, max_size=4))) for _ in range(2)]
    steps = [_elementwise, _broadcast, _reshape, _transpose, _reduce, _slice, _pad, _concatenate, _reverse, _pool]
    steps += [_dynamic_slice, _dynamic_update_slice, _gather, _sort]
    steps += [_dot, _convolution] if heroes else []
    for _ in range(draw(st.integers(1, 12))):
        pool.append(draw(st.sampled_from(steps))(draw, s, draw(st.sampled_from(pool)), pool))
    return s.program(*dict.fromkeys([pool[-1], draw(st.sampled_from(pool))]))


def results(program: Program, seed: int) -> list[np.ndarray]:
    """The outputs for random whole-number inputs, evaluated one instruction after the other."""
    values: list[np.ndarray] = []
    for instruction in program.instructions:
        values.append(_value(instruction, [values[operand] for operand in instruction.operands], seed))
        assert values[-1].shape == instruction.dimensions
    return [values[output] for output in program.outputs]


def _elementwise(draw, s: Sketch, x: int, pool: list[int]) -> int:
    if draw(st.booleans()):
        return s.op(draw(st.sampled_from(["negate", "abs"])), x)
    same = [other for other in pool if s.shape(other) == s.shape(x)]
    filled = [s.scalar(draw(st.sampled_from([0.0, 1.0, 2.0])), s.shape(x))] if s.shape(x) else []
    operands = draw(st.permutations([x, draw(st.sampled_from(same + filled))]))
    return s.op(draw(st.sampled_from(["add", "subtract", "multiply", "maximum"])), *operands)


def _broadcast(draw, s: Sketch, x: int, pool: list[int]) -> int:
    shape = list(s.shape(x))
    place = draw(st.integers(0, len(shape)))
    axes = [axis + (axis >= place) for axis in range(len(shape))]
    return s.broadcast(x, (*shape[:place], draw(SMALL), *shape[place:]), axes)


def _reshape(draw, s: Sketch, x: int, pool: list[int]) -> int:
    left = prod(s.shape(x))
    shape = []
    while left > 1 and len(shape) < 4:
        shape.append(draw(st.sampled_from([n for n in range(1, left + 1) if left % n == 0])))
        left //= shape[-1]
    return s.reshape(x, *shape, *([left] if left > 1 else []))


def _transpose(draw, s: Sketch, x: int, pool: list[int]) -> int:
    return s.transpose(x, draw(st.permutations(range(len(s.shape(x))))))


def _axes(draw, s: Sketch, x: int) -> tuple[int, ...]:
    return tuple(axis for axis in range(len(s.shape(x))) if draw(st.booleans()))


def _reduce(draw, s: Sketch, x: int, pool: list[int]) -> int:
    axes = _axes(draw, s, x)
    kept = [n for d, n in enumerate(s.shape(x)) if d not in axes]
    start = s.put("constant", (), value=(draw(st.sampled_from([0.0, 3.0])),))
    return s.put("reduce", kept, (x, start), axes=axes, reducer=draw(st.sampled_from(["add", "maximum"])))


def _slice(draw, s: Sketch, x: int, pool: list[int]) -> int:
    start = [draw(st.integers(0, n - 1)) for n in s.shape(x)]
    stride = [draw(st.integers(1, 2)) for _ in start]
    shape = [-(-(n - first) // step) for n, first, step in zip(s.shape(x), start, stride, strict=True)]
    return s.put("slice", shape, (x,), slice_start=tuple(start), slice_limit=s.shape(x), slice_stride=tuple(stride))


def _pad(draw, s: Sketch, x: int, pool: list[int]) -> int:
    low, high, interior = ([draw(st.integers(0, 1)) for _ in s.shape(x)] for _ in range(3))
    shape = [a + n + (n - 1) * i + b for n, a, b, i in zip(s.shape(x), low, high, interior, strict=True)]
    zero = s.put("constant", (), value=(0.0,))
    fields = {"padding_low": tuple(low), "padding_high": tuple(high), "padding_interior": tuple(interior)}
    return s.put("pad", shape, (x, zero), **fields)


def _concatenate(draw, s: Sketch, x: int, pool: list[int]) -> int:
    shape = s.shape(x)
    if not shape:
        return x
    axis = draw(st.integers(0, len(shape) - 1))
    fitting = [y for y in pool if (*s.shape(y)[:axis], *s.shape(y)[axis + 1 :]) == (*shape[:axis], *shape[axis + 1 :])]
    parts = (x, draw(st.sampled_from([y for y in fitting if len(s.shape(y)) == len(shape)])))
    total = sum(s.shape(part)[axis] for part in parts)
    return s.put("concatenate", (*shape[:axis], total, *shape[axis + 1 :]), parts, axes=(axis,))


def _reverse(draw, s: Sketch, x: int, pool: list[int]) -> int:
    return s.put("reverse", s.shape(x), (x,), axes=_axes(draw, s, x))


def _pool(draw, s: Sketch, x: int, pool: list[int]) -> int:
    rank = len(s.shape(x))
    windowed = draw(st.sets(st.integers(0, rank - 1), max_size=2)) if rank else set()
    size, stride, low = ([draw(SMALL) if d in windowed else 1 for d in range(rank)] for _ in range(3))
    high = tuple(n - 1 for n in size)
    shape = [
        (n + a - 1 + b - k) // step + 1 for n, a, b, k, step in zip(s.shape(x), low, high, size, stride, strict=True)
    ]
    ones = (1,) * rank
    window = Window(tuple(size), tuple(stride), tuple(a - 1 for a in low), high, ones, ones)
    start = s.put("constant", (), value=(draw(st.sampled_from([0.0, 3.0])),))
    return s.put("reduce-window", shape, (x, start), window=window, reducer=draw(st.sampled_from(["add", "maximum"])))


def _dynamic_slice(draw, s: Sketch, x: int, pool: list[int]) -> int:
    shape = [draw(st.integers(1, n)) for n in s.shape(x)]
    return s.put("dynamic-slice", shape, (x, *_offsets(draw, s, x)))


def _dynamic_update_slice(draw, s: Sketch, x: int, pool: list[int]) -> int:
    update = s.input(*(draw(st.integers(1, n)) for n in s.shape(x)))
    array = s.put("inserted-copy", s.shape(x), (x,))
    return s.put("dynamic-update-slice", s.shape(x), (array, update, *_offsets(draw, s, x)))


def _offsets(draw, s: Sketch, x: int) -> list[int]:
    """Known ones and others."""
    known = [draw(st.booleans()) for _ in s.shape(x)]
    return [
        s.put("constant", (), dtype="s32", value=(1.0,)) if k else s.put("parameter", (), dtype="s32", role="input")
        for k in known
    ]


def _gather(draw, s: Sketch, x: int, pool: list[int]) -> int:
    """Rows along the first dimension, by a vector or a matrix of one column."""
    if not s.shape(x):
        return x
    count, column = draw(SMALL), draw(st.booleans())
    indices = s.put("parameter", (count, 1) if column else (count,), dtype="s32", role="input")
    rest = s.shape(x)[1:]
    numbers = Indexing(tuple(range(1, len(rest) + 1)), (0,), (0,), vector=(1,) if column else ())
    return s.put("gather", (count, *rest), (x, indices), indexing=numbers)


def _sort(draw, s: Sketch, x: int, pool: list[int]) -> int:
    if not s.shape(x):
        return x
    axis = draw(st.integers(0, len(s.shape(x)) - 1))
    return s.put("sort", s.shape(x), (x,), axes=(axis,), body_ops=3)


def _dot(draw, s: Sketch, x: int, pool: list[int]) -> int:
    """By a weight that shares any of the left operand's dimensions as batch or contracted ones."""
    shape = s.shape(x)
    part = [draw(st.sampled_from(["batch", "contracted", "free"])) for _ in shape]
    batch, contracted, free = ([d for d, p in enumerate(part) if p == kind] for kind in ("batch", "contracted", "free"))
    columns = draw(st.lists(SMALL, max_size=2))
    right = [*((d, shape[d]) for d in (*batch, *contracted)), *((-1, n) for n in columns)]
    right = draw(st.permutations(right))
    places = [d for d, _ in right]
    weight = s.weight(*(n for _, n in right))
    output = [*(shape[d] for d in (*batch, *free)), *(n for d, n in right if d < 0)]
    numbers = DotDimensions(
        tuple(contracted), tuple(map(places.index, contracted)), tuple(batch), tuple(map(places.index, batch))
    )
    return s.put("dot", output, (x, weight), dot=numbers)


def _convolution(draw, s: Sketch, x: int, pool: list[int]) -> int:
    shape = s.shape(x)
    if len(shape) != 4:
        return _elementwise(draw, s, x, pool)
    groups = draw(st.sampled_from([n for n in range(1, shape[3] + 1) if shape[3] % n == 0]))
    size, stride, base, dilation = draw(SMALL), draw(SMALL), draw(st.integers(1, 2)), draw(st.integers(1, 2))
    pad = ((size - 1) * dilation, (size - 1) * dilation)
    pixels = [((n - 1) * base + 1 + pad[0]) // stride + 1 for n in shape[1:3]]
    weights = s.weight(size, size, shape[3] // groups, groups * draw(SMALL))
    output = (shape[0], *pixels, s.shape(weights)[3])
    options = {"stride": stride, "pad": pad, "base": base, "dilation": dilation, "groups": groups, "numbers": NHWC}
    return s.convolution(x, weights, output, **options)


def _value(one: Instruction, operands: list[np.ndarray], seed: int) -> np.ndarray:
    match one.opcode:
        case "parameter":
            return np.random.default_rng([seed, *one.name.encode()]).integers(-4, 5, one.dimensions).astype(float)
        case "constant":
            assert one.value is not None
            return np.array(one.value).reshape(one.dimensions)
        case "broadcast":
            shape = [one.dimensions[d] if d in one.axes else 1 for d in range(len(one.dimensions))]
            return np.broadcast_to(operands[0].transpose(np.argsort(one.axes)).reshape(shape), one.dimensions)
        case "reshape":
            return operands[0].reshape(one.dimensions)
        case "transpose":
            return operands[0].transpose(one.axes)
        case "slice":
            return operands[0][tuple(map(slice, one.slice_start, one.slice_limit, one.slice_stride))]
        case "pad":
            padded = np.full(one.dimensions, operands[1])
            places = zip(one.padding_low, one.padding_interior, operands[0].shape, strict=True)
            padded[np.ix_(*(low + (between + 1) * np.arange(n) for low, between, n in places))] = operands[0]
            return padded
        case "concatenate":
            return np.concatenate(operands, one.axes[0])
        case "reverse":
            return np.flip(operands[0], one.axes)
        case "reduce":
            return _REDUCERS[one.reducer].reduce(operands[0], axis=one.axes, initial=operands[1])
        case "reduce-window":
            return _pooled(one, *operands)
        case "inserted-copy":
            return operands[0]
        case "dynamic-slice":
            return operands[0][_window_at(operands[1:], operands[0].shape, one.dimensions)]
        case "dynamic-update-slice":
            updated = np.array(operands[0])
            updated[_window_at(operands[2:], one.dimensions, operands[1].shape)] = operands[1]
            return updated
        case "gather":
            return operands[0][np.clip(operands[1].reshape(-1), 0, len(operands[0]) - 1).astype(int)]
        case "sort":
            return np.sort(operands[0], one.axes[0])
    return {**_REDUCERS, "negate": np.negative, "abs": np.abs, "subtract": np.subtract, "multiply": np.multiply}[
        one.opcode
    ](*operands)


def _window_at(offsets: list[np.ndarray], whole: tuple[int, ...], part: tuple[int, ...]) -> tuple[slice, ...]:
    """Where a slice lies: moved inside where it would reach out."""
    starts = [int(np.clip(o, 0, n - size)) for o, n, size in zip(offsets, whole, part, strict=True)]
    return tuple(slice(start, start + size) for start, size in zip(starts, part, strict=True))


_REDUCERS = {"add": np.add, "maximum": np.maximum}


def _pooled(one: Instruction, x: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Pads, and between elements inserts, the starting value; then reduces window by window."""
    window = one.window
    assert window is not None
    extent = [(n - 1) * base + 1 for n, base in zip(x.shape, window.base_dilation, strict=True)]
    sides = zip(window.padding_low, extent, window.padding_high, strict=True)
    padded = np.full([sum(side) for side in sides], start)
    places = zip(window.padding_low, window.base_dilation, x.shape, strict=True)
    padded[np.ix_(*(low + base * np.arange(n) for low, base, n in places))] = x
    pooled = np.empty(one.dimensions)
    for place in np.ndindex(*one.dimensions):
        view = padded[tuple(slice(p * t, p * t + k) for p, t, k in zip(place, window.stride, window.size, strict=True))]
        pooled[place] = _REDUCERS[one.reducer].reduce(view, axis=None, initial=start)
    return pooled
