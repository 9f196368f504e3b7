"""Reads the computations of an HLO module: calls and fusions inlined, tuples unwrapped, loop bodies read once."""

from collections.abc import Sequence
from typing import Any

from lib.frontends.batch_norm import BATCH_NORM_OPCODES, decompose_batch_norm
from lib.frontends.conditional import read_conditional
from lib.frontends.copy_insertion import Loop
from lib.frontends.error_function import ERROR_FUNCTIONS
from lib.frontends.errors import FrontendError
from lib.frontends.hlo_instruction import indexing_of, instruction_of, literal_values
from lib.frontends.several_results import ADDED
from lib.frontends.unsupported import custom_call
from lib.frontends.while_loop import known_value, read_while
from lib.program.program import Indexing, Instruction

Value = Any
"""Index of an instruction (int), or a tuple of values."""
INLINED = ("call", "fusion")
"""Opcodes that are replaced by the computation that they call."""
NOT_COUNTED = ("parameter", "constant", "convert", "tuple", "get-tuple-element", "broadcast", "reshape")
"""Opcodes that are no operation of the computation that a reduction or sort applies."""
SEVERAL_RESULTS = ("reduce", "reduce-window", "sort")
"""Opcodes that may work on several arrays of one shape at once; the first half of a reduction's operands are the
arrays, the others starting values."""
TOP_K = "TopK"
"""Custom call that returns the largest values and their places, as the op `topk` does."""


