"""Softmax in three passes over its input, as programs write it, or in two.

    three passes: the maximum m of each row; e = exp(x - m), stored, and its sum s; e / s
    two passes:   m and s at once, corrected whenever a larger element is met; exp(x - m) / s from x again

The second form is the online softmax of Milakov and Gimelshein ("Online normalizer calculation for softmax", 2018),
which FAST chooses between (ASPLOS 2022, section 5.6, algorithms 1 and 2; the last line of algorithm 2 as printed leaves
out the subtraction of m). The exponentials are stored nowhere, but there are up to three for each element in place of
one: its own, the correction of what was summed before, and once more when it is divided.
"""

from typing import Literal, NamedTuple

from lib.program.order import users
from lib.program.program import Instruction, Program

Softmax = Literal["three-pass", "two-pass"]
PAIR_TYPES = {"bf16": "f32", "f16": "f32", "f32": "f64"}
"""A row's maximum and sum lie side by side: one element of twice the bytes, by the type of the input."""


class SoftmaxPlace(NamedTuple):
    """Indices of the instructions of one softmax."""

    input: int
    maximum: int
    shifted: int
    """The input less its row's maximum."""
    exponential: int
    total: int
    """The sum of the exponentials."""
    quotient: int


def with_softmax(program: Program, form: Softmax) -> Program:
    """The program with every softmax in the form asked for; itself where that is `three-pass` or it has none.

    The result holds for its own batch only (ask for the batch first), and its instructions have other indices.
    """
    places = softmaxes(program) if form == "two-pass" else []
    return _two_pass(program, places) if places else program


def softmaxes(program: Program) -> list[SoftmaxPlace]:
    """Each softmax of a simplified program: maximum over some dimensions, subtract, exponential, sum over the same
    dimensions, divide, where nobody else reads what lies between; in order of the quotients."""
    instructions, readers = program.instructions, users(program.instructions)
    kept = {*program.outputs, *program.carried}
    found = []
    for quotient, one in enumerate(instructions):
        if one.opcode != "divide" or one.dtype not in PAIR_TYPES:
            continue
        exponential, divisor = one.operands
        total = _spread_reduction(instructions, divisor, "add")
        if total < 0 or instructions[total].operands[0] != exponential:
            continue
        if instructions[exponential].opcode != "exponential":
            continue
        shifted = instructions[exponential].operands[0]
        if instructions[shifted].opcode != "subtract":
            continue
        source, subtrahend = instructions[shifted].operands
        maximum = _spread_reduction(instructions, subtrahend, "maximum")
        if maximum < 0 or instructions[maximum].operands[0] != source:
            continue
        if instructions[maximum].axes != instructions[total].axes:
            continue
        expected = {
            maximum: [subtrahend], subtrahend: [shifted], shifted: [exponential], exponential: [total, quotient],
            total: [divisor], divisor: [quotient],
        }  # fmt: skip
        if all(sorted(readers[index]) == sorted(read) for index, read in expected.items()) and not kept & {*expected}:
            found.append(SoftmaxPlace(source, maximum, shifted, exponential, total, quotient))
    return found


def _spread_reduction(instructions: tuple[Instruction, ...], index: int, reducer: str) -> int:
    """The reduction whose result `index` spreads over the reduced dimensions again; -1 where it is something else."""
    spread = instructions[index]
    if spread.opcode != "broadcast":
        return -1
    reduction = instructions[spread.operands[0]]
    if reduction.opcode != "reduce" or reduction.reducer != reducer or reduction.body_ops != 1:
        return -1
    source = instructions[reduction.operands[0]]
    others = tuple(axis for axis in range(len(source.dimensions)) if axis not in reduction.axes)
    same = spread.dimensions == source.dimensions and spread.axes == others
    return spread.operands[0] if same else -1


def _two_pass(program: Program, places: list[SoftmaxPlace]) -> Program:
    at = {place.quotient: place for place in places}
    dropped = {index for place in places for index in (place.maximum, place.shifted, place.exponential, place.total)}
    dropped |= {program.instructions[place.shifted].operands[1] for place in places}
    dropped |= {program.instructions[place.quotient].operands[1] for place in places}
    instructions: list[Instruction] = []
    moved: dict[int, int] = {}
    for index, instruction in enumerate(program.instructions):
        if index in dropped:
            continue
        if index in at:
            _add_two_passes(program, at[index], instructions, moved)
        else:
            instructions.append(instruction.replace(operands=tuple(moved[one] for one in instruction.operands)))
        moved[index] = len(instructions) - 1
    return program.replace(
        instructions=tuple(instructions),
        outputs=tuple(moved[output] for output in program.outputs),
        carried=tuple(moved[value] for value in program.carried),
        slopes=None,
    )


def _add_two_passes(
    program: Program, place: SoftmaxPlace, instructions: list[Instruction], moved: dict[int, int]
) -> None:
    """Add one softmax to `instructions`, the quotient last.

    A kernel has the work of the ops that it holds and no state, so that the running maximum stands for what it costs:
    one op of each kind that a step of the first pass does to an element.
    """
    old = program.instructions
    whole, total = old[place.quotient], old[place.total]

    def add(name: str, opcode: str, *operands: int, like: Instruction = whole, **fields) -> int:
        instructions.append(
            Instruction(
                f"{old[place.maximum].name}/{name}", opcode, fields.pop("dtype", like.dtype), like.dimensions,
                like.layout, operands, **fields,
            )
        )  # fmt: skip
        return len(instructions) - 1

    x = moved[place.input]
    running = add("running-maximum", "maximum", x, x)
    correction = add("correction", "exponential", add("growth", "subtract", running, x))
    term = add("term", "exponential", add("shifted", "subtract", x, running))
    corrected = add("corrected", "multiply", correction, term)
    pair = add(
        "maximum-and-sum", "reduce", corrected, moved[total.operands[1]], like=total, dtype=PAIR_TYPES[whole.dtype],
        axes=total.axes, reducer=total.reducer,
    )  # fmt: skip
    spread = add("spread", "broadcast", pair, axes=old[whole.operands[1]].axes, dtype=PAIR_TYPES[whole.dtype])
    again = add("exponential", "exponential", add("shifted-again", "subtract", x, spread))
    instructions.append(whole.replace(operands=(again, spread)))
