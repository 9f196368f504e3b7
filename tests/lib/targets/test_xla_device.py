"""What modules compute, when XLA compiles them, against numpy; and jax's methods that `lib.targets.xla_device` uses."""

from math import erf

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from lib.fusion import FusionSpace
from lib.program.program import ConvolutionDimensions, DotDimensions, Indexing, Program, Window
from lib.targets.xla_module import KernelModules, program_module
from lib.targets.xla_repeat import repeated, signature
from tests.lib.program.program_examples import NHWC, Writer, dense
from tests.lib.program.random_programs import programs, results
from tests.lib.targets.test_xla_module import ROWS

pytest.importorskip("jax", reason="runtime xla needs jax and jaxlib (requirements-devices.lock)")

from lib.targets import xla_device

FLOATS = {
    "negate": np.negative, "abs": np.abs, "sign": np.sign, "floor": np.floor, "ceil": np.ceil,
    "round-nearest-even": np.round, "round-nearest-afz": lambda x: np.sign(x) * np.floor(np.abs(x) + 0.5),
    "exponential": np.exp, "exponential-minus-one": np.expm1, "tanh": np.tanh, "sine": np.sin, "cosine": np.cos,
    "tan": np.tan, "cbrt": np.cbrt, "logistic": lambda x: 1 / (1 + np.exp(-x)), "erf": np.vectorize(erf),
    "copy": lambda x: x,
}  # fmt: skip
POSITIVE = {"log": np.log, "log-plus-one": np.log1p, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x)}
PAIRS = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum,
    "minimum": np.minimum, "atan2": np.arctan2, "remainder": np.fmod,
}  # fmt: skip
WHOLE = {
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "shift-left": np.left_shift,
    "shift-right-arithmetic": np.right_shift,
}  # fmt: skip
X = np.array([-2.5, -1.25, -0.5, 0.5, 1.5, 2.75])
Y = np.array([1.5, -0.75, 2.0, 0.25, -3.0, 1.125])
N = np.array([0, 1, 6, 12, 127, 255])
BITS = np.array([0, 1, 2, 3, 1, 4])


def evaluated(program: Program, *inputs) -> list[np.ndarray]:
    """The outputs of a program that is compiled whole, for its parameters in order."""
    text = program_module(program).text
    types = {"i32": np.int32, "f32": np.float32, "i1": np.bool_, "ui32": np.uint32}
    arguments = signature(text).arguments
    dtypes = [types[one.type.removeprefix("tensor<").removesuffix(">").split("x")[-1]] for one in arguments]
    arrays = [np.asarray(values, dtype) for values, dtype in zip(inputs, dtypes, strict=True)]
    return xla_device.outputs(text, "cpu", arrays)


def assert_close(found: list[np.ndarray], expected: list) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-5)


def test_elementwise_floats():
    w = Writer()
    x, y, positive = w.input(6), w.input(6), w.input(6)
    outputs = [w.add(opcode, (6,), x) for opcode in FLOATS] + [w.add(opcode, (6,), positive) for opcode in POSITIVE]
    outputs += [w.add(opcode, (6,), x, y) for opcode in PAIRS] + [w.add("power", (6,), positive, y)]
    small = w.filled(-1.0, 6), w.filled(2.0, 6)
    outputs += [w.add("clamp", (6,), small[0], x, small[1]), w.add("is-finite", (6,), x, dtype="pred")]
    outputs += [w.add("convert", (6,), x, dtype="s32")]
    found = evaluated(w.program(*outputs), X, Y, np.abs(X))
    expected = [function(X) for function in FLOATS.values()] + [function(np.abs(X)) for function in POSITIVE.values()]
    expected += [function(X, Y) for function in PAIRS.values()] + [np.abs(X) ** Y]
    expected += [np.clip(X, -1, 2), np.isfinite(X), np.trunc(X)]
    assert_close(found, expected)


