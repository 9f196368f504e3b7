"""The paper counts DRAM bytes in two ways; each is named here, and our own beside them. Never compare across.

| convention | skip connection read by the add | squeeze-excite | used in |
|---|---|---|---|
| `figure-3` | counted | average reads its array, scaling reads and writes it | figure 3, bars without fusion |
| `table-5` | free | free | table 5, figure 13 and figure 3's fused bars |
| ours | counted | counted, as the compiler's kernels read and write | everything that we price |
"""

from collections.abc import Sequence

from lib.fidelity.fast.regions import Region
from lib.fusion.default_kernels import default_kernels
from lib.program.kernel_work import kernel_work
from lib.program.program import Program

SQUEEZE_PASSES = 3
"""Transfers of the scaled array: the average reads it, the multiplication reads and writes it."""


def table_5_bytes(region: Region) -> int:
    """Every region reads its input (of a product of activations both), its weights, and writes its output."""
    return region.input_bytes + region.second_bytes + region.weight_bytes + region.output_bytes


def figure_3_bytes(region: Region) -> int:
    """`table-5`, the other sides of skip connections, and squeeze-excite as kernels of its own."""
    return table_5_bytes(region) + region.residual_bytes + SQUEEZE_PASSES * region.squeezed_bytes


def fused_bytes(regions: Sequence[Region], *, pinned_weights: bool = False) -> int:
    """Regions that run as one: input of the first, output of the last and, unless they stay on chip, all weights.

    Regions in between keep what they hand on; squeeze-excite and skip connections are free.
    """
    weights = 0 if pinned_weights else sum(region.weight_bytes for region in regions)
    return regions[0].input_bytes + regions[-1].output_bytes + weights


def own_bytes(program: Program) -> float:
    """What the kernels of the default fusion move at least: every operand once, the result once."""
    found = default_kernels(program)
    work = kernel_work(found.kernels)
    return float((work.bytes_read + work.bytes_written) @ found.executions)
