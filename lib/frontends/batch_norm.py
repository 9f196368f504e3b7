"""HLO's batch normalisation ops, written out in elementary ops as XLA's BatchNormExpander does.

Semantics: OpenXLA operation semantics, BatchNormTraining, BatchNormInference, BatchNormGrad.
"""

from typing import TYPE_CHECKING, Any

from lib.program.program import Instruction

if TYPE_CHECKING:
    from lib.frontends.hlo_reader import Reader

BATCH_NORM_OPCODES = ("batch-norm-inference", "batch-norm-training", "batch-norm-grad")


def decompose_batch_norm(reader: "Reader", proto: Any, operands: list) -> int | tuple[int, ...]:
    """Add the elementary ops of one batch-norm op to `reader` and return its value."""
    writer = _Writer(reader, proto, operands[0])
    if proto.opcode == "batch-norm-inference":
        x, scale, offset, mean, variance = operands
        return writer.normalise(x, scale, offset, mean, variance)
    if proto.opcode == "batch-norm-training":
        x, scale, offset = operands
        mean = writer.mean(x)
        difference = writer.binary("subtract", x, writer.spread(mean))
        variance = writer.mean(writer.binary("multiply", difference, difference))
        return writer.normalise(x, scale, offset, mean, variance), mean, variance
    return writer.gradients(*operands)


class _Writer:
    """Writes ops on arrays of the activation's shape or of the feature dimension's."""

    def __init__(self, reader: "Reader", proto: Any, activation: int):
        self.reader = reader
        self.full = reader.instructions[activation]
        self.label = reader.label(proto)
        self.axis = proto.feature_index
        self.epsilon = proto.epsilon
        self.others = tuple(d for d in range(len(self.full.dimensions)) if d != self.axis)
        self.count = self.full.elements // self.full.dimensions[self.axis]

    def add(self, opcode: str, like: Instruction, operands: tuple[int, ...], **fields) -> int:
        return self.reader.add(
            Instruction(self.label, opcode, like.dtype, like.dimensions, like.layout, operands, **fields)
        )

    def like(self, index: int) -> Instruction:
        return self.reader.instructions[index]

    def binary(self, opcode: str, left: int, right: int) -> int:
        return self.add(opcode, self.like(left), (left, right))

    def scalar(self, value: float) -> int:
        return self.reader.add(Instruction(self.label, "constant", self.full.dtype, (), (), value=(value,)))

    def filled(self, value: float, like: int) -> int:
        return self.add("broadcast", self.like(like), (self.scalar(value),))

    def spread(self, feature: int) -> int:
        return self.add("broadcast", self.full, (feature,), axes=(self.axis,))

    def sum(self, x: int) -> int:
        feature = self.full.replace(dimensions=(self.full.dimensions[self.axis],), layout=(0,))
        return self.add("reduce", feature, (x, self.scalar(0.0)), axes=self.others, reducer="add")

    def mean(self, x: int) -> int:
        total = self.sum(x)
        return self.binary("divide", total, self.filled(float(self.count), total))

    def inverse_deviation(self, variance: int) -> int:
        shifted = self.binary("add", variance, self.filled(self.epsilon, variance))
        return self.add("rsqrt", self.like(shifted), (shifted,))

    def normalise(self, x: int, scale: int, offset: int, mean: int, variance: int) -> int:
        factor = self.binary("multiply", self.inverse_deviation(variance), scale)
        centred = self.binary("subtract", x, self.spread(mean))
        return self.binary("add", self.binary("multiply", centred, self.spread(factor)), self.spread(offset))

    def gradients(self, x: int, scale: int, mean: int, variance: int, gradient: int) -> tuple[int, int, int]:
        """(of the activation, of the scale, of the offset)."""
        inverse = self.inverse_deviation(variance)
        normal = self.binary("multiply", self.binary("subtract", x, self.spread(mean)), self.spread(inverse))
        offset_gradient = self.sum(gradient)
        scale_gradient = self.sum(self.binary("multiply", gradient, normal))
        count = self.filled(float(self.count), scale)
        along = self.binary("multiply", normal, self.spread(self.binary("divide", scale_gradient, count)))
        centred = self.binary("subtract", gradient, self.spread(self.binary("divide", offset_gradient, count)))
        rest = self.binary("subtract", centred, along)
        factor = self.spread(self.binary("multiply", scale, inverse))
        return self.binary("multiply", rest, factor), scale_gradient, offset_gradient
