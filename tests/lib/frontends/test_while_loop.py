"""Loops: how often their bodies run, what their state costs, and which are refused."""

import pytest
from tensorflow.compiler.xla import xla_data_pb2

from lib.frontends.errors import FrontendError
from lib.frontends.hlo_module import program_of
from lib.program.batch import affine_program
from lib.program.executions import executions
from lib.program.program import BatchError, Program
from lib.program.simplify import simplify
from lib.program.work import program_work
from tests.lib.frontends.hlo_examples import Module, add_loop

DOT = xla_data_pb2.DotDimensionNumbers(lhs_contracting_dimensions=[1], rhs_contracting_dimensions=[0])


def program(module: Module, batch: int = 2, **options) -> Program:
    return program_of(module.proto, "example", batch, inputs=1, **options)


def runs(program: Program) -> dict[str, int]:
    """Executions by opcode."""
    return {
        one.opcode: times
        for one, times in zip(program.instructions, executions(program.instructions), strict=True)
        if one.opcode != "constant"
    }


def tanh(module: Module, x: int) -> int:
    return module.add("tanh", (4,), x)


def loop_of(start: int, limit: int, step: int, comparison: str, *, turned: bool = False, body=tanh) -> Module:
    """`while (counter comparison limit) {x = tanh(x); counter += step}`; `turned`: limit first."""
    module = Module()
    add_loop(module, start, limit, step, comparison, body, turned=turned)
    return module


@pytest.mark.parametrize(
    ("start", "limit", "step", "comparison", "turned", "steps"),
    [
        (0, 5, 1, "LT", False, 5),
        (0, 5, 1, "LE", False, 6),
        (0, 5, 1, "NE", False, 5),
        (5, 0, -1, "GT", False, 5),
        (5, 0, -1, "GE", False, 6),
        (0, 10, 3, "LT", False, 4),
        (2, 12, 5, "LT", False, 2),
        (0, 5, 1, "GT", True, 5),
        (3, 3, 1, "EQ", False, 1),
    ],
)
def test_trip_counts(start, limit, step, comparison, turned, steps):
    found = runs(program(loop_of(start, limit, step, comparison, turned=turned)))
    assert found == {"parameter": 1, "loop-state": steps, "tanh": steps, "loop-result": 1}


def test_a_loop_that_never_starts_changes_nothing():
    assert [one.opcode for one in program(loop_of(5, 5, 1, "LT")).instructions] == ["parameter"]


def test_loops_in_loops_multiply():
    module = Module()
    add_loop(module, 0, 3, 1, "LT", lambda module, x: add_loop(module, 0, 4, 1, "LT", tanh, x))
    assert runs(program(module))["tanh"] == 12


def test_what_does_not_change_in_the_loop_is_done_before_it():
    module = Module()

    def body(module, x):
        return module.add("add", (4,), x, module.add("exponential", (4,), module.kept))

    add_loop(module, 0, 7, 1, "LT", body, keeps=(4,))
    found = runs(program(module))
    assert (found["exponential"], found["add"]) == (1, 7)


def test_state_that_is_read_until_the_end_is_copied_each_step():
    # Both the dot and the sum need the old state, which the new one would overwrite.
    def body(module, x):
        row = module.add("reshape", (1, 4), x)
        square = module.add("broadcast", (4, 4), x, dimensions=[0])
        product = module.add("reshape", (4,), module.add("dot", (1, 4), row, square, dot_dimension_numbers=DOT))
        return module.add("add", (4,), product, module.add("reverse", (4,), x, dimensions=[0]))

    found = runs(program(loop_of(0, 6, 1, "LT", body=body)))
    assert (found["inserted-copy"], found["dot"]) == (6, 6)
    # A sum onto the state, and an update of a part of it, are made in place.
    assert "inserted-copy" not in runs(program(loop_of(0, 6, 1, "LT", body=lambda m, x: m.add("negate", (4,), x))))

    def update(module, x):
        return module.add("dynamic-update-slice", (4,), x, module.constant(1.0, dimensions=(1,)), module.counter)

    module = loop_of(0, 6, 1, "LT", body=update)
    assert "inserted-copy" not in runs(program(module))
    assert program_work(program(module))["activation_bytes"] == 6 * 4


def test_state_that_starts_from_a_known_value_is_written_once():
    module = Module()
    module.start()
    zeros = module.add("broadcast", (4,), module.constant(0.0))
    add_loop(module, 0, 6, 1, "LT", tanh, zeros)
    found = runs(simplify(program(module), "as-traced"))
    assert (found["inserted-copy"], found["tanh"]) == (1, 6)


def test_state_that_nothing_needs_is_dropped():
    module = Module()
    x = add_loop(module, 0, 6, 1, "LT", tanh)
    module.add("negate", (4,), module.given)
    assert [one.opcode for one in program(module).instructions] == ["parameter", "negate"]
    assert x


def endless(module: Module) -> None:
    add_loop(module, 0, 5, 0, "LT", tanh)


def overshooting(module: Module) -> None:
    add_loop(module, 0, 5, 2, "NE", tanh)


def data_dependent(module: Module) -> None:
    add_loop(module, 0, None, 1, "LT", tanh)


@pytest.mark.parametrize(
    ("fill", "message"),
    [
        (endless, r"workload 'example'.*'loop' \(while\): the loop never ends"),
        (overshooting, r"not ended after 65536 steps.*as trip_count"),
        (data_dependent, r"workload 'example'.*'loop' \(while\): how often the loop runs depends on data.*trip_count"),
    ],
)
def test_loops_without_a_known_end_are_refused(fill, message):
    module = Module()
    fill(module)
    with pytest.raises(FrontendError, match=message):
        program(module)


def test_a_given_trip_count():
    module = Module()
    data_dependent(module)
    assert runs(program(module, trip_count=9))["tanh"] == 9
    with pytest.raises(FrontendError, match=r"trip_count: 9 is given, but no loop of the program needs it"):
        program(loop_of(0, 5, 1, "LT"), trip_count=9)


def test_a_trip_count_that_depends_on_the_batch_is_refused():
    low, high = (program(loop_of(0, batch, 1, "LT"), batch) for batch in (2, 4))
    with pytest.raises(BatchError, match=r"'loop': its loop runs 2 times at batch 2 and 4 times at batch 4; the trip"):
        affine_program(low, high)


def test_too_many_runs_are_refused():
    module = Module()
    data_dependent(module)
    add_loop(module, 0, 50_000, 1, "LT", lambda module, x: add_loop(module, 0, 50_000, 1, "LT", tanh, x))
    with pytest.raises(FrontendError, match=r"runs 2500000000 times; at most 2147483647"):
        program(module, trip_count=1)


def test_the_costlier_branch_stands_for_a_conditional():
    module = Module()
    cheap = module.start()
    module.parameter(0, 4, 4)
    dear = module.start()
    x = module.parameter(0, 4, 4)
    module.add("dot", (4, 4), x, x, dot_dimension_numbers=DOT)
    module.start()
    x, which = module.parameter(0, 4, 4), module.parameter(1, dtype="pred")
    module.add("conditional", (4, 4), which, x, x, called_computation_ids=[cheap, dear])
    assert [one.opcode for one in program(module).instructions] == ["parameter", "dot"]
    module.add("conditional", (4, 4), module.constant(1.0), x, x, called_computation_ids=[cheap, dear])
    assert [one.opcode for one in program(module).instructions] == ["parameter", "dot"]
