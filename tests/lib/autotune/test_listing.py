"""The listing of a configured program: every operand before its reader, and what a difference counts."""

import json

import numpy as np
import pytest

from lib.autotune.autotune import default_configuration
from lib.autotune.configuration import changed_kernels, configuration_file
from lib.autotune.listing import difference, listing
from lib.autotune.listing_order import listing_order
from lib.autotune.target import SimulatedTarget
from lib.cost.simulator import Simulator
from lib.fusion import FusionSpace
from lib.program.extraction import extract
from tests.datapath_examples import tpu_v3
from tests.program_examples import Sketch, all_programs, squeeze_excite

TARGET = SimulatedTarget(Simulator(), tpu_v3(), timeout_s=10.0)


def configured(program, fuse=None):
    space = FusionSpace(program)
    groups = space.group(space.default() if fuse is None else fuse)
    return default_configuration(groups, extract(program, groups), TARGET)


@pytest.mark.parametrize("program", all_programs(), ids=lambda program: program.name)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_operands_stand_before_what_reads_them_and_nothing_twice(program, seed):
    space = FusionSpace(program)
    groups = space.group(space.random(np.random.default_rng(seed)))
    listed = [index for _, members in listing_order(program, groups) for index in members]
    assert sorted(listed) == list(range(len(program.instructions)))
    place = {index: position for position, index in enumerate(listed)}
    for index, instruction in enumerate(program.instructions):
        assert all(place[operand] < place[index] for operand in instruction.operands)


def test_a_reshape_between_instructions_of_a_kernel_is_listed_in_it():
    s = Sketch()
    rows = s.op("negate", s.input(8, 128))
    program = s.program(s.op("exponential", s.reshape(rows, 1024)))
    ((_, alone), (root, members)) = listing_order(program, np.array([-1, 3, -1, 3]))
    assert (alone, root, members) == ([0], 3, [1, 2, 3])


def test_the_first_line_says_what_the_program_takes():
    program = squeeze_excite()
    found = configured(program)
    head = listing(program, found).splitlines()[0]
    assert f"batch 1, {len(found.found.occurrence_root)} kernels, {found.runtime_s * 1e6:,.3f} us" in head


def test_a_difference_counts_kernels_that_hold_others_or_have_another_tile():
    program = squeeze_excite()
    default = configured(program)
    other_tile = default._replace(tile=np.maximum(default.tile // 2, 1))
    assert changed_kernels(default, default) == (0, 0)
    tiles, members = changed_kernels(default, other_tile)
    assert members == 0
    assert tiles > 0
    nothing_fused = configured(program, np.zeros(len(program.instructions), dtype=bool))
    tiles, members = changed_kernels(default, nothing_fused)
    assert tiles == 0
    assert 0 < members <= len(nothing_fused.found.occurrence_root)
    first = difference(program, default, nothing_fused).splitlines()[0]
    assert f"Of {len(nothing_fused.found.occurrence_root)} kernels" in first
    assert f"{members} hold other instructions and 0 further ones" in first


def test_the_configuration_file_has_every_kernel_and_computed_instruction_once():
    program = squeeze_excite()
    default = configured(program)
    file = configuration_file(program, default, default, "block", "tpu-v3")
    computed = [program.instructions[index].name for index in np.flatnonzero(default.groups >= 0)]
    assert sorted(name for kernel in file.kernels for name in kernel.instructions) == sorted(computed)
    assert sum(kernel.seconds * kernel.executions for kernel in file.kernels) == pytest.approx(file.runtime_s)
    for kernel in file.kernels:
        assert kernel.name == f"kernel.{kernel.instructions[-1]}"
        assert kernel.tile == kernel.default_tile
        assert kernel.tile.keys() == kernel.loops.keys()
        assert all(kernel.tile[loop] <= kernel.loops[loop] for loop in kernel.loops)
        assert kernel.in_default_configuration
    assert json.loads(file.model_dump_json())["hardware"] == "tpu-v3"
