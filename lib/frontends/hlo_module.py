"""An HLO module (protocol buffer) as a :class:`Program`: calls and fusions inlined, tuples unwrapped."""

from collections.abc import Sequence
from typing import Any

from lib.frontends.batch_norm import BATCH_NORM_OPCODES, decompose_batch_norm
from lib.frontends.error_function import ERROR_FUNCTIONS, with_error_functions
from lib.frontends.errors import FrontendError
from lib.frontends.hlo_instruction import instruction_of, literal_values
from lib.program.op_kinds import op_classes_by_opcode
from lib.program.order import depth_first
from lib.program.program import Instruction, Program

Value = Any
"""Index of an instruction (int), or a tuple of values."""
INLINED = ("call", "fusion")
"""Opcodes that are replaced by the computation that they call."""
FORM_ONLY = ("reshape", "bitcast", "broadcast", "transpose", "convert", "copy")
"""Opcodes through which a weight may reach the op that reads it."""


def program_of(module: Any, workload: str, batch: int, *, inputs: int | None, scope: str = "") -> Program:
    """The entry computation of an `HloModuleProto`, flattened.

    The first `inputs` parameters have the role input and the others weight; None: what only feeds the right-hand
    side of a convolution or dot, or has rank <= 1, is a weight. Instructions are named by their metadata, path
    components that begin with `scope` left out. Random bits are an input: how they are made is not part of the
    program. Raises FrontendError naming workload and instruction for whatever a program can't hold.
    """
    reader = Reader(module, workload, scope)
    outputs = reader.entry()
    instructions = with_error_functions(reader.instructions, outputs, reader.error_functions)
    program = depth_first(Program(workload, batch, tuple(instructions), tuple(outputs)), largest_last=False)
    _check_opcodes(program)
    return program.replace(instructions=_named(_with_roles(program.instructions, inputs), inputs))


class Reader:
    """Collects instructions while it walks computations; parameters carry their number in `axes`."""

    def __init__(self, module: Any, workload: str, scope: str):
        self.workload, self.scope = workload, scope
        self.module = module
        self.computations = {computation.id: computation for computation in module.computations}
        self.instructions: list[Instruction] = []
        self.random = 0
        self.error_functions: dict[tuple[str, str], set[int]] = {}

    def entry(self) -> list[int]:
        computation = self.computations.get(self.module.entry_computation_id)
        if computation is None:
            raise FrontendError(f"workload '{self.workload}': the HLO module has no entry computation")
        outputs: list[int] = []
        _flatten(self._computation(computation, None), outputs)
        if not outputs:
            raise FrontendError(f"workload '{self.workload}': the HLO module has no outputs")
        return outputs

    def _computation(self, computation: Any, arguments: Sequence[Value] | None) -> Value:
        values: dict[int, Value] = {}
        for proto in computation.instructions:
            operands = [values[operand] for operand in proto.operand_ids]
            values[proto.id] = value = self._value(proto, operands, arguments)
            if proto.metadata.op_type in ERROR_FUNCTIONS and not isinstance(value, tuple):
                key = (proto.metadata.op_type, proto.metadata.op_name)
                self.error_functions.setdefault(key, set()).add(value)
        return values[computation.root_id]

    def _value(self, proto: Any, operands: list[Value], arguments: Sequence[Value] | None) -> Value:
        match proto.opcode:
            case "parameter" if arguments is not None:
                return arguments[proto.parameter_number]
            case "parameter":
                return self._parameter(proto)
            case "tuple":
                return tuple(operands)
            case "get-tuple-element":
                return operands[0][proto.tuple_index]
            case "opt-barrier" | "optimization-barrier":
                return operands[0]
            case "rng-bit-generator":
                return operands[0], self._random(proto, proto.shape.tuple_shapes[-1])
            case "rng":
                return self._random(proto, proto.shape)
            case opcode if opcode in INLINED:
                return self._computation(self.computations[proto.called_computation_ids[0]], operands)
            case opcode if opcode in BATCH_NORM_OPCODES:
                return decompose_batch_norm(self, proto, operands)
        return self._plain(proto, operands)

    def _parameter(self, proto: Any) -> int:
        if proto.shape.tuple_shapes:
            raise FrontendError(f"{self.where(proto)}: a parameter that is a tuple is not supported; pass its arrays")
        instruction = instruction_of(proto, "", self.where(proto))
        return self.add(instruction.replace(axes=(proto.parameter_number,)))

    def _plain(self, proto: Any, operands: list[Value]) -> Value:
        where = self.where(proto)
        if proto.shape.tuple_shapes or any(isinstance(operand, tuple) for operand in operands):
            if proto.opcode in op_classes_by_opcode():
                raise FrontendError(f"{where}: a {proto.opcode} of several arrays at once is not supported")
            return self._unsupported_results(proto, proto.shape)
        instruction = instruction_of(proto, self.label(proto), where).replace(operands=tuple(operands))
        if proto.opcode == "constant":
            return self._constant(proto, instruction)
        if proto.opcode in ("reduce", "reduce-window"):
            instruction = instruction.replace(reducer=self._reducer(proto))
        if proto.opcode == "bitcast-convert" and instruction.dimensions == self.instructions[operands[0]].dimensions:
            instruction = instruction.replace(opcode="convert")  # costs the same
        return self.add(instruction)

    def _unsupported_results(self, proto: Any, shape: Any) -> Value:
        """What stands for the results of an op that a program can't hold; `_check_opcodes` refuses what is needed."""
        if shape.tuple_shapes:
            return tuple(self._unsupported_results(proto, part) for part in shape.tuple_shapes)
        return self.add(instruction_of(proto, self.label(proto), self.where(proto), shape))

    def _random(self, proto: Any, shape: Any) -> int:
        bits = instruction_of(proto, f"random.{self.random}", self.where(proto), shape)
        self.random += 1
        return self.add(Instruction(bits.name, "parameter", bits.dtype, bits.dimensions, bits.layout, role="input"))

    def _constant(self, proto: Any, instruction: Instruction) -> int:
        value = literal_values(proto, instruction)
        if value is None or len(value) == instruction.elements:
            return self.add(instruction.replace(value=value))
        scalar = self.add(instruction.replace(value=value, dimensions=(), layout=()))
        return self.add(instruction.replace(opcode="broadcast", operands=(scalar,)))

    def _reducer(self, proto: Any) -> str:
        body = self.computations[proto.called_computation_ids[0]]
        opcodes = [
            p.opcode
            for p in body.instructions
            if p.opcode not in ("parameter", "convert", "tuple", "get-tuple-element")
        ]
        if len(opcodes) != 1:
            raise FrontendError(
                f"{self.where(proto)}: a {proto.opcode} that applies {' and '.join(opcodes) or 'nothing'} is not"
                " supported; it may apply a single op, such as add or maximum"
            )
        return opcodes[0]

    def add(self, instruction: Instruction) -> int:
        """Append an instruction and return its index."""
        self.instructions.append(instruction)
        return len(self.instructions) - 1

    def label(self, proto: Any) -> str:
        """The name that the source gave the instruction; not unique."""
        path = proto.metadata.op_name or proto.name.rstrip("0123456789").rstrip(".")
        parts = path.split("/")
        if self.scope:
            parts = [part for part in parts if not part.startswith(self.scope)] or parts
        return "/".join(parts)

    def where(self, proto: Any) -> str:
        """How an error names the instruction."""
        return f"workload '{self.workload}': HLO instruction '{proto.name}' ({self.label(proto)})"


