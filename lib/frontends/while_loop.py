"""`while` loops: the body is read once and runs as often as the loop has steps.

The trip count is found by evaluating the loop: of its state, the numbers that start from known values and are computed
from such numbers alone (counters) are followed step by step until the condition is false, as XLA's
`ComputeWhileLoopTripCount` does. So the usual counter with a constant bound is covered, and any other form of it.
"""

from typing import TYPE_CHECKING, Any

from lib.frontends.copy_insertion import Loop
from lib.frontends.errors import FrontendError
from lib.program.folding import COMPARISONS, ELEMENTWISE, folded_value, is_float
from lib.program.program import LOOP_OPCODES, Instruction

if TYPE_CHECKING:
    from lib.frontends.hlo_reader import Reader, Value

MOST_STEPS = 1 << 16
"""Steps that are followed to find a trip count."""
DATA_DEPENDENT = (
    "how often the loop runs depends on data (its condition reads more than counters with a constant bound); give the"
    " workload the number of steps to count with, as trip_count"
)
TOO_LONG = (
    f"the loop has not ended after {MOST_STEPS} steps, the most that are followed; give the workload the number of"
    " steps as trip_count"
)
ENDLESS = "the loop never ends: no step changes what its condition reads; mend the model"
MOST_EXECUTIONS = 2**31 - 1
"""Of an instruction: what the arrays of kernels hold."""
SAME_VALUE = ("copy", "reshape", "bitcast")
"""Opcodes through which state may be passed on unchanged."""

UNWRITTEN = ("broadcast", "reshape", "bitcast", "convert", "transpose")
"""Opcodes whose result on a known value no kernel writes."""

QUICK = {name: ELEMENTWISE[name] for name in ("add", "subtract", "multiply", "and", "or", "negate")}
"""What counters are mostly made with; Python's own operators are faster than `folded_value`."""

Path = tuple[int, ...]
"""Where an array lies in nested tuples."""
Known = dict[int, tuple[float, ...] | None]
"""Values of instructions by index."""


def read_while(reader: "Reader", proto: Any, state: "Value") -> "Value":
    """The results of a `while` on `state`.

    State that no step changes is what the loop started with. A loop whose number of steps can't be told is refused
    where its results are needed, unless the workload has a `trip_count`; so is one that never ends.
    """
    body, condition = (reader.computations[number] for number in proto.called_computation_ids)
    initial = dict(_leaves(state))
    changed = [path for path in initial if not _passed_on(body, path)]
    start = len(reader.instructions)
    place = {path: reader.add(_state(reader, proto, initial[path])) for path in changed}
    argument = _rebuilt(state, {**initial, **place})
    reader.loops_around += 1
    result = reader.computation(body, [argument])
    reader.loops_around -= 1
    go_on = reader.computation(condition, [argument])
    following = {path: index for path, index in _leaves(result) if path in place}
    counters = _counters(reader.instructions, {place[p]: (initial[p], following[p]) for p in changed})
    steps, last = _count(reader.instructions, go_on, counters)
    if not isinstance(steps, int):
        given = None if steps is ENDLESS else reader.given_trip_count()
        if given is None:
            reader.refused[reader.label(proto)] = steps
            return reader.unsupported_results(proto, proto.shape)
        steps = given
    if steps == 0:
        return state

    for index in counters:
        reader.instructions[index] = reader.instructions[index].replace(opcode="loop-counter", operands=())
    _repeat(reader, proto, start, steps)
    for path in changed:
        if place[path] not in counters:
            _give_a_buffer(reader, place[path])
            reader.loops.append(Loop(place[path], following[path]))
    results = {**initial}
    for path in changed:
        one = reader.instructions[following[path]]
        if place[path] in last:
            results[path] = reader.add(
                Instruction(one.name, "constant", one.dtype, one.dimensions, one.layout, value=last[place[path]])
            )
        else:
            results[path] = reader.add(
                Instruction(one.name, "loop-result", one.dtype, one.dimensions, one.layout, (following[path],))
            )
    return _rebuilt(state, results)


def _state(reader: "Reader", proto: Any, initial: int) -> Instruction:
    one = reader.instructions[initial]
    return Instruction(reader.label(proto), "loop-state", one.dtype, one.dimensions, one.layout, (initial,))


def _leaves(value: "Value", path: Path = ()) -> list[tuple[Path, int]]:
    if isinstance(value, tuple):
        return [leaf for number, part in enumerate(value) for leaf in _leaves(part, (*path, number))]
    return [(path, value)]


def _rebuilt(like: "Value", leaves: dict[Path, int], path: Path = ()) -> "Value":
    if isinstance(like, tuple):
        return tuple(_rebuilt(part, leaves, (*path, number)) for number, part in enumerate(like))
    return leaves[path]


