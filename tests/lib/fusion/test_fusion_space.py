"""Which instructions the default fusion puts into one kernel, and that random configurations are legal."""

import numpy as np
import pytest

from lib.fusion import FusionSpace, default_fusion, group, random_fusion
from lib.program.dataflow import UnsupportedInstruction
from lib.program.extraction import extract
from lib.program.program import ConvolutionDimensions, Window
from tests.program_examples import (
    Sketch,
    all_programs,
    concatenated,
    convolution_block,
    dense_of_rows,
    residual,
    softmax,
    squeeze_excite,
)


def kernels(program, fuse=None) -> list[set[str]]:
    """Names of the instructions of each kernel; unnamed ones left out."""
    groups = group(program, default_fusion(program) if fuse is None else fuse)
    members: dict[int, set[str]] = {}
    for index, root in enumerate(groups.tolist()):
        if root >= 0 and "." not in program.instructions[index].name:
            members.setdefault(root, set()).add(program.instructions[index].name)
    return list(members.values())


def flags(program, *names) -> np.ndarray:
    return np.array([instruction.name in names for instruction in program.instructions])


def test_a_convolution_takes_its_epilogue_and_what_that_reads():
    assert kernels(convolution_block()) == [{"convolution", "bias", "rsqrt", "scale", "relu"}]


def test_the_later_convolution_takes_the_residual_add_and_each_keeps_its_bias():
    assert kernels(residual()) == [{"relu"}, {"left", "left-bias"}, {"right", "right-bias", "add"}]


def test_squeeze_excite_scales_the_projection_and_leaves_the_depthwise_convolution_its_swish():
    assert kernels(squeeze_excite()) == [
        {"expand", "expand-swish"},
        {"depthwise", "depthwise-swish"},
        {"squeeze", "mean"},
        {"narrow", "narrow-swish"},
        {"widen", "gate"},
        {"scale", "project", "project-bias"},
    ]


def test_softmax_is_cut_into_passes():
    assert kernels(softmax()) == [{"max"}, {"subtract", "exponential"}, {"sum"}, {"divide"}]


def test_softmax_stays_cut_when_everything_asks_to_be_fused():
    program = softmax()
    assert kernels(program, np.ones(len(program.instructions), bool)) == [
        {"max"},
        {"subtract", "exponential"},
        {"sum"},
        {"divide"},
    ]


def test_nothing_is_computed_below_a_concatenation():
    assert kernels(concatenated()) == [{"convolution", "negate"}, {"concatenate", "tanh"}]


def test_a_reshape_between_the_rows_of_a_dot_and_of_its_bias_does_not_part_them():
    assert kernels(dense_of_rows()) == [{"dot", "bias", "tanh"}]


def test_a_reshape_that_cuts_a_loop_parts_kernels():
    s = Sketch()
    negated = s.op("negate", s.input(4, 6), name="negate")
    program = s.program(s.op("tanh", s.reshape(negated, 24), name="tanh"))
    assert kernels(program) == [{"negate"}, {"tanh"}]


def test_an_instruction_with_readers_in_two_kernels_roots_its_own():
    program = residual()
    everything = np.ones(len(program.instructions), bool)
    assert {"relu"} in kernels(program, everything)


def test_an_output_roots_its_own_kernel_even_when_it_is_read():
    s = Sketch()
    negated = s.op("negate", s.input(4, 6), name="negate")
    program = s.program(negated, s.op("tanh", negated, name="tanh"))
    assert kernels(program) == [{"negate"}, {"tanh"}]


def test_an_operand_read_in_two_ways_is_not_fused():
    s = Sketch()
    negated = s.op("negate", s.input(6, 6), name="negate")
    program = s.program(s.op("add", negated, s.transpose(negated, (1, 0)), name="add"))
    everything = np.ones(len(program.instructions), bool)
    assert {"negate"} in kernels(program, everything)