def test_elementwise_whole_numbers_and_predicates():
    w = Writer()
    n, bits, unsigned = w.input(6, dtype="s32"), w.input(6, dtype="s32"), w.input(6, dtype="u32")
    outputs = [w.add(opcode, (6,), n, bits, dtype="s32") for opcode in WHOLE]
    outputs += [w.add("shift-right-logical", (6,), unsigned, unsigned, dtype="u32")]
    outputs += [w.add(opcode, (6,), n, dtype="s32") for opcode in ("popcnt", "count-leading-zeros", "not")]
    directions = ("EQ", "NE", "GE", "GT", "LE", "LT")
    outputs += [w.add("compare", (6,), n, bits, dtype="pred", comparison=direction) for direction in directions]
    equal = outputs[-len(directions)]
    outputs += [w.add("select", (6,), equal, n, bits, dtype="s32"), w.add("not", (6,), equal, dtype="pred")]
    found = evaluated(w.program(*outputs), N, BITS, BITS)
    expected = [function(N, BITS) for function in WHOLE.values()] + [BITS >> BITS]
    expected += [[bin(one).count("1") for one in N], [32 - int(one).bit_length() for one in N], ~N]
    expected += [N == BITS, N != BITS, N >= BITS, N > BITS, N <= BITS, N < BITS]
    assert_close(found, [*expected, np.where(N == BITS, N, BITS), N != BITS])


def test_constants_and_counting():
    w = Writer()
    outputs = [
        w.constant(1.0, 2.0, 3.0, -4.5, 0.1, 1e-30, dimensions=(2, 3)),
        w.constant(float("inf"), float("-inf"), dimensions=(2,)),
        w.constant(True, False, dimensions=(2,), dtype="pred"),
        w.constant(-3, dtype="s32"),
        w.add("iota", (2, 3), dtype="s32", axes=(1,)),
    ]
    found = evaluated(w.program(*outputs))
    expected = [[[1, 2, 3], [-4.5, 0.1, 1e-30]], [np.inf, -np.inf], [True, False], -3, [[0, 1, 2], [0, 1, 2]]]
    assert_close(found, expected)
    assert np.isnan(evaluated(_alone(lambda w: w.constant(float("nan"))))[0])


def _alone(write) -> Program:
    w = Writer()
    return w.program(write(w))