def _passed_on(body: Any, path: Path) -> bool:
    """Whether the body returns this part of its argument as it is."""
    protos = {proto.id: proto for proto in body.instructions}
    proto, within = protos[body.root_id], path
    while True:
        if proto.opcode == "parameter":
            return within == path
        if proto.opcode == "tuple" and within:
            proto, within = protos[proto.operand_ids[within[0]]], within[1:]
        elif proto.opcode == "get-tuple-element":
            proto, within = protos[proto.operand_ids[0]], (proto.tuple_index, *within)
        elif proto.opcode in SAME_VALUE:
            source = protos[proto.operand_ids[0]]
            if list(source.shape.dimensions) != list(proto.shape.dimensions):
                return False
            proto = source
        else:
            return False


def _counters(instructions: list[Instruction], state: dict[int, tuple[int, int]]) -> dict[int, tuple]:
    """(next, value at the start) of the numbers whose course can be followed, from (initial, next) of all state."""
    found = {}
    for index, (initial, following) in state.items():
        one = instructions[index]
        value = None if one.elements != 1 or is_float(one.dtype) else known_value(instructions, initial, {})
        if value is not None:
            found[index] = (following, value)
    while True:
        known: Known = {index: value for index, (_, value) in found.items()}
        lost = [index for index, (following, _) in found.items() if known_value(instructions, following, known) is None]
        if not lost:
            return found
        for index in lost:
            del found[index]


def _count(
    instructions: list[Instruction], go_on: int, counters: dict[int, tuple]
) -> tuple[int | str, dict[int, tuple[float, ...]]]:
    """(Steps until the condition is false, the counters' values then); or why that can't be told, and nothing."""
    values = {index: value for index, (_, value) in counters.items()}
    for step in range(MOST_STEPS + 1):
        known: Known = dict(values)
        more = known_value(instructions, go_on, known)
        if more is None:
            return DATA_DEPENDENT, {}
        if not more[0]:
            return step, values
        after = {index: known_value(instructions, following, known) for index, (following, _) in counters.items()}
        if any(value is None for value in after.values()):
            return DATA_DEPENDENT, {}
        if after == values:
            return ENDLESS, {}
        values = {index: value for index, value in after.items() if value is not None}
    return TOO_LONG, {}


def known_value(instructions: list[Instruction], index: int, known: Known) -> tuple[float, ...] | None:
    """Elements of a small array that is computed from constants and `known` values, to which all results are added."""
    waiting = [index]
    while waiting:
        current = waiting[-1]
        one = instructions[current]
        if current in known:
            waiting.pop()
        elif one.value is not None:
            known[current] = one.value
        elif one.elements > 1 or one.opcode in LOOP_OPCODES or not one.operands:
            known[current] = None
        else:
            open_operands = [operand for operand in one.operands if operand not in known]
            if open_operands:
                waiting.extend(open_operands)
                continue
            known[current] = _result(instructions, one, [known[operand] for operand in one.operands])
    return known[index]


def _result(
    instructions: list[Instruction], one: Instruction, values: list[tuple[float, ...] | None]
) -> tuple[float, ...] | None:
    """Of one instruction on the values of its operands."""
    function = COMPARISONS.get(one.comparison) if one.opcode == "compare" else QUICK.get(one.opcode)
    numbers = [int(value[0]) for value in values if value is not None and len(value) == 1]
    integers = not any(is_float(instructions[index].dtype) for index in one.operands) and not is_float(one.dtype)
    if function is not None and integers and len(numbers) == len(values):
        return (float(function(*numbers)),)
    operands = [instructions[index].replace(value=value) for index, value in zip(one.operands, values, strict=True)]
    return folded_value(one, operands)


def _repeat(reader: "Reader", proto: Any, start: int, steps: int) -> None:
    """Let what was read since `start` run once a step."""
    for index in range(start, len(reader.instructions)):
        one = reader.instructions[index]
        if one.opcode in LOOP_OPCODES:
            if one.executions * steps > MOST_EXECUTIONS:
                raise FrontendError(
                    f"{reader.where(proto)}: with its {steps} steps '{one.name}' runs {one.executions * steps} times;"
                    f" at most {MOST_EXECUTIONS} can be counted; give the workload a smaller trip_count or fewer steps"
                )
            reader.instructions[index] = one.replace(executions=one.executions * steps)


def _give_a_buffer(reader: "Reader", state: int) -> None:
    """State that starts as a broadcast or known value is written to memory first."""
    one = reader.instructions[state]
    (initial,) = one.operands
    source = reader.instructions[initial]
    while source.opcode in UNWRITTEN and source.operands:
        source = reader.instructions[source.operands[0]]
    if source.opcode == "iota" or source.value is not None:
        fill = Instruction(f"{one.name}.start", "inserted-copy", one.dtype, one.dimensions, one.layout, (initial,))
        reader.instructions[state] = one.replace(operands=(reader.add(fill),))
