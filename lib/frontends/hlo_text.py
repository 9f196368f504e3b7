"""XLA's text format for HLO modules, read into the protocol buffer that the other frontends get from TensorFlow.

The format is what XLA prints (`--xla_dump_to`, `experimental_get_compiler_ir(...)(stage="hlo")`) and its own parser
reads (xla/hlo/parser/hlo_parser.cc of OpenXLA). Types of operands and percent signs may be left out. What says nothing
about costs (sharding, backend configurations, tables of source lines) is skipped.
"""

from typing import Any

from lib.frontends.hlo_text_attributes import read_attribute
from lib.frontends.hlo_text_literal import read_literal
from lib.frontends.hlo_text_tokens import END, HloTextError, Tokens
from schemas.problem import nearest

TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
"""Tables of source lines: rows of a number and text or braces."""
UNKNOWN_EXTENT = -(2**63)
"""How the protocol buffer writes an extent of which nothing is known (Shape::kUnboundedSize)."""


def is_hlo_text(content: bytes) -> bool:
    """Whether a file looks like HLO text: a line that begins with `HloModule`, perhaps below comments."""
    return any(line.lstrip().startswith(b"HloModule ") for line in content[:100_000].splitlines())


def parse_hlo_text(text: str) -> Any:
    """`HloModuleProto` of a module's text. Raises HloTextError with the line and what must stand there.

    Constants whose numbers are left out (`constant({...})`) have no literal.
    """
    parser = _Parser(text)
    try:
        return parser.module()
    except RecursionError:
        raise HloTextError(parser.tokens.next.line, "brackets are nested deeper than in any module of XLA") from None


