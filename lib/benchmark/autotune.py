"""Moves a second of the fusion autotuner's annealing, whose new kernels a learned model prices.

The program is EfficientNet-B0. The network has the default study's size and is freshly initialised: how long it takes
doesn't depend on what it says.
"""

import gc
import time

import numpy as np

from lib.autotune.fusion_annealing import anneal
from lib.autotune.fusion_kernels import DefaultTilePrice, DistinctKernels, KernelPrices
from lib.benchmark.measurement import Measurement
from lib.benchmark.setting import Setting, preset_datapath, read_program
from lib.benchmark.tile_rows import HARDWARE
from lib.benchmark.traced_program import traced_program
from lib.fusion.default_kernels import default_kernels
from lib.fusion.grouping import GroupingRules
from lib.fusion.space import FusionSpace
from lib.schedule.default import default_schedule
from schemas.model import Model

CHAINS = {64: 25, 1: 400}
"""Chains and the rounds that are timed, from the default configuration on and with nothing known of any kernel."""


def fusion_moves(setting: Setting) -> list[Measurement]:
    """Moves a second of 64 chains and of one: grouping, extraction, default tiles and the model, from empty caches."""
    from lib.benchmark.learned import fresh_model
    from lib.cost.learned import Learned  # imports TensorFlow, which most benchmarks don't need
    from lib.gnn.backend import use_threads

    use_threads(setting.cores)
    datapath = preset_datapath(HARDWARE)
    folder = setting.autotuned_folder or traced_program(setting.folder, "b0")
    program = read_program(folder).with_batch(datapath.native_batch)
    kernels, space = default_kernels(program).kernels, FusionSpace(program)
    spec = Model(task="fusion", dataset="default")
    model = fresh_model(spec, kernels, default_schedule(kernels, datapath), datapath)
    price = DefaultTilePrice(Learned(model), datapath)
    gc.freeze()  # as the autotuner's script does
    found = []
    for chains, rounds in CHAINS.items():
        rates = []
        for repetition in range(setting.repetitions + 1):  # the first one warms up
            rules = GroupingRules(space)
            prices = KernelPrices(DistinctKernels(rules.states), price)
            started = time.perf_counter()
            anneal(rules, prices, [space.default()] * chains, rounds, (repetition,))
            rates.append(chains * rounds / (time.perf_counter() - started))
        name = "bench.autotune.fusion.moves_per_s" + ("_one_chain" if chains == 1 else "")
        title = f"fusion autotuner, {chains} chain{'s' * (chains > 1)}, {int(np.sum(space.fusible))} fusible nodes"
        found.append(Measurement(name, f"{title}, {setting.cores} cores", "1/s", tuple(rates[1:])))
    return found
