"""Compiles the cost models before the first job needs them: `python -m lib.compile_ahead`.

Jobs share compiled code (`lib.compiled_code`); without this the first ones, started side by side, would each
compile all of it.
"""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

from lib.cost.analytical import Analytical
from lib.cost.simulator import Simulator
from lib.dataset.fusion_configurations import fusion_kernels
from lib.dataset.tasks import fusion_shard, tile_shard
from lib.fusion.default_kernels import default_kernels
from lib.hardware.datapath import datapath_from_spec
from lib.program.program import DotDimensions, Instruction, Program
from lib.residency.plan import plan
from lib.residency.program_residency import leaving
from lib.schedule.descent import found_schedules, prepared
from lib.schedule.schedules import schedules_for_tiles
from schemas.hardware import HARDWARE_PRESETS, merged_datapath

PARTS = ("simulator", "best schedules and residency", "default schedules and analytical model")
"""One process each."""


def compile_part(part: str) -> None:
    """Price one small kernel, so that everything behind it is compiled and kept."""
    program, datapath = small_program(), datapath_from_spec(merged_datapath([HARDWARE_PRESETS["tpu-v3"]]))
    if part == "simulator":
        kernels = default_kernels(program).kernels
        schedules = schedules_for_tiles(np.arange(kernels.number), kernels.loops)
        Simulator().cost(kernels, schedules, datapath)
        found_schedules(prepared(kernels, datapath), datapath)
    elif part == "best schedules and residency":
        found = default_kernels(program)
        plan(found, leaving(found, program), datapath, "paper")
    else:
        analytical = Analytical()
        tile_shard(default_kernels(program), {"tpu-v3": datapath}, analytical, analytical, 4, 1)
        fusion_shard(fusion_kernels(program, 1, 0, 0, 1), {"tpu-v3": datapath}, analytical, analytical, 1)


def small_program() -> Program:
    """One dot of 256 x 256 matrices."""
    extents, layout = (256, 256), (1, 0)
    instructions = (
        Instruction("input", "parameter", "bf16", extents, layout, role="input"),
        Instruction("weight", "parameter", "bf16", extents, layout, role="weight"),
        Instruction("dot", "dot", "bf16", extents, layout, operands=(0, 1), dot=DotDimensions((1,), (0,))),
    )
    return Program("compile-ahead", 1, instructions, (2,))


def main() -> None:
    """Compile all parts side by side; quick where that is done already."""
    with ProcessPoolExecutor(len(PARTS), mp_context=get_context("spawn")) as pool:
        list(pool.map(compile_part, PARTS))


if __name__ == "__main__":
    main()
