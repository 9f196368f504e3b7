"""Small tensor programs written by hand, with sizes that can be checked with pencil and paper."""

from lib.program.program import ConvolutionDimensions, DotDimensions, Instruction, Program, Window

NHWC = {
    "input_batch": 0, "input_feature": 3, "input_spatial": (1, 2), "kernel_input_feature": 2,
    "kernel_output_feature": 3, "kernel_spatial": (0, 1), "output_batch": 0, "output_feature": 3,
    "output_spatial": (1, 2),
}  # fmt: skip
WEIGHT_GRADIENT = {
    "input_batch": 3, "input_feature": 0, "input_spatial": (1, 2), "kernel_input_feature": 0,
    "kernel_output_feature": 3, "kernel_spatial": (1, 2), "output_batch": 2, "output_feature": 3,
    "output_spatial": (0, 1),
}  # fmt: skip
"""The gradient of an NHWC convolution's weights: channels as the batch, the batch contracted."""


class Sketch:
    """Writes a program instruction by instruction; every method returns the instruction's index."""

    def __init__(self):
        self.instructions: list[Instruction] = []

    def put(self, opcode, dimensions, operands=(), name="", dtype="bf16", **fields) -> int:
        index = len(self.instructions)
        layout = tuple(reversed(range(len(dimensions))))
        made = Instruction(
            name or f"{opcode}.{index}", opcode, dtype, tuple(dimensions), layout, tuple(operands), **fields
        )
        self.instructions.append(made)
        return index

    def shape(self, index) -> tuple[int, ...]:
        return self.instructions[index].dimensions

    def input(self, *dimensions) -> int:
        return self.put("parameter", dimensions, role="input")

    def weight(self, *dimensions) -> int:
        return self.put("parameter", dimensions, role="weight")

    def op(self, opcode, *operands, name="") -> int:
        """An elementwise instruction."""
        return self.put(opcode, self.shape(operands[0]), operands, name)

    def broadcast(self, operand, dimensions, axes) -> int:
        return self.put("broadcast", dimensions, (operand,), axes=tuple(axes))

    def scalar(self, value, dimensions) -> int:
        return self.broadcast(self.put("constant", (), value=(value,)), dimensions, ())

    def reshape(self, operand, *dimensions) -> int:
        return self.put("reshape", dimensions, (operand,))

    def transpose(self, operand, axes) -> int:
        return self.put("transpose", [self.shape(operand)[a] for a in axes], (operand,), axes=tuple(axes))

    def reduce(self, operand, axes, name="") -> int:
        kept = [n for d, n in enumerate(self.shape(operand)) if d not in axes]
        zero = self.put("constant", (), value=(0.0,))
        return self.put("reduce", kept, (operand, zero), name, axes=tuple(axes), reducer="add")

    def convolution(
        self, source, weights, output, *, stride=1, pad=(0, 0), base=1, dilation=1, groups=1, batch_groups=1,
        numbers=None, name="",
    ) -> int:  # fmt: skip
        numbers = numbers or NHWC
        size = tuple(self.shape(weights)[d] for d in numbers["kernel_spatial"])
        window = Window(size, (stride,) * 2, (pad[0],) * 2, (pad[1],) * 2, (dilation,) * 2, (base,) * 2)
        return self.put(
            "convolution", output, (source, weights), name, window=window,
            convolution=ConvolutionDimensions(**numbers, feature_groups=groups, batch_groups=batch_groups),
        )  # fmt: skip

    def pointwise(self, source, channels, name="") -> int:
        """A convolution of 1x1 pixels."""
        shape = self.shape(source)
        return self.convolution(source, self.weight(1, 1, shape[-1], channels), (*shape[:-1], channels), name=name)

    def depthwise(self, source, name="") -> int:
        """A depthwise convolution of 3x3 pixels, padded."""
        shape = self.shape(source)
        weights = self.weight(3, 3, 1, shape[-1])
        return self.convolution(source, weights, shape, pad=(1, 1), groups=shape[-1], name=name)

    def dot(self, left, right, output, contracting, batch=((), ()), name="") -> int:
        numbers = DotDimensions((contracting[0],), (contracting[1],), *batch)
        return self.put("dot", output, (left, right), name, dot=numbers)

    def bias(self, source, name="") -> int:
        """add of a weight along the last dimension."""
        shape = self.shape(source)
        return self.op("add", source, self.broadcast(self.weight(shape[-1]), shape, (len(shape) - 1,)), name=name)

    def swish(self, source, name="") -> int:
        return self.op("multiply", source, self.op("logistic", source), name=name)

    def program(self, *outputs) -> Program:
        return Program("sketch", 1, tuple(self.instructions), tuple(outputs))


