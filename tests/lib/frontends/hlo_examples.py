"""HLO modules written by hand as protocol buffers."""

from collections.abc import Callable
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
        self.counter = self.kept = self.given = 0

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

    def integer(self, value: int) -> int:
        return self.add("constant", (), dtype="s32", literal=xla_data_pb2.LiteralProto(s32s=[value]))

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


def add_loop(
    module: Module,
    start: int,
    limit: int | None,
    step: int,
    comparison: str,
    body: Callable[[Module, int], int],
    x: int | None = None,
    *,
    turned: bool = False,
    keeps: tuple[int, ...] | None = None,
) -> int:
    """A `while` on f32[4] and a counter; returns the array after it.

    `body` gets the module and the array, and may read `module.counter` and `module.kept` (a parameter of shape `keeps`
    that the loop keeps). `limit` None: an entry parameter, so that the trip count depends on data. `x` None: the
    loop is in an entry of its own, on parameter 0 (`module.given`).
    """
    shapes = [(), (4,), (), keeps or ()]
    types = ["s32", "f32", "s32", "f32"]
    around = module.computation

    def state(*values: int, opcode: str = "tuple", **fields) -> int:
        place = module.add(opcode, (), *values, dtype="tuple", **fields)
        for shape, dtype in zip(shapes, types, strict=True):
            fill_shape(module.computation.instructions[-1].shape.tuple_shapes.add(), dtype, shape)
        return place

    def part(of: int, number: int) -> int:
        return module.add("get-tuple-element", shapes[number], of, dtype=types[number], tuple_index=number)

    module.start()
    given = state(opcode="parameter")
    module.counter, array, bound, module.kept = (part(given, number) for number in range(4))
    counter, kept = module.counter, module.kept
    inside = module.computation
    array = body(module, array)
    module.computation = inside
    state(module.add("add", (), counter, module.integer(step), dtype="s32"), array, bound, kept)
    module.start()
    given = state(opcode="parameter")
    pair = (part(given, 0), part(given, 2))
    module.add("compare", (), *(reversed(pair) if turned else pair), dtype="pred", comparison_direction=comparison)
    ids = [inside.id, module.computation.id]

    if around is None or x is None:
        module.start()
        x = module.given = module.parameter(0, 4)
    else:
        module.computation = around
        module.proto.entry_computation_id = around.id
    bound = module.parameter(1, dtype="s32") if limit is None else module.integer(limit)
    kept = module.parameter(2, *keeps) if keeps else module.constant(0.0)
    after = state(module.integer(start), x, bound, kept)
    after = state(after, opcode="while", called_computation_ids=ids)
    module.computation.instructions[-1].name = "loop"
    return part(after, 1)


def fill_shape(shape: Any, dtype: str, dimensions: tuple[int, ...]) -> None:
    shape.element_type = TYPES[dtype]
    shape.dimensions.extend(dimensions)
    shape.is_dynamic_dimension.extend([False] * len(dimensions))
    shape.layout.minor_to_major.extend(reversed(range(len(dimensions))))