def _check_opcodes(program: Program) -> None:
    """What the outputs don't need may be of any kind."""
    for instruction in program.instructions:
        if instruction.opcode not in op_classes_by_opcode():
            raise FrontendError(
                f"workload '{program.name}': HLO instruction '{instruction.name}': {_unsupported(instruction.opcode)}"
            )


def _unsupported(opcode: str) -> str:
    return (
        f"the op kind '{opcode}' is not supported yet; supported: {', '.join(sorted(op_classes_by_opcode()))}, and"
        " call, fusion, tuple, batch-norm and random ops, which are replaced"
    )


def _flatten(value: Value, outputs: list[int]) -> None:
    if isinstance(value, tuple):
        for part in value:
            _flatten(part, outputs)
    else:
        outputs.append(value)


def _with_roles(instructions: Sequence[Instruction], inputs: int | None) -> list[Instruction]:
    if inputs is None:
        weights = _weights(instructions)
    else:
        weights = {i for i, one in enumerate(instructions) if _is_argument(one) and one.axes[0] >= inputs}
    return [
        one.replace(role="weight" if index in weights else "input") if _is_argument(one) else one
        for index, one in enumerate(instructions)
    ]


def _is_argument(instruction: Instruction) -> bool:
    """A parameter, but no random bits, which have their role from the start."""
    return instruction.opcode == "parameter" and bool(instruction.axes)


def _weights(instructions: Sequence[Instruction]) -> set[int]:
    """Parameters of rank <= 1 and those that only feed right-hand sides, through ops that only change form."""
    only_right = [True] * len(instructions)
    for index in reversed(range(len(instructions))):
        one = instructions[index]
        for position, operand in enumerate(one.operands):
            passes = one.opcode in FORM_ONLY and only_right[index]
            right = one.opcode in ("convolution", "dot") and position == 1
            only_right[operand] &= passes or right
    read = {operand for one in instructions for operand in one.operands}
    return {
        index
        for index, one in enumerate(instructions)
        if _is_argument(one) and (len(one.dimensions) <= 1 or (only_right[index] and index in read))
    }


def _named(instructions: Sequence[Instruction], inputs: int | None) -> tuple[Instruction, ...]:
    """Unique names: the source's name, and a count from the second use on; parameters by role and number."""
    used: dict[str, int] = {}
    named = []
    for one in instructions:
        if _is_argument(one):
            number = one.axes[0] - (inputs if one.role == "weight" and inputs else 0)
            label, one = f"{one.role}.{number}", one.replace(axes=())
        else:
            label = one.name
        count = used.get(label, 0)
        used[label] = count + 1
        named.append(one.replace(name=f"{label}.{count}" if count else label))
    return tuple(named)
