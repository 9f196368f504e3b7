"""HLO modules written by hand as protocol buffers."""

from typing import Any

from tensorflow.compiler.xla import xla_data_pb2
from tensorflow.compiler.xla.service import hlo_pb2

TYPES = {name.lower(): number for name, number in xla_data_pb2.PrimitiveType.items()}


class Module:
    """Collects instructions of one computation after the other; every method returns the instruction's id."""

    def __init__(self) -> None:
        self.proto = hlo_pb2.HloModuleProto(name="example")
        self.ids = 0
        self.computation: Any = None

    def start(self) -> int:
        """A new computation; returns its id. The last one is the entry."""
        self.computation = self.proto.computations.add(id=len(self.proto.computations) + 1, name="computation")
        self.proto.entry_computation_id = self.computation.id
        return self.computation.id

    def add(self, opcode: str, extents: tuple[int, ...] = (), *operands: int, dtype: str = "f32", **fields) -> int:
        self.ids += 1
        proto = self.computation.instructions.add(
            id=self.ids, name=f"{opcode}.{self.ids}", opcode=opcode, operand_ids=operands
        )
        fill_shape(proto.shape, dtype, extents)
        for name, value in fields.items():
            target = getattr(proto, name)
            if hasattr(target, "extend"):
                target.extend(value)
            elif hasattr(target, "CopyFrom"):
                target.CopyFrom(value)
            else:
                setattr(proto, name, value)
        self.computation.root_id = self.ids
        return self.ids

    def parameter(self, number: int, *dimensions: int, dtype: str = "f32") -> int:
        return self.add("parameter", dimensions, dtype=dtype, parameter_number=number)

    def constant(self, *values: float, dimensions: tuple[int, ...] = ()) -> int:
        return self.add("constant", dimensions, literal=xla_data_pb2.LiteralProto(f32s=values))

    def tuple(self, opcode: str, shapes: list[tuple[int, ...]], *operands: int, **fields) -> int:
        place = self.add(opcode, (), *operands, dtype="tuple", **fields)
        for dimensions in shapes:
            fill_shape(self.computation.instructions[-1].shape.tuple_shapes.add(), "f32", dimensions)
        return place

    def adder(self) -> int:
        """A computation that adds its two arguments."""
        computation = self.start()
        self.add("add", (), self.parameter(0), self.parameter(1))
        return computation


def fill_shape(shape: Any, dtype: str, dimensions: tuple[int, ...]) -> None:
    shape.element_type = TYPES[dtype]
    shape.dimensions.extend(dimensions)
    shape.is_dynamic_dimension.extend([False] * len(dimensions))
    shape.layout.minor_to_major.extend(reversed(range(len(dimensions))))
