"""FAST's view of a program: regions of one matrix op and all elementwise ops that follow it.

Section 5.5 says that a region holds at most one matrix op and has at most one input; the rest of the rules is ours,
chosen so that the published intensities come out (figures 3 and 13). Nothing is priced on regions: the simulator runs
the kernels of the compiler, which keep squeeze-excite, residual inputs and pooling apart.
"""

import re
from dataclasses import dataclass, replace

from lib.program.dataflow import MATRIX, REDUCTION, Dataflow
from lib.program.program import Program
from lib.program.work import multiply_accumulates

BLOCK = re.compile(r"block(\d+[a-z])_")
"""Name of an MBConv block in the name of its convolutions."""


@dataclass
class Region:
    """One matrix op, or one pass over the data without any, and what follows it; sizes in bytes of one call."""

    name: str
    """Of its first instruction."""
    kind: str
    """`convolution`, `depthwise`, `dot`, or `pass` where there is no matrix op."""
    flops: int = 0
    """Two for each multiply-accumulate."""
    input_bytes: int = 0
    """The matrix op's data, or the largest array that a pass reads."""
    second_bytes: int = 0
    """The other operand of a product of two activations."""
    residual_bytes: int = 0
    """Further arrays of its result's size that it reads: the other side of a skip connection."""
    weight_bytes: int = 0
    output_bytes: int = 0
    """The largest array that other regions or the caller read: section 5.5 knows one output a region."""
    squeezed_bytes: int = 0
    """The array that squeeze-excite averages and scales, 0 without one."""
    producer: int = -1
    """The region that makes the input; -1: it is the program's."""

    @property
    def block(self) -> str:
        """`2a` for an EfficientNet block, else empty."""
        found = BLOCK.match(self.name)
        return found[1] if found else ""


def fast_regions(program: Program) -> list[Region]:
    """The regions in program order. Rules:

    1. A matrix op begins a region.
    2. Another op, pooling too, joins the region that made its largest operand, of equal ones the latest:
       squeeze-excite's multiplication follows the depthwise convolution whose result it scales, a residual add the last
       convolution.
    3. An op that spreads the result of a reduction over the array that was reduced begins a region: softmax and
       layer norm take passes.
    4. Squeeze-excite's convolutions on a single pixel are part of the region of the array that they scale: their
       weights and arithmetic count, what passes between them does not.
    5. What depends on weights alone costs nothing but its bytes as a weight.

    Raises UnsupportedInstruction for an opcode that no kernel has.
    """
    builder = _Builder(program)
    return _merged(builder.regions, builder.owner)


def _merged(regions: list[Region], owner: list[int]) -> list[Region]:
    """Regions without those that another one owns."""
    place: dict[int, int] = {-1: -1}
    merged: list[Region] = []
    for number, region in enumerate(regions):
        if owner[number] == number:
            place[number] = len(merged)
            merged.append(replace(region, producer=place[region.producer]))
    for number, region in enumerate(regions):
        if owner[number] != number:
            merged[place[owner[number]]].flops += region.flops
            merged[place[owner[number]]].weight_bytes += region.weight_bytes
    return merged


