"""Goals, the file's form and the table."""

import pytest
from pydantic import ValidationError

from lib.benchmark.goals import GOALS
from lib.benchmark.machine import this_machine
from lib.benchmark.measurement import Measurement
from lib.benchmark.summary import figure, summary, table
from schemas.benchmark import BenchmarkFigure, BenchmarkSummary, Machine

MACHINE = Machine(processor="p", cores=2, memory_bytes=2**30, load=0.1, system="s", software={"python": "3.11.7"})


def simulator(*values: float) -> Measurement:
    return Measurement("bench.simulator.tile.rows_per_s", "simulator", "1/s", values)


def test_design_goals_are_held_against_the_median():
    met = figure(simulator(1.2e6, 0.9e6, 1.1e6))
    assert (met.value, met.goal, met.met) == (1.1e6, ">= 1e+06", True)
    assert (met.minimum, met.maximum, met.repetitions) == (0.9e6, 1.2e6, 3)
    assert figure(simulator(0.9e6)).met is False
    trial = figure(Measurement("bench.trial.efficientnet-b7.median_s", "trial", "s", (0.011,)))
    assert (trial.goal, trial.met) == ("<= 0.01", False)


def test_a_figure_without_goal_or_value():
    plain = figure(Measurement("bench.other", "other", "s", (1.0,)))
    assert (plain.goal, plain.met) == (None, None)
    unknown = figure(simulator())
    assert (unknown.value, unknown.minimum, unknown.met, unknown.repetitions) == (None, None, None, 0)


def test_figures_are_sorted_and_read_back():
    found = summary([simulator(1.0), Measurement("bench.a", "a", "s", (1.0, 3.0))], MACHINE)
    assert [each.name for each in found.figures] == ["bench.a", "bench.simulator.tile.rows_per_s"]
    assert BenchmarkSummary.model_validate_json(found.model_dump_json()) == found
    assert {"name", "value", "unit", "origin", "role", "goal", "met"} <= set(BenchmarkFigure.model_fields)


def test_a_value_outside_its_repetitions_is_refused():
    entry = figure(simulator(1.0, 2.0)).model_dump()
    with pytest.raises(ValidationError, match=r"5\.0 does not lie between 1\.0 and 2\.0"):
        BenchmarkFigure.model_validate(entry | {"value": 5.0})


def test_table_by_hand():
    plain = Measurement("bench.a", "b", "s", (0.5,))
    lines = table([figure(simulator(1.5e6, 1.25e6, 2e6)), figure(plain)]).splitlines()
    assert lines[0].split() == ["what", "goal", "measured", "least", "..", "most", "met"]
    assert lines[1].split() == ["simulator", ">=", "1", "M", "1.5", "M", "1/s", "1.25", "M", "..", "2", "M", "yes"]
    assert lines[2].split() == ["b", "0.5", "s"]
    noted = table([figure(plain._replace(note="of one layer"))]).splitlines()
    assert noted[1].split() == ["b", "*", "0.5", "s"]
    assert noted[2] == "* b: of one layer"


def test_every_goal_is_of_a_bench_figure():
    assert all(name.startswith("bench.") and goal.operator in (">=", "<=") for name, goal in GOALS.items())


def test_this_machine_is_described():
    machine = this_machine()
    assert machine.cores >= 1
    assert machine.processor
    assert machine.memory_bytes > 2**20