class _Parser:
    def __init__(self, text: str):
        from tensorflow.compiler.xla import xla_data_pb2
        from tensorflow.compiler.xla.service import hlo_pb2

        self.tokens = Tokens(text)
        self.proto = hlo_pb2.HloModuleProto()
        self.types = {name.lower(): number for name, number in xla_data_pb2.PrimitiveType.items()}
        self.computations: dict[str, tuple[int, int]] = {}
        """Id of each computation that was named so far, and the line."""
        self.defined: set[int] = set()
        """Ids of the computations that were read."""
        self.instructions = 0
        self.names: dict[str, int] = {}
        """Ids of the instructions of the computation that is read."""

    def module(self) -> Any:
        tokens = self.tokens
        tokens.expect("HloModule")
        self.proto.name = tokens.word("the module's name")
        while tokens.accept(","):
            tokens.word("an attribute of the module")
            tokens.expect("=")
            tokens.skip_value()
        while tokens.next.text != END:
            if tokens.next.text in TABLES:
                self._skip_table()
            else:
                self._computation()
        if not self.proto.entry_computation_id:
            raise tokens.error("no computation is marked ENTRY")
        for name, (number, line) in self.computations.items():
            if number not in self.defined:
                near = nearest(name, [other for other, (id, _) in self.computations.items() if id in self.defined])
                hint = f"; did you mean '{near}'?" if near else ""
                raise HloTextError(line, f"the computation '{name}' is called but not in the module{hint}")
        return self.proto

    def _skip_table(self) -> None:
        self.tokens.take()
        while self.tokens.next.text.isdigit():
            self.tokens.take()
            self.tokens.skip_value()

    def _computation(self) -> None:
        tokens = self.tokens
        entry = tokens.accept("ENTRY")
        line = tokens.next.line
        name = tokens.word("the name of a computation")
        number = self.computation_id(name, line)
        if number in self.defined:
            raise HloTextError(line, f"there are two computations '{name}'; give one of them another name")
        self.defined.add(number)
        if tokens.next.text == "(":
            tokens.skip_value()
            tokens.expect("->")
            self.shape()
        tokens.expect("{")
        computation = self.proto.computations.add(id=number, name=name)
        self.names = {}
        while not tokens.accept("}"):
            self._instruction(computation)
        if tokens.accept(","):  # execution_thread="main"
            tokens.word("an attribute of the computation")
            tokens.expect("=")
            tokens.skip_value()
        if not computation.instructions:
            raise HloTextError(line, f"the computation '{name}' has no instructions")
        computation.root_id = computation.root_id or computation.instructions[-1].id
        if entry:
            self.proto.entry_computation_id = number

    def computation_id(self, name: str, line: int) -> int:
        """Id of a computation that is defined or called here."""
        return self.computations.setdefault(name, (len(self.computations) + 1, line))[0]

    def called(self) -> int:
        """Read a computation's name: its id."""
        line = self.tokens.next.line
        return self.computation_id(self.tokens.word("the name of a computation"), line)

    def _instruction(self, computation: Any) -> None:
        tokens = self.tokens
        root = tokens.accept("ROOT")
        line = tokens.next.line
        name = tokens.word("an instruction, such as %sum = f32[8] add(%x, %y),")
        if name in self.names:
            raise HloTextError(line, f"there are two instructions '{name}' in '{computation.name}'; rename one of them")
        tokens.expect("=")
        self.instructions += 1
        proto = computation.instructions.add(name=name, id=self.instructions)
        self.shape(proto.shape)
        proto.opcode = tokens.word("an op kind")
        tokens.expect("(")
        match proto.opcode:
            case "parameter":
                proto.parameter_number = tokens.integer("the number of the parameter")
            case "constant":
                read_literal(tokens, proto)
            case _:
                self._operands(proto)
        tokens.expect(")")
        while tokens.accept(","):
            key = tokens.word("an attribute")
            tokens.expect("=")
            read_attribute(self, proto, key)
        self.names[name] = proto.id
        if root:
            computation.root_id = proto.id

    def _operands(self, proto: Any) -> None:
        tokens = self.tokens
        while tokens.next.text != ")":
            if tokens.next.text == "(" or tokens.after_next() == "[":
                self.shape()
            line = tokens.next.line
            name = tokens.word("an operand")
            if name not in self.names:
                near = nearest(name, self.names)
                raise HloTextError(
                    line,
                    f"'{proto.name}' ({proto.opcode}) reads '{name}', which does not stand before it in its computation"
                    f"{f'; did you mean {near!r}?' if near else ''}",
                )
            proto.operand_ids.append(self.names[name])
            tokens.accept(",")

    def shape(self, target: Any = None) -> None:
        """Read `f32[2,3]{1,0}` or a tuple of shapes, into `target` if there is one."""
        tokens = self.tokens
        if tokens.accept("("):
            if target is not None:
                target.element_type = self.types["tuple"]
            while not tokens.accept(")"):
                self.shape(target.tuple_shapes.add() if target is not None else None)
                tokens.accept(",")
            return
        line = tokens.next.line
        dtype = tokens.word("a shape, such as f32[2,3]{1,0},")
        if dtype not in self.types:
            near = nearest(dtype, self.types)
            raise HloTextError(line, f"'{dtype}' is no element type{f'; did you mean {near!r}?' if near else ''}")
        tokens.expect("[")
        extents, open_ends = [], []
        while not tokens.accept("]"):
            open_ends.append(tokens.next.text in ("?", "<="))
            bounded = tokens.accept("<=")
            unknown = not bounded and tokens.accept("?")
            extents.append(UNKNOWN_EXTENT if unknown else tokens.integer("an extent"))
            tokens.accept(",")
        layout = list(reversed(range(len(extents))))
        # A brace after a shape may also open the body of a computation.
        if tokens.next.text == "{" and (tokens.after_next().isdigit() or tokens.after_next() in ("}", ":")):
            layout = self._layout(layout)
        if target is not None:
            target.element_type = self.types[dtype]
            target.dimensions.extend(extents)
            target.is_dynamic_dimension.extend(open_ends)
            target.layout.minor_to_major.extend(layout)

    def _layout(self, default: list[int]) -> list[int]:
        """Read `{1,0:T(8,128)}`: the dimensions, the most minor first; tiles and memories are skipped."""
        tokens, layout = self.tokens, []
        tokens.expect("{")
        while tokens.next.text not in ("}", ":"):
            layout.append(tokens.integer("a dimension"))
            tokens.accept(",")
        while not tokens.accept("}"):
            tokens.skip_value()
        return layout or default