def convolution_block() -> Program:
    """Convolution 3x3 with stride 2, bias, batch norm's rsqrt on the channels, relu."""
    s = Sketch()
    convolution = s.convolution(
        s.input(2, 8, 8, 3), s.weight(3, 3, 3, 16), (2, 4, 4, 16), stride=2, pad=(0, 1), name="convolution"
    )
    biased = s.bias(convolution, name="bias")
    scale = s.op("rsqrt", s.weight(16), name="rsqrt")
    scaled = s.op("multiply", biased, s.broadcast(scale, (2, 4, 4, 16), (3,)), name="scale")
    return s.program(s.op("maximum", scaled, s.scalar(0.0, (2, 4, 4, 16)), name="relu"))


def residual() -> Program:
    """Two convolutions with a bias each, added; the first one's input is also a relu that both read."""
    s = Sketch()
    relu = s.op("maximum", s.input(2, 4, 4, 8), s.scalar(0.0, (2, 4, 4, 8)), name="relu")
    left = s.bias(s.pointwise(relu, 16, name="left"), name="left-bias")
    right = s.bias(s.pointwise(relu, 16, name="right"), name="right-bias")
    return s.program(s.op("add", left, right, name="add"))


def squeeze_excite() -> Program:
    """EfficientNet's block: expand, depthwise, squeeze, excite, scale, project."""
    s = Sketch()
    expanded = s.swish(s.pointwise(s.input(2, 8, 8, 4), 16, name="expand"), name="expand-swish")
    wide = s.swish(s.bias(s.depthwise(expanded, name="depthwise")), name="depthwise-swish")
    squeezed = s.op("multiply", s.reduce(wide, (1, 2), name="squeeze"), s.scalar(1 / 64, (2, 16)), name="mean")
    narrow = s.swish(s.pointwise(s.reshape(squeezed, 2, 1, 1, 16), 4, name="narrow"), name="narrow-swish")
    gate = s.op("logistic", s.pointwise(narrow, 16, name="widen"), name="gate")
    gate_pixels = s.broadcast(s.reshape(gate, 2, 16), (2, 8, 8, 16), (0, 3))
    scaled = s.op("multiply", gate_pixels, wide, name="scale")
    return s.program(s.bias(s.pointwise(scaled, 8, name="project"), name="project-bias"))


def softmax() -> Program:
    """Softmax over the last dimension of [4, 32]."""
    s = Sketch()
    scores = s.input(4, 32)
    shifted = s.op("subtract", scores, s.broadcast(s.reduce(scores, (1,), name="max"), (4, 32), (0,)), name="subtract")
    exponential = s.op("exponential", shifted, name="exponential")
    total = s.broadcast(s.reduce(exponential, (1,), name="sum"), (4, 32), (0,))
    return s.program(s.op("divide", exponential, total, name="divide"))


def concatenated() -> Program:
    """relu of a convolution beside an input, concatenated along the channels, then a tanh."""
    s = Sketch()
    relu = s.op("negate", s.pointwise(s.input(2, 4, 4, 8), 8, name="convolution"), name="negate")
    joined = s.put("concatenate", (2, 4, 4, 24), (relu, s.input(2, 4, 4, 16)), "concatenate", axes=(3,))
    return s.program(s.op("tanh", joined, name="tanh"))


def attention() -> Program:
    """Scores of [batch 2, heads 4] with sequences of 16 and 8 features, scaled, plus a mask of [2, 16]."""
    s = Sketch()
    dimensions = ((0, 2), (0, 2))
    scores = s.dot(s.input(2, 16, 4, 8), s.input(2, 16, 4, 8), (2, 4, 16, 16), (3, 3), dimensions, name="scores")
    scaled = s.op("multiply", scores, s.scalar(0.35, (2, 4, 16, 16)), name="scale")
    mask = s.broadcast(s.input(2, 16), (2, 4, 16, 16), (0, 3))
    return s.program(s.op("add", scaled, mask, name="mask"))


def dense_of_rows() -> Program:
    """A dense layer that sees [2, 16] rows as 32, with its bias and a tanh on the rows as they were."""
    s = Sketch()
    rows = s.reshape(s.input(2, 16, 8), 32, 8)
    product = s.reshape(s.dot(rows, s.weight(8, 24), (32, 24), (1, 0), name="dot"), 2, 16, 24)
    return s.program(s.op("tanh", s.bias(product, name="bias"), name="tanh"))


def all_programs() -> list[Program]:
    """One of each."""
    return [
        convolution_block(), residual(), squeeze_excite(), softmax(), concatenated(), attention(), dense_of_rows(),
    ]  # fmt: skip
