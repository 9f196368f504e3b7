"""Small matrix ops in f32, and what they compute, by numpy."""

import numpy as np

from lib.program.program import Instruction, Program
from lib.targets.iree_module import has_window
from lib.targets.loop_merging import merged
from lib.targets.matrix_op import Dimension, MatrixOp, matrix_op
from tests.program_examples import WEIGHT_GRADIENT, Sketch


class FloatSketch(Sketch):
    """Programs in f32, as devices measure them."""

    def put(self, opcode, dimensions, operands=(), name="", dtype="f32", **fields) -> int:
        return super().put(opcode, dimensions, operands, name, dtype, **fields)

    def only(self, index) -> tuple[Program, int]:
        """The program of one output, and where the op is."""
        return self.program(index), index


HWC_OUT = {
    "input_batch": 0, "input_feature": 3, "input_spatial": (1, 2), "kernel_input_feature": 3,
    "kernel_output_feature": 2, "kernel_spatial": (0, 1), "output_batch": 0, "output_feature": 3,
    "output_spatial": (1, 2),
}  # fmt: skip
"""Weights of the gradient by the input: output channels before input channels."""
NCHW = {
    "input_batch": 0, "input_feature": 1, "input_spatial": (2, 3), "kernel_input_feature": 1,
    "kernel_output_feature": 0, "kernel_spatial": (2, 3), "output_batch": 0, "output_feature": 1,
    "output_spatial": (2, 3),
}  # fmt: skip


def dot(rows=16, columns=32, contracted=64) -> tuple[Program, int]:
    s = FloatSketch()
    return s.only(s.dot(s.input(rows, contracted), s.weight(contracted, columns), (rows, columns), (1, 0)))


def attention(heads=4) -> tuple[Program, int]:
    """Scores of [2, 8, heads, 16] and [2, 8, heads, 16]: batch dimensions 0 and 2."""
    s = FloatSketch()
    left, right = s.input(2, 8, heads, 16), s.input(2, 8, heads, 16)
    return s.only(s.dot(left, right, (2, heads, 8, 8), (3, 3), ((0, 2), (0, 2))))


def convolution(stride=1, numbers=None, dilation=1) -> tuple[Program, int]:
    """3x3 on 2 x 8 x 8 x 16, padded by one, to 32 channels."""
    s = FloatSketch()
    out = (8 + 2 - 2 * dilation - 1) // stride + 1  # 8 pixels, 4 at stride 2, 6 at dilation 2
    shapes = {
        None: ((2, 8, 8, 16), (3, 3, 16, 32), (2, out, out, 32)),
        "HWC_OUT": ((2, 8, 8, 16), (3, 3, 32, 16), (2, out, out, 32)),
        "NCHW": ((2, 16, 8, 8), (32, 16, 3, 3), (2, 32, out, out)),
    }[numbers]
    layout = {None: None, "HWC_OUT": HWC_OUT, "NCHW": NCHW}[numbers]
    made = s.convolution(
        s.input(*shapes[0]), s.weight(*shapes[1]), shapes[2], stride=stride, pad=(1, 1), dilation=dilation,
        numbers=layout,
    )  # fmt: skip
    return s.only(made)