class _Builder:
    def __init__(self, program: Program):
        self.flow = Dataflow(program)
        self.instructions = program.instructions
        self.regions: list[Region] = []
        self.region = [-1] * len(self.instructions)
        """By instruction; -1 for inputs, weights and what depends on weights alone."""
        self.reduced = [False] * len(self.instructions)
        """Whether the value comes from a reduction within its own region."""
        self.varies = [instruction.role == "input" for instruction in self.instructions]
        """Whether the value depends on the program's input."""
        self.one_pixel: list[bool] = []
        """By region: a convolution with a single output position."""
        for index, instruction in enumerate(self.instructions):
            self.varies[index] |= any(self.varies[operand] for operand in instruction.operands)
            if self.flow.live[index] and not self.flow.free[index] and self.varies[index]:
                self._place(index)
        self.owner = list(range(len(self.regions)))
        """By region: the region whose array it scales, or itself."""
        self._find_squeeze_excite()
        self._measure()

    def _place(self, index: int) -> None:
        op_class = self.flow.op_class[index]
        sources = [operand.source for operand in self.flow.operands[index] if self.varies[operand.source]]
        region = self.region[self._largest(sources)]
        if op_class == MATRIX or region < 0 or self._spreads_reduction(index, sources, region):
            self._begin(index)
            return
        self.region[index] = region
        own = [source for source in sources if self.region[source] == region]
        self.reduced[index] = op_class == REDUCTION or any(self.reduced[source] for source in own)

    def _largest(self, sources: list[int]) -> int:
        return max(sources, key=lambda source: (self.instructions[source].bytes, self.region[source]))

    def _spreads_reduction(self, index: int, sources: list[int], region: int) -> bool:
        """Whether the op needs, at every element, what a reduction in that region or a later one makes."""
        elements = self.instructions[index].elements
        return any(
            self.reduced[source] and self.instructions[source].elements < elements and self.region[source] >= region
            for source in sources
        )

    def _begin(self, index: int) -> None:
        instruction = self.instructions[index]
        region = Region(instruction.name, "pass")
        one_pixel = False
        if self.flow.op_class[index] == MATRIX:
            operands = [self.instructions[operand] for operand in instruction.operands]
            region.flops = 2 * multiply_accumulates(instruction, operands)
            region.kind = instruction.opcode
            dims = instruction.convolution
            if dims is not None:
                one_pixel = all(instruction.dimensions[axis] == 1 for axis in dims.output_spatial)
                depthwise = dims.feature_groups == instruction.dimensions[dims.output_feature] > 1
                region.kind = "depthwise" if depthwise else "convolution"
        self.region[index] = len(self.regions)
        self.reduced[index] = self.flow.op_class[index] == REDUCTION
        self.regions.append(region)
        self.one_pixel.append(one_pixel)

    def _find_squeeze_excite(self) -> None:
        """A convolution on one pixel whose result an earlier region reads scales that region's array; so does one
        whose result it reads."""
        for index, region in reversed(list(enumerate(self.region))):
            for operand in self.flow.operands[index]:
                source = self.region[operand.source]
                if region >= 0 and source >= 0 and source != region and self.one_pixel[source]:
                    scales = source > region
                    if scales or self.owner[region] != region:
                        self.owner[source] = self.owner[region]

    def _measure(self) -> None:
        """Bytes of every region, from the values that cross its border."""
        read: list[dict[int, None]] = [{} for _ in self.regions]
        weights: list[dict[int, None]] = [{} for _ in self.regions]
        matrix: list[list[int]] = [[] for _ in self.regions]
        for index, number in enumerate(self.region):
            if number < 0:
                continue
            for operand in self.flow.operands[index]:
                source = operand.source
                if not self.varies[source]:
                    weights[number][source] = None
                elif self.region[source] != number:
                    read[number][source] = None
                    if self.flow.op_class[index] == MATRIX:
                        matrix[number].append(source)
        leaving = {index for index, leaves in enumerate(self.flow.output) if leaves}
        for number, region in enumerate(self.regions):
            region.weight_bytes = sum(self.instructions[source].bytes for source in weights[number])
            if self.owner[number] != number:
                continue
            main = self._largest(matrix[number] or list(read[number]))
            second = [source for source in matrix[number] if source != main]
            region.input_bytes = self.instructions[main].bytes
            region.second_bytes = sum(self.instructions[source].bytes for source in second)
            region.producer = self.region[main]
            for source in read[number]:
                if self.region[source] >= 0 and self.owner[self.region[source]] == number:
                    region.squeezed_bytes = max(self.instructions[i].bytes for i in self._members(number))
                    continue
                leaving.add(source)
                if source not in (main, *second):
                    region.residual_bytes += self.instructions[source].bytes
        for source in leaving:
            if self.region[source] >= 0:
                producer = self.regions[self.region[source]]
                producer.output_bytes = max(producer.output_bytes, self.instructions[source].bytes)

    def _members(self, number: int) -> list[int]:
        return [index for index, region in enumerate(self.region) if region == number]
