"""A program for every batch, from traces at two batches."""

from lib.program.program import LOOP_OPCODES, BatchError, Instruction, Program, map_sizes

TRACE_BATCHES = (2, 4)
"""Batches that a model is traced at. Batch 1 would not do: its unit dimension is treated specially."""
LARGER_BATCHES = (8, 16)
"""Where the graphs differ at those two: TensorFlow folds constants of at most 10 MiB, so perhaps of one batch alone."""
UNSUPPORTED = "a model whose graph depends on the batch is not supported"


def affine_program(low: Program, high: Program) -> Program:
    """`low` with the slopes that make it `high` at the batch of `high`.

    Both must hold the same instructions; every size must change by a whole number a sample. A float constant that
    changes with the batch (one over the number of elements, say) loses its value. Raises BatchError naming the first
    instruction that does not fit.
    """
    _check_trip_counts(low, high)
    if len(low.instructions) != len(high.instructions) or (low.outputs, low.carried) != (high.outputs, high.carried):
        raise BatchError(
            f"program '{low.name}' has {len(low.instructions)} instructions at batch {low.batch} and"
            f" {len(high.instructions)} at batch {high.batch}; {UNSUPPORTED}"
        )
    instructions, slopes = [], []
    for one, other in zip(low.instructions, high.instructions, strict=True):
        if one.value != other.value and one.dtype.startswith(("f", "bf")):
            one, other = one.replace(value=None), other.replace(value=None)
        instructions.append(one)
        slopes.append(_slope(low, high, one, other))
    return low.replace(instructions=tuple(instructions), slopes=tuple(slopes))


def _check_trip_counts(low: Program, high: Program) -> None:
    counters = (
        (one, other)
        for one, other in zip(low.instructions, high.instructions, strict=False)
        if one.opcode in LOOP_OPCODES and one.executions != other.executions
    )
    for one, other in counters:
        raise BatchError(
            f"program '{low.name}', instruction '{one.name}': its loop runs {one.executions} times at batch {low.batch}"
            f" and {other.executions} times at batch {high.batch}; the trip count of a loop must not depend on the"
            " batch: loop over another dimension (the length of a sequence, say), or work on all samples at once"
        )


def _slope(low: Program, high: Program, one: Instruction, other: Instruction) -> Instruction:
    where = f"program '{low.name}', instruction '{one.name}' ({one.opcode})"
    samples = high.batch - low.batch

    def change(first, second):
        if first == second or first != first:  # equal, or not a number
            return 0
        slope, rest = divmod(second - first, samples)
        if rest:
            raise BatchError(
                f"{where}: a size of {first} at batch {low.batch} and {second} at batch {high.batch} is not an affine"
                " function of the batch"
            )
        return slope

    try:
        slope = map_sizes(change, one, other)
    except (ValueError, AttributeError) as error:
        if isinstance(error, BatchError):
            raise
        slope = None
    # Names may differ: TensorFlow folds constants up to a size, and what is folded is named after its reader.
    if slope is None or map_sizes(lambda *_: 0, one) != map_sizes(lambda *_: 0, other).replace(name=one.name):
        raise BatchError(
            f"{where}: it is a different instruction at batch {high.batch}: '{other.name}' ({other.opcode});"
            f" {UNSUPPORTED}"
        )
    return slope