class Reader:
    """Collects instructions while it walks computations; parameters carry their number in `axes`.

    `loops`: the state of the loops; `loops_around`: how many are around what is being read; `error_functions`:
    instructions by the TensorFlow op that they came from;
    `refused`: why an instruction of an op kind that programs don't hold is refused, by its label.
    """

    def __init__(self, module: Any, workload: str, scope: str, trip_count: int | None = None):
        self.workload, self.scope, self.trip_count = workload, scope, trip_count
        self.module = module
        self.computations = {computation.id: computation for computation in module.computations}
        self.instructions: list[Instruction] = []
        self.loops: list[Loop] = []
        self.random = 0
        self.loops_around = 0
        self.error_functions: dict[tuple[str, str], set[int]] = {}
        self.refused: dict[str, str] = {}
        self._trip_count_needed = False

    def entry(self) -> list[int]:
        """Indices of the outputs of the module's entry computation, which is read. Raises FrontendError."""
        computation = self.computations.get(self.module.entry_computation_id)
        if computation is None:
            raise FrontendError(f"workload '{self.workload}': the HLO module has no entry computation")
        outputs: list[int] = []
        _flatten(self.computation(computation, None), outputs)
        if not outputs:
            raise FrontendError(f"workload '{self.workload}': the HLO module has no outputs")
        if self.trip_count is not None and not self._trip_count_needed:
            raise FrontendError(
                f"workload '{self.workload}': trip_count: {self.trip_count} is given, but no loop of the program needs"
                " it; leave the key out"
            )
        return outputs

    def computation(self, computation: Any, arguments: Sequence[Value] | None) -> Value:
        """The value of a computation on `arguments`, whose instructions are added; None: the entry's own parameters."""
        values: dict[int, Value] = {}
        for proto in computation.instructions:
            operands = [values[operand] for operand in proto.operand_ids]
            values[proto.id] = value = self._value(proto, operands, arguments)
            if proto.metadata.op_type in ERROR_FUNCTIONS and not isinstance(value, tuple):
                key = (proto.metadata.op_type, proto.metadata.op_name)
                self.error_functions.setdefault(key, set()).add(value)
        return values[computation.root_id]

    def given_trip_count(self) -> int | None:
        """The workload's trip_count, which a loop needs."""
        self._trip_count_needed = True
        return self.trip_count

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
            case "while":
                return read_while(self, proto, operands[0])
            case "conditional":
                return read_conditional(self, proto, operands)
            case "rng-bit-generator":
                return operands[0], self._random(proto, proto.shape.tuple_shapes[-1])
            case "rng":
                return self._random(proto, proto.shape)
            case opcode if opcode in INLINED:
                return self.computation(self.computations[proto.called_computation_ids[0]], operands)
            case opcode if opcode in BATCH_NORM_OPCODES:
                return decompose_batch_norm(self, proto, operands)
            case "set-dimension-size" if self._keeps_its_size(proto, operands):
                return operands[0]
            case "get-dimension-size":
                return self._size(proto, operands[0])
            case "topk":
                return self._top_k(proto, operands)
            case "custom-call" if proto.custom_call_target == TOP_K:
                return self._top_k(proto, operands)
            case "scatter" if len(operands) > 3:
                return self._scatters(proto, operands)
        return self._plain(proto, operands)

    def _parameter(self, proto: Any) -> int:
        if proto.shape.tuple_shapes:
            raise FrontendError(f"{self.where(proto)}: a parameter that is a tuple is not supported; pass its arrays")
        instruction = instruction_of(proto, "", self.where(proto))
        return self.add(instruction.replace(axes=(proto.parameter_number,)))

    def _plain(self, proto: Any, operands: list[Value]) -> Value:
        shapes = list(proto.shape.tuple_shapes)
        if any(isinstance(operand, tuple) for operand in operands) or (shapes and proto.opcode not in SEVERAL_RESULTS):
            return self.unsupported_results(proto, proto.shape)
        where = self.where(proto)
        instruction = instruction_of(proto, self.label(proto), where, shapes[0] if shapes else None)
        instruction = instruction.replace(operands=tuple(operands))
        match proto.opcode:
            case "constant":
                return self._constant(proto, instruction)
            case "reduce" | "reduce-window":
                instruction = self._reduction(proto, instruction)
            case "sort":
                # The order of a pair is found once; then each array's element is fetched and chosen.
                compared = len(self._operations(proto, 0))
                instruction = instruction.replace(body_ops=compared + 2 * len(operands))
            case "gather":
                instruction = instruction.replace(indexing=self._indexing(proto, operands[1]))
            case "scatter":
                combined = self._operations(proto, 0)
                reducer = combined[0] if len(combined) == 1 else ""
                instruction = instruction.replace(
                    reducer=reducer, body_ops=1 + len(combined), indexing=self._indexing(proto, operands[1])
                )
            case "select-and-scatter":
                # An element is compared and chosen in its window, then the gradient is chosen and added.
                operations = [*self._operations(proto, 0), *self._operations(proto, 1)]
                instruction = instruction.replace(body_ops=len(operations) + 2)
            case "bitcast-convert" if instruction.dimensions == self.instructions[operands[0]].dimensions:
                instruction = instruction.replace(opcode="convert")  # costs the same
            case "custom-call":
                self.refused[instruction.name] = custom_call(proto.custom_call_target)
        first = self.add(instruction)
        if not shapes:
            return first
        others = [instruction_of(proto, instruction.name, where, shape) for shape in shapes[1:]]
        return first, *(
            self.add(Instruction(one.name, ADDED, one.dtype, one.dimensions, one.layout, (first,))) for one in others
        )

    def unsupported_results(self, proto: Any, shape: Any) -> Value:
        """What stands for the results of an op that a program can't hold; `check_supported` refuses what is needed."""
        if shape.tuple_shapes:
            return tuple(self.unsupported_results(proto, part) for part in shape.tuple_shapes)
        instruction = instruction_of(proto, self.label(proto), self.where(proto), shape)
        if proto.opcode == "custom-call":
            self.refused[instruction.name] = custom_call(proto.custom_call_target)
        return self.add(instruction)

    def _keeps_its_size(self, proto: Any, operands: list[Value]) -> bool:
        """Whether a dimension is set to the size that it has."""
        size = known_value(self.instructions, operands[1], {})
        return size is not None and size[0] == self.instructions[operands[0]].dimensions[proto.dimensions[0]]

    def _size(self, proto: Any, array: int) -> int:
        size = self.instructions[array].dimensions[proto.dimensions[0]]
        return self.add(instruction_of(proto, self.label(proto), self.where(proto)).replace(
            opcode="constant", axes=(), value=(float(size),)
        ))  # fmt: skip

    def _random(self, proto: Any, shape: Any) -> int:
        bits = instruction_of(proto, f"random.{self.random}", self.where(proto), shape)
        self.random += 1
        source = self.add(Instruction(bits.name, "parameter", bits.dtype, bits.dimensions, bits.layout, role="input"))
        if not self.loops_around:
            return source
        # New bits in every step.
        return self.add(Instruction(bits.name, "loop-state", bits.dtype, bits.dimensions, bits.layout, (source,)))

    def _constant(self, proto: Any, instruction: Instruction) -> int:
        value = literal_values(proto, instruction)
        if value is None or len(value) == instruction.elements:
            return self.add(instruction.replace(value=value))
        scalar = self.add(instruction.replace(value=value, dimensions=(), layout=()))
        return self.add(instruction.replace(opcode="broadcast", operands=(scalar,)))

    def _reduction(self, proto: Any, instruction: Instruction) -> Instruction:
        operations = self._operations(proto, 0)
        if not operations:
            raise FrontendError(
                f"{self.where(proto)}: a {proto.opcode} that applies nothing is not supported; it must apply an op,"
                " such as add or maximum"
            )
        reducer = operations[0] if len(operations) == 1 else ""
        instruction = instruction.replace(reducer=reducer, body_ops=len(operations))
        dimension = _cumulative(instruction, self.instructions[instruction.operands[0]])
        if dimension is None:
            return instruction
        return instruction.replace(opcode="scan", axes=(dimension,), window=None)

    def _operations(self, proto: Any, number: int) -> list[str]:
        """Opcodes of the operations of a computation that an op applies to elements."""
        body = self.computations[proto.called_computation_ids[number]]
        return [one.opcode for one in body.instructions if one.opcode not in NOT_COUNTED]

    def _top_k(self, proto: Any, operands: list[Value]) -> Value:
        """The largest elements along the last dimension: sorted with their places, then cut."""
        where, name = self.where(proto), self.label(proto)
        whole = self.instructions[operands[0]]
        axis = len(whole.dimensions) - 1
        kept = [instruction_of(proto, name, where, shape) for shape in proto.shape.tuple_shapes]
        values = self.add(
            Instruction(
                name, "sort", whole.dtype, whole.dimensions, whole.layout, (operands[0],), axes=(axis,), body_ops=5
            )
        )
        places = self.add(Instruction(name, ADDED, kept[1].dtype, whole.dimensions, whole.layout, (values,)))
        zeros, ones = (0,) * (axis + 1), (1,) * (axis + 1)
        return tuple(
            self.add(
                one.replace(
                    opcode="slice", operands=(source,), slice_start=zeros, slice_limit=one.dimensions, slice_stride=ones
                )
            )
            for one, source in zip(kept, (values, places), strict=True)
        )

    def _scatters(self, proto: Any, operands: list[Value]) -> Value:
        """A scatter into several arrays as one scatter an array."""
        count = (len(operands) - 1) // 2
        combined, indexing = len(self._operations(proto, 0)), self._indexing(proto, operands[count])
        results = []
        for number, shape in enumerate(proto.shape.tuple_shapes):
            parts = (operands[number], operands[count], operands[count + 1 + number])
            one = instruction_of(proto, self.label(proto), self.where(proto), shape)
            each = 1 + -(-combined // count)
            results.append(self.add(one.replace(operands=parts, body_ops=each, indexing=indexing)))
        return tuple(results)

    def _indexing(self, proto: Any, indices: int) -> Indexing:
        return indexing_of(proto, len(self.instructions[indices].dimensions))

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


def _cumulative(instruction: Instruction, source: Instruction) -> int | None:
    """The dimension that a reduce-window sums up to each place: its window is as long as the dimension."""
    window = instruction.window
    if window is None or instruction.dimensions != source.dimensions:
        return None
    plain = all(extent == 1 for extent in (*window.stride, *window.window_dilation, *window.base_dilation))
    windowed = [dimension for dimension, size in enumerate(window.size) if size > 1]
    if not plain or len(windowed) != 1 or window.size[windowed[0]] != source.dimensions[windowed[0]]:
        return None
    return windowed[0]


def _flatten(value: Value, outputs: list[int]) -> None:
    if isinstance(value, tuple):
        for part in value:
            _flatten(part, outputs)
    else:
        outputs.append(value)
