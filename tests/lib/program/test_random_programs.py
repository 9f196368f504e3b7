"""What must hold for every program: simplification keeps its meaning, fusion gives legal kernels, work is conserved."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lib.fusion import FusionSpace
from lib.program.extraction import KernelExtractor, kernel_work
from lib.program.op_kinds import op_classes_by_opcode
from lib.program.order import depth_first
from lib.program.simplify import simplify
from lib.program.work import program_work, written_elements
from tests.lib.program.random_programs import programs, results


@settings(max_examples=150, deadline=None)
@given(program=programs(heroes=False), seed=st.integers(0, 9))
def test_simplification_keeps_what_a_program_computes(program, seed):
    simple = simplify(program, "as-traced")
    assume(all(one.value is not None for one in simple.instructions if one.opcode == "constant"))
    for before, after in zip(results(program, seed), results(simple, seed), strict=True):
        np.testing.assert_array_equal(before, after)
    assert simplify(simple, "as-traced") == simple


@settings(max_examples=150, deadline=None)
@given(program=programs(), seed=st.integers(0, 99), simple=st.booleans())
def test_every_configuration_gives_legal_kernels_that_do_the_program_s_work(program, seed, simple):
    program = simplify(program, "bfloat16") if simple else program
    space, extractor = FusionSpace(program), KernelExtractor(program)
    flow, rng = space.flow, np.random.default_rng(seed)
    expected = program_work(depth_first(program, largest_last=False))  # without dead instructions
    everything = np.ones(len(program.instructions), dtype=bool)
    for fuse in (space.default(), everything, ~everything, space.random(rng), space.random(rng)):
        groups = space.group(fuse)
        working = np.flatnonzero(np.array(flow.live) & ~np.array(flow.free))
        assert (np.delete(groups, working) == -1).all()
        assert (groups[groups[working]] == groups[working]).all()  # each group is named by a member
        for index in working:
            # One output a kernel: only its root is read elsewhere or leaves the program.
            readers = {int(groups[use.reader]) for use in flow.uses[index]}
            assert groups[index] == index or (readers == {int(groups[index])} and not flow.output[index])
            # What a kernel reads was finished before: no cycle.
            assert all(groups[reader] >= groups[index] for reader in readers)
        heroes = [int(groups[index]) for index in working if flow.is_hero(index)]
        assert len(heroes) == len(set(heroes))

        found = extractor.extract(groups)
        work = kernel_work(found.kernels)
        assert sorted(found.occurrence_root.tolist()) == sorted(set(groups[working].tolist()))
        assert all(producer < reader for producer, reader, _ in found.occurrence_edge.tolist())
        assert found.executions @ work.flops == expected["flops"]
        assert (found.executions @ work.vector_ops).sum() - _moved(program, working) == expected["vector_ops"]


def _moved(program, working) -> int:
    """Elements that ops write which only move data."""
    moving = [
        program.instructions[i] for i in working if op_classes_by_opcode()[program.instructions[i].opcode] == "movement"
    ]
    return sum(written_elements(one, [program.instructions[o] for o in one.operands]) for one in moving)