COMPILED = settings(deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
"""Each example is compiled: no time for making a failing one shorter."""


@settings(COMPILED, max_examples=12)
@given(program=programs(heroes=False), seed=st.integers(0, 9))
def test_random_programs_of_ops_that_change_form(program, seed):
    program, inputs, expected = _single_precision(program, seed)
    assert_close(xla_device.outputs(program_module(program).text, "cpu", list(inputs.values())), expected)


@settings(COMPILED, max_examples=5)
@given(program=programs(heroes=False), seed=st.integers(0, 9))
def test_kernel_by_kernel_a_program_computes_the_same(program, seed):
    program, inputs, expected = _single_precision(program, seed)
    space, modules = FusionSpace(program), KernelModules(program)
    groups = space.group(space.random(np.random.default_rng(seed)))
    values = dict(inputs)
    for root in sorted(set(groups[groups >= 0].tolist())):
        cut = modules.cut(np.flatnonzero(groups == root).tolist())
        made = modules.module(np.flatnonzero(groups == root).tolist())
        found = xla_device.outputs(made.text, "cpu", [values[index] for index in cut.inputs])
        values |= dict(zip(cut.results, found, strict=True))
    for output, other in zip(program.outputs, expected, strict=True):
        if output in values:  # not, where free ops stand between a kernel and the output
            np.testing.assert_allclose(values[output], other, rtol=2e-5, atol=1e-5)


def _single_precision(program: Program, seed: int) -> tuple[Program, dict[int, np.ndarray], list[np.ndarray]]:
    """The program in f32, its inputs by index of instruction, and its outputs by numpy."""
    instructions = [one.replace(dtype="f32") if one.dtype == "bf16" else one for one in program.instructions]
    for one in instructions:  # XLA asks for a start that changes nothing, and leaves it out where it likes
        start = instructions[one.operands[1]].value if one.reducer else (0.0,)
        assume(one.reducer != "maximum" and start == (0.0,))
    program = program.replace(instructions=tuple(instructions), slopes=None)
    everything = results(program.replace(outputs=tuple(range(len(instructions)))), seed)
    read = {*program.outputs, *(operand for one in instructions for operand in one.operands)}
    inputs = {
        index: everything[index].astype(np.int32 if one.dtype == "s32" else np.float32)
        for index, one in enumerate(instructions)
        if one.opcode == "parameter" and index in read
    }
    return program, inputs, [everything[output] for output in program.outputs]


def _pixels(x, window: Window):
    """The image with zeros between and around its pixels, and for each output pixel and kernel pixel their place."""
    low, base = window.padding_low, window.base_dilation
    height, width = ((n - 1) * b + 1 for n, b in zip(x.shape[1:3], base, strict=True))
    wide = np.zeros((x.shape[0], height + low[0] + window.padding_high[0], width + low[1] + window.padding_high[1],
                     x.shape[3]))  # fmt: skip
    wide[:, low[0] : low[0] + height : base[0], low[1] : low[1] + width : base[1]] = x
    return wide


def _convolved(x, weights, window: Window, shape):
    """Every output pixel on its own; one group of channels."""
    wide, out = _pixels(x, window), np.zeros(shape)
    for row, column in np.ndindex(*shape[1:3]):
        for i, j in np.ndindex(*weights.shape[:2]):
            y = row * window.stride[0] + i * window.window_dilation[0]
            z = column * window.stride[1] + j * window.window_dilation[1]
            out[:, row, column] += wide[:, y, z] @ weights[i, j]
    return out


def test_a_convolution_with_strides_padding_and_dilations(rng):
    window = Window((3, 2), (2, 1), (1, 0), (2, 1), (1, 2), (2, 1))
    x, weights = rng.normal(size=(2, 5, 6, 3)), rng.normal(size=(3, 2, 3, 4))
    shape = (2, 5, 5, 4)
    w = Writer()
    out = w.add("convolution", shape, w.input(*x.shape), w.weight(*weights.shape), window=window, convolution=NHWC)
    assert_close(evaluated(w.program(out), x, weights), [_convolved(x, weights, window, shape)])


def test_a_mirrored_window_and_groups(rng):
    """Depthwise (a channel a group), the window mirrored; and with batch groups the gradient of such weights."""
    x, weights = rng.normal(size=(2, 4, 4, 3)), rng.normal(size=(2, 2, 1, 3))
    window = Window((2, 2), (1, 1), (0, 0), (0, 0), (1, 1), (1, 1), (1, 1))
    grouped = ConvolutionDimensions(0, 3, (1, 2), 2, 3, (0, 1), 0, 3, (1, 2), feature_groups=3)
    w = Writer()
    out = w.add("convolution", (2, 3, 3, 3), w.input(2, 4, 4, 3), w.weight(2, 2, 1, 3), window=window,
                convolution=grouped)  # fmt: skip
    plain = Window((2, 2), (1, 1), (0, 0), (0, 0), (1, 1), (1, 1))
    expected = np.stack([
        _convolved(x[..., [c]], weights[::-1, ::-1, :, [c]], plain, (2, 3, 3, 1))[..., 0] for c in range(3)
    ], axis=-1)  # fmt: skip
    assert_close(evaluated(w.program(out), x, weights), [expected])

    gradient = rng.normal(size=(2, 3, 3, 3))
    numbers = ConvolutionDimensions(3, 0, (1, 2), 0, 3, (1, 2), 2, 3, (0, 1), batch_groups=3)
    sweep = Window((3, 3), (1, 1), (0, 0), (0, 0), (1, 1), (1, 1))
    w = Writer()
    out = w.add("convolution", (2, 2, 1, 3), w.input(2, 4, 4, 3), w.input(2, 3, 3, 3), window=sweep,
                convolution=numbers)  # fmt: skip
    expected = np.array([
        [np.einsum("bhwc,bhwc->c", x[:, i : i + 3, j : j + 3], gradient)[None] for j in range(2)] for i in range(2)
    ])  # fmt: skip
    assert_close(evaluated(w.program(out), x, gradient), [expected])


def test_dots(rng):
    x, y = rng.normal(size=(3, 4, 5)), rng.normal(size=(5, 3, 6))
    w = Writer()
    out = w.add("dot", (3, 4, 6), w.input(3, 4, 5), w.input(5, 3, 6), dot=DotDimensions((2,), (0,), (0,), (1,)))
    assert_close(evaluated(w.program(out), x, y), [np.einsum("bik,kbj->bij", x, y)])


def test_windows_with_dilations(rng):
    x = rng.normal(size=(7, 4))
    window = Window((3, 1), (2, 1), (0, 0), (0, 0), (2, 1), (1, 1))
    w = Writer()
    out = w.add("reduce-window", (2, 4), w.input(7, 4), w.constant(float("-inf")), window=window, reducer="maximum")
    assert_close(evaluated(w.program(out), x), [np.stack([x[[0, 2, 4]].max(0), x[[2, 4, 6]].max(0)])])


def test_a_window_of_no_dimensions():
    w = Writer()
    nothing = Window((), (), (), (), (), ())
    out = w.add("reduce-window", (), w.input(), w.constant(0.0), window=nothing, reducer="add")
    assert_close(evaluated(w.program(out), 3.5), [3.5])


def test_sums_up_to_each_place(rng):
    x = rng.normal(size=(3, 8))
    w = Writer()
    out = w.add("scan", (3, 8), w.input(3, 8), w.constant(0.0), axes=(1,), reducer="add")
    assert_close(evaluated(w.program(out), x), [np.cumsum(x, 1)])


def test_the_gradient_of_max_pooling():
    x = np.array([[1.0, 3.0, 2.0, 0.0], [0.0, 2.0, 5.0, 4.0]])
    gradient = np.array([[10.0, 20.0]])
    w = Writer()
    window = Window((2, 2), (2, 2), (0, 0), (0, 0), (1, 1), (1, 1))
    out = w.add("select-and-scatter", (2, 4), w.input(2, 4), w.input(1, 2), w.constant(0.0), window=window, body_ops=4)
    assert_close(evaluated(w.program(out), x, gradient), [[[0, 10, 0, 0], [0, 0, 20, 0]]])


def test_the_place_of_the_largest(rng):
    x = rng.normal(size=(3, 8))
    w = Writer()
    values, places = w.input(3, 8), w.add("iota", (3, 8), dtype="s32", axes=(1,))
    starts = w.constant(float("-inf")), w.constant(0, dtype="s32")
    largest = w.add("reduce", (3,), values, places, *starts, axes=(1,), body_ops=6, name="largest")
    also = w.add("other-result", (3,), largest, dtype="s32")
    alone = w.add("reduce", (3,), values, places, *starts, axes=(1,), body_ops=6, dtype="s32")
    assert_close(evaluated(w.program(largest, also, alone), x), [x.max(1), x.argmax(1), x.argmax(1)])


def test_a_sort_and_where_its_elements_came_from(rng):
    x = rng.normal(size=(3, 8))
    w = Writer()
    ordered = w.add("sort", (3, 8), w.input(3, 8), axes=(1,), body_ops=5)
    places = w.add("other-result", (3, 8), ordered, dtype="s32")
    assert_close(evaluated(w.program(ordered, places), x), [np.sort(x, 1), np.argsort(x, 1)])


def test_rows_read_and_written(rng):
    table, updates, ids = rng.normal(size=(9, 4)), rng.normal(size=(3, 4)), np.array([7, 0, 7])
    added, replaced = table.copy(), table.copy()
    np.add.at(added, ids, updates)
    replaced[[7, 0]] = updates[[2, 1]]
    w = Writer()
    rows, places, changes = w.input(9, 4), w.input(3, dtype="s32"), w.input(3, 4)
    outputs = [
        w.add("gather", (3, 4), rows, places, indexing=ROWS),
        w.add("scatter", (9, 4), rows, places, changes, indexing=ROWS, reducer="add", body_ops=2),
        w.add("scatter", (9, 4), rows, places, changes, indexing=ROWS),
    ]
    assert_close(evaluated(w.program(*outputs), table, ids, updates), [table[ids], added, replaced])


def test_elements_picked_by_pairs_of_numbers(rng):
    table, ids = rng.normal(size=(5, 6, 2)), np.array([[0, 5], [4, 1], [2, 2]])
    pairs = Indexing(window=(1,), collapsed=(0, 1), indexed=(0, 1), vector=(1,))
    w = Writer()
    out = w.add("gather", (3, 2), w.input(5, 6, 2), w.input(3, 2, dtype="s32"), indexing=pairs)
    assert_close(evaluated(w.program(out), table, ids), [table[ids[:, 0], ids[:, 1]]])


def test_runs_counted_on_the_device_give_the_same(rng):
    x, weights = rng.normal(size=(2, 32)).astype(np.float32), rng.normal(size=(32, 10)).astype(np.float32)
    text = program_module(dense()).text
    (once,) = xla_device.outputs(text, "cpu", [x, weights])
    for runs in (1, 3):
        (last,) = xla_device.outputs(repeated(text), "cpu", [np.int32(runs), x, weights])
        np.testing.assert_array_equal(last, once)
    product = x @ weights
    assert_close([once], [product - product.max(1, keepdims=True)])


def test_what_is_written_in_place_is_handed_from_run_to_run():
    w = Writer()
    rows, places, changes = w.input(4, 2), w.input(1, dtype="s32"), w.input(1, 2)
    out = w.add("scatter", (4, 2), rows, places, changes, indexing=ROWS, reducer="add", body_ops=2)
    text = KernelModules(w.program(out)).module([out]).text
    inputs = [np.zeros((4, 2), np.float32), np.array([2], np.int32), np.array([[1, 5]], np.float32)]
    (last,) = xla_device.outputs(repeated(text), "cpu", [np.int32(3), *inputs])
    assert_close([last], [[[0, 0], [0, 0], [3, 15], [0, 0]]])


def test_a_loaded_module_runs_as_often_as_it_is_told():
    text = program_module(dense()).text
    run = xla_device.load(text, "cpu", 1)
    run(0)
    run(1)
    run(7)
    drawn = xla_device.inputs_of(text)
    assert [one.shape for one in drawn] == [(2, 32), (32, 10)]
    assert all(0.5 / 32 <= one.min() <= one.max() < 1.5 for one in drawn)
    np.testing.assert_array_equal(drawn[0], xla_device.inputs_of(text)[0])


def test_the_compiler_does_not_take_a_kernel_out_of_the_loop():
    """16 times the runs take at least four times as long: a kernel that runs once would not."""
    w = Writer()
    x = w.input(256, 256)
    run = xla_device.load(program_module(w.program(w.add("tanh", (256, 256), x))).text, "cpu", 1)
    run(1)
    assert _fastest(run, 160) > 4 * _fastest(run, 10)


def _fastest(run, runs: int) -> float:
    from time import perf_counter

    taken = []
    for _ in range(5):
        start = perf_counter()
        run(runs)
        taken.append(perf_counter() - start)
    return min(taken)


def test_the_cost_analysis_of_a_matrix_product():
    w = Writer()
    out = w.add("dot", (64, 32), w.input(64, 128), w.weight(128, 32), dot=DotDimensions((1,), (0,)))
    found = xla_device.cost_analysis(program_module(w.program(out)).text)
    assert found["flops"] == 2 * 64 * 128 * 32
    assert found["bytes"] == 4 * (64 * 128 + 128 * 32 + 64 * 32)


def test_what_is_known_of_the_device():
    found = xla_device.device("cpu")
    assert set(found) == {"name", "platform", "platform_version", "jax", "jaxlib"}
    assert found["platform"] == "cpu"


def test_a_platform_that_is_not_there():
    with pytest.raises(RuntimeError, match="platform 'tpu': XLA finds no such device here"):
        xla_device.device("tpu")


@pytest.fixture
def rng():
    return np.random.default_rng(0)