def test_two_matrix_ops_never_share_a_kernel():
    s = Sketch()
    first = s.pointwise(s.input(2, 4, 4, 8), 8, name="first")
    program = s.program(s.pointwise(s.op("negate", first, name="negate"), 4, name="second"))
    everything = np.ones(len(program.instructions), bool)
    assert kernels(program) == [{"first", "negate"}, {"second"}]
    assert kernels(program, everything) == [{"first"}, {"negate", "second"}]


def test_flags_are_followed_one_by_one():
    program = convolution_block()
    assert kernels(program, flags(program, "convolution", "scale")) == [
        {"convolution", "bias"},
        {"rsqrt"},
        {"scale", "relu"},
    ]


def test_a_kernel_has_at_most_64_instructions():
    s = Sketch()
    index = s.input(128)
    for _ in range(70):
        index = s.op("negate", index)
    program = s.program(index)
    sizes = np.unique(group(program, default_fusion(program)), return_counts=True)
    assert sizes[1].tolist()[1:] == [6, 64]  # counted from the root; the first entry is the parameter


def test_dead_instructions_are_in_no_kernel():
    s = Sketch()
    source = s.input(4)
    s.op("negate", source)
    program = s.program(s.op("tanh", source))
    assert group(program, default_fusion(program)).tolist() == [-1, -1, 2]


@pytest.mark.parametrize("program", all_programs(), ids=lambda program: program.instructions[-1].name)
def test_random_configurations_put_every_working_instruction_into_one_kernel(program):
    space = FusionSpace(program)
    rng = np.random.default_rng(3)
    for _ in range(20):
        groups = space.group(space.random(rng))
        free = np.array(space.flow.free)
        assert (groups[free] == -1).all()
        assert (groups[~free] >= 0).all()
        roots = np.unique(groups[~free])
        assert (groups[roots] == roots).all()
        for index in np.flatnonzero(~free):
            readers = {int(groups[use.reader]) for use in space.flow.uses[index]}
            assert groups[index] == index or readers == {int(groups[index])}


def test_random_configurations_differ_and_follow_the_generator():
    program = squeeze_excite()
    draws = [random_fusion(program, np.random.default_rng(seed)) for seed in range(6)]
    again = random_fusion(program, np.random.default_rng(0))
    assert (draws[0] == again).all()
    assert len({draw.tobytes() for draw in draws}) > 1


def test_the_default_configuration_is_reproduced_by_its_own_flags():
    for program in all_programs():
        fuse = default_fusion(program)
        groups = group(program, fuse)
        assert ((groups >= 0) & (groups != np.arange(len(groups)))).tolist() == fuse.tolist()


def test_an_opcode_outside_the_table_is_named():
    s = Sketch()
    program = s.program(s.put("fft", (4,), (s.input(4),), "order"))
    with pytest.raises(UnsupportedInstruction, match=r"instruction 'order' \(fft, bf16\[4\]\)"):
        default_fusion(program)


def test_flags_of_another_program_are_refused():
    with pytest.raises(ValueError, match="3 fusion flags for the"):
        group(softmax(), np.ones(3, bool))


def test_a_hero_that_can_not_join_leaves_the_kernel_as_it_was():
    # A grouped 1-D convolution splits the root's 12 features, but its 64 pixels are 8 x 8 there: it stays outside, and
    # so does what could only join a kernel with split features.
    s = Sketch()
    negated = s.op("negate", s.input(2, 8, 8, 3, 4), name="negate")
    one = (1,)
    convolution = s.put(
        "convolution", (2, 64, 12), (s.input(2, 64, 6), s.weight(3, 2, 12)), "convolution",
        window=Window((3,), one, one, one, one, one),
        convolution=ConvolutionDimensions(0, 2, (1,), 1, 2, (0,), 0, 2, (1,), feature_groups=3),
    )  # fmt: skip
    parts = s.reshape(convolution, 2, 8, 8, 12), s.reshape(negated, 2, 8, 8, 12)
    program = s.program(s.op("add", *parts, name="add"))
    everything = np.ones(len(program.instructions), bool)
    assert kernels(program, everything) == [{"negate"}, {"convolution"}, {"add"}]
    assert extract(program, group(program, everything)).kernels.loops[-1].tolist() == [2, 8, 8, 12, 1, 1, 1, 1]
