"""Rates of the cost models on tile rows: the kernels of EfficientNet-B7 on TPU-v3, 256 tiles a kernel."""

from pathlib import Path

from lib.benchmark.measurement import Measurement
from lib.benchmark.setting import Setting, preset_datapath, read_program
from lib.benchmark.side_by_side import Prepare, rates_side_by_side
from lib.cost.simulator import Simulator
from lib.fusion.default_kernels import default_kernels
from lib.program.kernels import Kernels
from lib.schedule.candidates import tile_candidates
from lib.schedule.default import default_numbers
from lib.schedule.tiles import tile_space

HARDWARE = "tpu-v3"


def kernels_at_native_batch(program_folder: Path) -> Kernels:
    """The default kernels of the program at the batch of HARDWARE."""
    batch = preset_datapath(HARDWARE).native_batch
    return default_kernels(read_program(program_folder).with_batch(batch)).kernels


def simulator_rates(setting: Setting) -> list[Measurement]:
    """Tile rows a second of the simulator: one process, and one a core."""
    arguments = (setting.program_folder, setting.tiles_per_kernel)
    per_core, all_cores = (_rates(_prepare_simulator, arguments, setting, count) for count in (1, setting.cores))
    return [
        Measurement(
            "bench.simulator.tile.rows_per_s", f"simulator, tile rows, {setting.cores} cores", "1/s", all_cores
        ),
        Measurement("bench.simulator.tile.rows_per_s_per_core", "simulator, tile rows, one core", "1/s", per_core),
    ]


def analytical_rates(setting: Setting) -> list[Measurement]:
    """Tiles a second of the search for the default tile, the argmin over each kernel's whole tile space."""
    values = _rates(_prepare_argmin, (setting.program_folder,), setting, 1)
    title = "default tiles: tiles disposed of by the analytical argmin, one core"
    return [Measurement("bench.analytical.argmin.tiles_per_s", title, "1/s", values)]


def _rates(prepare: Prepare, arguments: tuple, setting: Setting, processes: int) -> tuple[float, ...]:
    return rates_side_by_side(
        prepare, arguments, processes=processes, repetitions=setting.repetitions, least_s=setting.least_s
    )


def _prepare_simulator(program_folder: Path, tiles_per_kernel: int):
    kernels, datapath, simulator = kernels_at_native_batch(program_folder), preset_datapath(HARDWARE), Simulator()
    schedules = tile_space(kernels, datapath, tiles_per_kernel, seed=1)
    return lambda: simulator.cost(kernels, schedules, datapath), float(len(schedules.kernel))


def _prepare_argmin(program_folder: Path):
    kernels, datapath = kernels_at_native_batch(program_folder), preset_datapath(HARDWARE)
    candidates = tile_candidates(kernels, datapath)
    return lambda: default_numbers(kernels, datapath, candidates), float(candidates.combinations().sum())
