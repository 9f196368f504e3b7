"""Programs with loops: how often instructions run, what is kept, simplification and kernels."""

import pytest

from lib.fusion import FusionSpace
from lib.fusion.default_kernels import default_kernels
from lib.program.executions import executions
from lib.program.program import BatchError, Indexing, Program
from lib.program.program_table import program_from_arrays, program_to_arrays
from lib.program.simplify import simplify
from lib.program.work import program_work
from schemas.program_artifact import ProgramArtifact
from tests.lib.program.program_examples import Writer

STEPS, BATCH, WIDTH = 6, 4, 32


def accumulating(w: Writer) -> Program:
    """Six times: state += tanh(table[counter] + exponential(bias)); then the state doubled."""
    start = w.add("inserted-copy", (BATCH, WIDTH), w.filled(0.0, BATCH, WIDTH), name="start")
    state = w.add("loop-state", (BATCH, WIDTH), start, executions=STEPS, name="state")
    counter = w.add("loop-counter", dtype="s32", executions=STEPS, name="counter")
    place = w.add("multiply", (), counter, w.constant(2.0, dtype="s32"), dtype="s32")
    zero = w.constant(0.0, dtype="s32")
    row = w.add("dynamic-slice", (1, WIDTH), w.weight(12, WIDTH), place, zero, name="row")
    wide = w.add("broadcast", (BATCH, WIDTH), w.add("reshape", (WIDTH,), row), axes=(1,))
    bias = w.add("exponential", (BATCH, WIDTH), w.input(BATCH, WIDTH), name="before")
    other = w.add("reverse", (BATCH, WIDTH), bias, axes=(0,), name="turned")
    step = w.add("tanh", (BATCH, WIDTH), w.add("add", (BATCH, WIDTH), wide, other))
    following = w.add("add", (BATCH, WIDTH), state, step, name="following")
    result = w.add("loop-result", (BATCH, WIDTH), following, name="result")
    return w.program(w.add("add", (BATCH, WIDTH), result, result, name="after")).replace(carried=(following,))


def test_executions_follow_the_loop():
    program = simplify(accumulating(Writer()), "as-traced")
    runs = dict(zip((one.name for one in program.instructions), executions(program.instructions), strict=True))
    assert {name: runs[name] for name in ("start", "before", "row", "following", "result", "after")} == {
        "start": 1, "before": 1, "row": STEPS, "following": STEPS, "result": 1, "after": 1,
    }  # fmt: skip
    # Twice the counter is a counter: no instruction multiplies.
    assert not [one for one in program.instructions if one.opcode == "multiply"]
    assert simplify(program, "as-traced") == program
    elements = BATCH * WIDTH
    assert program_work(program)["vector_ops"] == STEPS * 3 * elements + 2 * elements


def test_kernels_end_at_the_borders_of_a_loop():
    program = simplify(accumulating(Writer()), "as-traced")
    found = default_kernels(program)
    names = [program.instructions[root].name for root in found.occurrence_root]
    runs = dict(zip(names, found.occurrence_executions.tolist(), strict=True))
    leaves = dict(zip(names, found.occurrence_leaves.tolist(), strict=True))
    assert {name: runs[name] for name in ("start", "turned", "following", "after")} == {
        "start": 1, "turned": 1, "following": STEPS, "after": 1,
    }  # fmt: skip
    assert found.executions.sum() == sum(runs.values())
    assert all(leaves[name] for name in ("start", "turned", "following", "after"))
    # What is fused at random never joins ops that run unequally often.
    space = FusionSpace(program)
    groups = space.group(space.fusible)
    times = executions(program.instructions)
    assert all(times[i] == times[root] for i, root in enumerate(groups.tolist()) if root >= 0)


def test_what_only_the_next_step_reads_is_kept():
    w = Writer()
    state = w.add("loop-state", (8,), w.input(8), executions=STEPS)
    following = w.add("sine", (8,), state)
    program = w.program(w.add("loop-result", (8,), w.add("cosine", (8,), state))).replace(carried=(following,))
    kept = simplify(program, "as-traced")
    assert [one.opcode for one in kept.instructions] == ["parameter", "loop-state", "cosine", "loop-result", "sine"]
    assert len(default_kernels(kept).roots) == 2


def test_known_offsets_and_whole_updates_are_simplified():
    w = Writer()
    x, update = w.input(10, 4), w.input(10, 4)
    first, beyond = w.constant(0.0, dtype="s32"), w.constant(20.0, dtype="s32")
    part = w.add("dynamic-slice", (3, 4), x, beyond, first)
    whole = w.add("dynamic-update-slice", (10, 4), x, update, first, first)
    found = simplify(w.program(part, whole), "as-traced")
    (cut,) = [one for one in found.instructions if one.opcode == "slice"]
    assert (cut.slice_start, cut.slice_limit) == ((7, 0), (10, 4))  # moved inside
    assert found.instructions[found.outputs[1]].opcode == "parameter"


def test_loops_and_look_ups_survive_the_artifact(tmp_path):
    w = Writer()
    program = accumulating(w)
    numbers = Indexing(window=(1,), collapsed=(0,), indexed=(0,), vector=(1,))
    table = w.add("inserted-copy", (9, WIDTH), w.input(9, WIDTH))
    scattered = w.add(
        "scatter", (9, WIDTH), table, w.input(5, 1, dtype="s32"), w.input(5, WIDTH), indexing=numbers, body_ops=2,
        reducer="add",
    )  # fmt: skip
    program = program.replace(instructions=tuple(w.instructions), outputs=(*program.outputs, scattered))
    contents = {"program.npz": program_to_arrays(program)}
    ProgramArtifact.write(tmp_path, id="example", origin="none", code="", spec={}, contents=contents)
    assert program_from_arrays(ProgramArtifact.read(tmp_path)["program.npz"]) == program


def test_arrays_beyond_64_bits_are_refused():
    w = Writer()
    program = w.program(w.add("negate", (2**60, 4), w.input(2**60, 4)))
    with pytest.raises(BatchError, match=r"'parameter-0': its 18446744073709551616 bytes at batch 2.*a smaller batch"):
        program_to_arrays(program)
