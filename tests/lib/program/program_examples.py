"""Small programs written by hand."""

from lib.program.program import ConvolutionDimensions, DotDimensions, Instruction, Program, Window

NHWC = ConvolutionDimensions(0, 3, (1, 2), 2, 3, (0, 1), 0, 3, (1, 2))


def row_major(dimensions: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(reversed(range(len(dimensions))))


class Writer:
    """Appends instructions and gives them names."""

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []

    def add(self, opcode: str, dimensions: tuple[int, ...] = (), *operands: int, dtype: str = "f32", **fields) -> int:
        name = fields.pop("name", f"{opcode}-{len(self.instructions)}")
        layout = row_major(dimensions)
        self.instructions.append(Instruction(name, opcode, dtype, dimensions, layout, operands, **fields))
        return len(self.instructions) - 1

    def input(self, *dimensions: int, **fields) -> int:
        return self.add("parameter", dimensions, role="input", **fields)

    def weight(self, *dimensions: int) -> int:
        return self.add("parameter", dimensions, role="weight")

    def constant(self, *value: float, dimensions: tuple[int, ...] = (), dtype: str = "f32") -> int:
        return self.add("constant", dimensions, value=value, dtype=dtype)

    def filled(self, value: float, *dimensions: int) -> int:
        return self.add("broadcast", dimensions, self.constant(value))

    def program(self, *outputs: int, batch: int = 2) -> Program:
        return Program("example", batch, tuple(self.instructions), outputs)


def window(size: int, stride: int = 1, low: int = 0, high: int = 0, base: int = 1) -> Window:
    """The same in both directions."""
    return Window((size,) * 2, (stride,) * 2, (low,) * 2, (high,) * 2, (1, 1), (base,) * 2)


def padded_convolution(batch: int = 2) -> Program:
    """Zeros on the high edges of 8x8x3, then a 3x3 convolution with stride 2 to 4x4x16, then ReLU."""
    w = Writer()
    padded = w.add(
        "pad", (batch, 9, 9, 3), w.input(batch, 8, 8, 3), w.constant(0.0),
        padding_low=(0, 0, 0, 0), padding_high=(0, 1, 1, 0), padding_interior=(0, 0, 0, 0),
    )  # fmt: skip
    convolution = w.add(
        "convolution", (batch, 4, 4, 16), padded, w.weight(3, 3, 3, 16), window=window(3, 2), convolution=NHWC
    )
    relu = w.add("maximum", (batch, 4, 4, 16), convolution, w.filled(0.0, batch, 4, 4, 16))
    return w.program(relu, batch=batch)


def dense(batch: int = 2) -> Program:
    """[batch, 32] x [32, 10], minus the row's largest."""
    w = Writer()
    dot = w.add("dot", (batch, 10), w.input(batch, 32), w.weight(32, 10), dot=DotDimensions((1,), (0,)))
    largest = w.add("reduce", (batch,), dot, w.constant(float("-inf")), axes=(1,), reducer="maximum")
    spread = w.add("broadcast", (batch, 10), largest, axes=(0,))
    return w.program(w.add("subtract", (batch, 10), dot, spread), batch=batch)
