"""A grouping that follows moves equals one that is found from nothing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.fusion import FusionSpace
from lib.fusion.grouping import Grouping, GroupingRules
from lib.program.simplify import simplify
from tests.lib.dataset.test_tasks import two_blocks
from tests.lib.program.random_programs import programs
from tests.program_examples import Sketch


@settings(max_examples=150, deadline=None)
@given(program=programs(), seed=st.integers(0, 99), simple=st.booleans())
def test_after_any_moves_the_groups_are_those_of_the_whole_configuration(program, seed, simple):
    space = FusionSpace(simplify(program, "bfloat16") if simple else program)
    _check_moves(space, np.random.default_rng(seed), moves=20)


def test_groups_of_a_program_with_repeated_blocks():
    _check_moves(FusionSpace(two_blocks()), np.random.default_rng(1), moves=200)


def test_a_kernel_that_has_no_room_takes_another_member_once_one_leaves(monkeypatch):
    """Three ops in a row and room for two: the first is refused until the second leaves the last one's kernel."""
    monkeypatch.setattr("lib.program.region.LARGEST_KERNEL", 2)
    s = Sketch()
    x = s.input(4)
    first = s.op("negate", x)
    left, right = s.op("abs", first), s.op("negate", x)
    end = s.op("add", left, right)
    space = FusionSpace(s.program(end))
    grouping = Grouping(GroupingRules(space), space.fusible)
    assert grouping.groups()[[left, right, end]].tolist() == [left, end, end]  # `right` comes first, going backwards
    change = grouping.after([right])
    assert sorted(change.added) == [first, right, end]
    grouping.apply(change)
    assert grouping.groups()[[first, left, right, end]].tolist() == [first, end, right, end]


def test_a_copy_goes_its_own_way():
    space = FusionSpace(two_blocks())
    rules = GroupingRules(space)
    grouping = Grouping(rules, space.default())
    before = grouping.groups()
    other = grouping.copy()
    other.apply(other.after([rules.nodes[0]]))
    assert grouping.groups().tolist() == before.tolist() != other.groups().tolist()
    assert grouping.fuse != other.fuse
    assert grouping.kernels != other.kernels
    assert other.kernels == Grouping(rules, np.array(other.fuse)).kernels


def test_flags_of_another_length_are_refused():
    space = FusionSpace(two_blocks())
    with pytest.raises(ValueError, match="2 fusion flags for"):
        Grouping(GroupingRules(space), np.zeros(2, dtype=bool))


def _check_moves(space: FusionSpace, rng: np.random.Generator, moves: int) -> None:
    nodes = np.flatnonzero(space.fusible)
    rules = GroupingRules(space)
    grouping = Grouping(rules, space.random(rng))
    for _ in range(moves if len(nodes) else 0):
        change = grouping.after(rng.choice(nodes, size=rng.integers(1, 4)).tolist())
        before = grouping.groups()
        if rng.random() < 0.7:  # the others are not taken
            grouping.apply(change)
            before[list(change.root)] = list(change.root.values())
        groups = space.group(np.array(grouping.fuse))
        assert grouping.groups().tolist() == before.tolist() == groups.tolist()
        assert sorted(grouping.kernels) == sorted(set(groups[groups >= 0].tolist()))
        for root, state in grouping.kernels.items():
            members = np.flatnonzero(groups == root).tolist()
            assert sorted(rules.states.region(state).members) == members
    np.testing.assert_array_equal(space.group(grouping.fused()), grouping.groups())
