"""In which of several equal forms a matrix op is written.

Convolutions and dots name the dimensions of their operands, so that one computation can be written in many ways: with
the channels first or last, with a mirrored window, in groups. It is the same work over the same loops. A compiler,
however, has fast implementations for some forms and a plain loop for the others: XLA for CPUs contracts a convolution
with Eigen only if its operands lie as [batch, spatial, features] x [spatial, in, out] and the window is not mirrored
(openxla/xla, xla/service/cpu/ir_emission_utils.cc, PotentiallyImplementedAsEigenConvolution).
"""

from collections.abc import Sequence

from lib.program.program import ConvolutionDimensions, DotDimensions, Instruction

FORMS = (
    "source_turned",
    "weights_turned",
    "result_turned",
    "window_mirrored",
    "feature_groups",
    "batch_groups",
)
"""Bits of an op's form, the lowest first. Turned: dimensions in another order than a convolution's [batch, spatial,
features] (source, result) and [spatial, in, out] (weights), or a dot's [batch, rows, contracted] x [batch, contracted,
columns]. A dot's result has one order alone."""


def op_form(instruction: Instruction, operands: Sequence[Instruction]) -> int:
    """The form of an instruction as a sum of bits of FORMS; 0 for all that is no convolution and no dot."""
    flags: tuple[bool, ...]
    if instruction.convolution is not None:
        mirrored = instruction.window is not None and any(instruction.window.reversal)
        flags = (*_convolution(instruction.convolution), mirrored, *_groups(instruction.convolution))
    elif instruction.dot is not None:
        flags = _dot(instruction.dot, len(operands[0].dimensions))
    else:
        return 0
    return sum(1 << bit for bit, flag in enumerate(flags) if flag)


def _convolution(numbers: ConvolutionDimensions) -> tuple[bool, bool, bool]:
    return (
        not _ascending((numbers.input_batch, *numbers.input_spatial, numbers.input_feature)),
        not _ascending((*numbers.kernel_spatial, numbers.kernel_input_feature, numbers.kernel_output_feature)),
        not _ascending((numbers.output_batch, *numbers.output_spatial, numbers.output_feature)),
    )


def _groups(numbers: ConvolutionDimensions) -> tuple[bool, bool]:
    return numbers.feature_groups > 1, numbers.batch_groups > 1


def _dot(numbers: DotDimensions, left_rank: int) -> tuple[bool, bool]:
    batches, contracted = len(numbers.left_batch), len(numbers.left_contracting)
    leading = tuple(range(batches))
    return (
        numbers.left_batch != leading or numbers.left_contracting != tuple(range(left_rank - contracted, left_rank)),
        numbers.right_batch != leading or numbers.right_contracting != tuple(range(batches, batches + contracted)),
    )


def _ascending(dimensions: tuple[int, ...]) -> bool:
    return dimensions == tuple(range(len(dimensions)))
