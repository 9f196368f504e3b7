"""The survey of tiles by hand: kinds of ops, the draw, and the table's numbers."""

import numpy as np
import pytest

from lib.targets.iree_survey import Surveyed, geomean, kind_of, ops_by_kind, table
from lib.targets.loop_merging import merged
from lib.targets.matrix_op import matrix_op
from tests.lib.targets import matrix_ops


@pytest.mark.parametrize(
    ("op", "kind"),
    [
        (matrix_ops.dot(), "dot"),
        (matrix_ops.attention(), "batched dot"),
        (matrix_ops.pointwise(), "pointwise convolution"),
        (matrix_ops.convolution(), "convolution"),
        (matrix_ops.convolution(numbers="NCHW"), "convolution, other layouts"),
        (matrix_ops.depthwise(), "depthwise convolution"),
        (matrix_ops.depthwise_weight_gradient(), "depthwise convolution, other layouts"),
    ],
)
def test_kinds(op, kind):
    program, index = op
    assert kind_of(program.instructions[index].opcode, merged(matrix_op(program, index))) == kind


def test_equal_ops_of_several_programs_are_surveyed_once():
    one, other = matrix_ops.dot()[0], matrix_ops.dot()[0].replace(name="other")
    drawn = ops_by_kind([one, other, matrix_ops.dot(rows=32)[0], matrix_ops.pointwise()[0]], most=5, seed=0)
    assert {kind: sorted(program.name for program, _ in ops) for kind, ops in drawn.items()} == {
        "dot": ["sketch", "sketch"], "pointwise convolution": ["sketch"],
    }  # fmt: skip
    assert len(ops_by_kind([one, matrix_ops.dot(rows=32)[0]], most=1, seed=0)["dot"]) == 1


def test_the_table():
    # Gains 8 / 4 = 2 and 4.5 / 9 = 0.5: geomean 1. Medians 2 and 1 times the best, worst 4 and 1; one tile of 5 failed.
    first = Surveyed("dot", 8.0, np.array([4.0, 8.0, 16.0]), np.array([0.4, 0.5, 0.9]), [])
    second = Surveyed("dot", 4.5, np.array([9.0, 9.0, np.nan]), np.array([0.4, 0.5, 0.1]), ["no"])
    none = Surveyed("dot", 1.0, np.array([]), np.array([]), [])
    row = table([first, second, none]).splitlines()[-1]
    assert row == "| dot | 3 | 2 | 6 | 83.3% | 0.45 / 0.90 s | 1.00 (2.0) | 1 of 2 | 1.4 / 2 |"


def test_a_kind_without_a_choice_has_no_numbers():
    assert (
        table([Surveyed("dot", 1.0, np.array([]), np.array([]), [])]).splitlines()[-1]
        == "| dot | 1 | 0 | 0 | | | | | |"
    )


def test_geomean():
    assert geomean(np.array([1.0, 4.0])) == pytest.approx(2.0)