def pointwise(stride=1) -> tuple[Program, int]:
    """1x1 on 2 x 6 x 8 x 16 to 32 channels."""
    s = FloatSketch()
    output = (2, 6 // stride, 8 // stride, 32)
    return s.only(s.convolution(s.input(2, 6, 8, 16), s.weight(1, 1, 16, 32), output, stride=stride))


def depthwise() -> tuple[Program, int]:
    s = FloatSketch()
    return s.only(s.depthwise(s.input(2, 8, 8, 32)))


def grouped() -> tuple[Program, int]:
    """Four groups of 8 input and 16 output channels."""
    s = FloatSketch()
    return s.only(s.convolution(s.input(2, 8, 8, 32), s.weight(3, 3, 8, 64), (2, 8, 8, 64), pad=(1, 1), groups=4))


def transposed() -> tuple[Program, int]:
    """The gradient by the input at stride 2: zeros between the pixels."""
    s = FloatSketch()
    made = s.convolution(s.input(2, 4, 4, 16), s.weight(3, 3, 16, 32), (2, 8, 8, 32), base=2, pad=(1, 2))
    return s.only(made)


def weight_gradient() -> tuple[Program, int]:
    s = FloatSketch()
    source, gradient = s.input(4, 8, 8, 16), s.input(4, 8, 8, 32)
    return s.only(s.convolution(source, gradient, (3, 3, 16, 32), pad=(1, 1), numbers=WEIGHT_GRADIENT))


def depthwise_weight_gradient() -> tuple[Program, int]:
    s = FloatSketch()
    source, gradient = s.input(4, 8, 8, 32), s.input(4, 8, 8, 32)
    made = s.convolution(source, gradient, (3, 3, 1, 32), pad=(1, 1), numbers=WEIGHT_GRADIENT, batch_groups=32)
    return s.only(made)


def expected(program: Program, index: int, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """What the op computes, from the definitions of OpenXLA's operation semantics, in float64."""
    op = program.instructions[index]
    left, right = left.astype(np.float64), right.astype(np.float64)
    return _dot(op, left, right) if op.opcode == "dot" else _convolution(op, left, right)


def _dot(op: Instruction, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    numbers = op.dot
    letters = iter("abcdefghijklmnop")
    left_names, right_names = [next(letters) for _ in left.shape], [next(letters) for _ in right.shape]
    pairs = [*zip(numbers.left_batch, numbers.right_batch, strict=True)]
    for one, other in [*pairs, *zip(numbers.left_contracting, numbers.right_contracting, strict=True)]:
        right_names[other] = left_names[one]
    batch = [left_names[one] for one, _ in pairs]
    contracted = [left_names[one] for one in numbers.left_contracting]
    free = [name for names in (left_names, right_names) for name in names if name not in batch + contracted]
    return np.einsum(f"{''.join(left_names)},{''.join(right_names)}->{''.join(batch + free)}", left, right)


def _convolution(op: Instruction, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    numbers, window = op.convolution, op.window
    source = left.transpose(numbers.input_batch, *numbers.input_spatial, numbers.input_feature)
    weights = right.transpose(*numbers.kernel_spatial, numbers.kernel_input_feature, numbers.kernel_output_feature)
    images, height, width, channels = source.shape
    spread = [(n - 1) * b + 1 for n, b in zip((height, width), window.base_dilation, strict=True)]
    between = np.zeros((images, *spread, channels))
    between[:, :: window.base_dilation[0], :: window.base_dilation[1]] = source
    around = zip(window.padding_low, window.padding_high, strict=True)
    padded = np.pad(between, [(0, 0), *around, (0, 0)])
    batch, rows, columns, features = (
        op.dimensions[d] for d in (numbers.output_batch, *numbers.output_spatial, numbers.output_feature)
    )
    groups = numbers.feature_groups * numbers.batch_groups
    out = np.zeros((batch, rows, columns, features))
    for feature in range(features):
        group = feature // (features // groups)
        image = slice(group * batch, (group + 1) * batch) if numbers.batch_groups > 1 else slice(None)
        of_group = channels // numbers.feature_groups
        channel = slice(group * of_group, (group + 1) * of_group) if numbers.feature_groups > 1 else slice(None)
        for y in range(window.size[0]):
            for x in range(window.size[1]):
                top, left_edge = y * window.window_dilation[0], x * window.window_dilation[1]
                seen = padded[image, top:, left_edge:, channel]
                seen = seen[:, :: window.stride[0], :: window.stride[1]][:, :rows, :columns]
                out[..., feature] += seen @ weights[y, x, :, feature]
    order = np.argsort((numbers.output_batch, *numbers.output_spatial, numbers.output_feature))
    return out.transpose(order)


def given(program: Program, index: int, left: np.ndarray, right: np.ndarray) -> tuple[MatrixOp, list[np.ndarray]]:
    """The merged op, and its inputs as the module takes them: zeros in place, without pixels that nothing reads, in its
    shapes."""
    raw = matrix_op(program, index)
    op = merged(raw)
    source = np.zeros([dimension.padded for dimension in raw.left], dtype=np.float32)
    source[tuple(slice(d.before, d.padded - d.after, d.spread) for d in raw.left)] = left.reshape(
        [dimension.extent for dimension in raw.left]
    )
    if not has_window(op):
        source = source[tuple(_read(dimension, raw) for dimension in raw.left)]
    return op, [source.reshape(_shape(op.left)), right.reshape(_shape(op.right))]


def _read(dimension: Dimension, op: MatrixOp) -> slice:
    """The elements that an op without a window walks."""
    loop, step = dimension.loop, dimension.stride
    if dimension.tap >= 0 and op.loops[loop].extent == 1:
        loop, step = dimension.tap, dimension.dilation
    return slice(0, op.loops[loop].extent * step, step)


def _shape(array) -> list[int]:
    return [dimension.extent for dimension in array]
