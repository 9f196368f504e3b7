"""Order and choice of tiles of real TPU kernels: the simulator and the analytical model against measured runtimes.

The measurements are those of `schemas/presets/tpu_tiles` (docs/targets.md), priced on one core of the TPU-v3 preset.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, get_args

import numpy as np

from lib.cost.analytical import Analytical
from lib.cost.simulator import Simulator
from lib.cost.simulator_constants import SimulatorConstants
from lib.evaluation.metrics import kendall
from lib.fidelity.figure import Figure, Role
from lib.hardware.datapath import Datapath, datapath_from_spec
from lib.program.kernels import Kernels
from lib.schedule.schedules import Schedules
from lib.targets.recorded import RecordedTiles, read_recorded_folder
from schemas.hardware import HARDWARE_PRESETS, merged_datapath
from schemas.presets import FOLDER

TILES = FOLDER / "tpu_tiles"
ORDERS_ON_CHIP = (0, 1)
"""Loop orders that keep partial sums on chip. A file doesn't say which one ran; a compiler takes the faster."""

BOX: dict[str, tuple[Any, ...]] = {
    "kernel_launch_s": (1.5e-6, 2.5e-6),
    "step_cycles": (170.0, 210.0),
    "dma_latency_s": (0.03e-6, 0.1e-6),
    "dma_run_cycles": (0.5, 2.0),
    "dram_efficiency": (0.9, 1.0),
}
"""Constants that the calibration kernels hardly tell apart, one changed at a time: root mean square of log(ours /
measured) 0.109 to 0.132, 0.110 with the values in use."""


class TilePrediction(NamedTuple):
    """What a model says of one kernel's tiles."""

    tiles: int
    """Tiles that were measured and have a cost; runtimes of equal tiles are averaged."""
    pairs: int
    """Pairs of tiles whose runtimes differ by more than 1 %."""
    tau: float
    """Kendall's tau over those pairs."""
    picked_s: float
    """Measured runtime of the tile that the model finds fastest."""
    best_s: float
    """Least measured runtime."""
    predicted_best_s: float
    """What the model says of the tile that was measured fastest."""


def simulated_s(
    kernels: Kernels, schedules: Schedules, datapath: Datapath, constants: SimulatorConstants | None = None
) -> np.ndarray:
    """float64[r]: the simulator's seconds in the faster of the loop orders that keep partial sums on chip; NaN where a
    tile has no cost."""
    rows = len(schedules.kernel)
    orders = [
        schedules._replace(loop_order=np.full(rows, order, dtype=np.uint8)) for order in ORDERS_ON_CHIP
    ]  # fmt: skip
    return np.minimum(*(Simulator(constants).cost(kernels, order, datapath).value for order in orders))


def analytical_s(kernels: Kernels, schedules: Schedules, datapath: Datapath) -> np.ndarray:
    """float64[r]: the analytical model's seconds; NaN where a tile has no cost."""
    return Analytical().cost(kernels, schedules, datapath).value


def predictions(recorded: RecordedTiles, seconds: np.ndarray) -> list[TilePrediction]:
    """One a kernel, from float64[r] `seconds` of a model for the recorded rows."""
    kernels = range(recorded.kernels.number)
    return [_prediction(recorded, seconds, np.flatnonzero(recorded.schedules.kernel == kernel)) for kernel in kernels]


def _prediction(recorded: RecordedTiles, seconds: np.ndarray, rows: np.ndarray) -> TilePrediction:
    _, first, tile = np.unique(recorded.schedules.tile[rows], axis=0, return_index=True, return_inverse=True)
    runtime = np.bincount(tile.ravel(), weights=recorded.runtime_s[rows]) / np.bincount(tile.ravel())
    predicted = seconds[rows][first]
    priced = ~np.isnan(predicted)
    best = float(runtime.min())
    runtime, predicted = runtime[priced], predicted[priced]
    tau, _, pairs = kendall(runtime, predicted)
    picked = float(runtime[predicted.argmin()])
    return TilePrediction(len(runtime), pairs, tau, picked, best, float(predicted[runtime.argmin()]))


def figures() -> list[Figure]:
    """Six figures a kernel: for simulator and analytical model Kendall's tau (1 is the measured order), the measured
    runtime of the tile that the model picks beside the best, and the model's time for the best tile beside its
    runtime. The simulator's have their range over `BOX`."""
    datapath = datapath_from_spec(merged_datapath([HARDWARE_PRESETS["tpu-v3"]]))
    constants = [SimulatorConstants()]
    constants += [constants[0]._replace(**{name: value}) for name, values in BOX.items() for value in values]
    found: list[Figure] = []
    for role in get_args(Role):
        recorded = read_recorded_folder(TILES / role)
        rows = recorded.kernels, recorded.schedules, datapath
        by_model = {
            "simulator": [predictions(recorded, simulated_s(*rows, one)) for one in constants],
            "analytical": [predictions(recorded, analytical_s(*rows))],
        }
        for model, variants in by_model.items():
            for kernel, name in enumerate(recorded.names):
                of_kernel = [variant[kernel] for variant in variants]
                short = name.removeprefix("alexnet_tile_")
                found += _figures(short, model, role, recorded.notes[kernel], of_kernel)
    return found


def _figures(kernel: str, model: str, role: Role, left_out: str, variants: list[TilePrediction]) -> Iterator[Figure]:
    """`variants`: with the constants in use first."""
    size = f"{variants[0].tiles} tiles, {variants[0].pairs} pairs" + (f"; {left_out}" if left_out else "")
    micro, best_s = 1e6, variants[0].best_s
    for quantity, unit, ours, theirs, note in (
        ("kendall_tau", "", [one.tau for one in variants], 1.0, f"1: the measured order; {size}"),
        ("runtime_of_pick_us", "us", [one.picked_s * micro for one in variants], best_s * micro, f"best of {size}"),
        (
            "best_tile_us",
            "us",
            [one.predicted_best_s * micro for one in variants],
            best_s * micro,
            "modelled, measured",
        ),
    ):
        spread = (min(ours), max(ours)) if len(ours) > 1 else (float("nan"), float("nan"))
        yield Figure("tpu-tiles", kernel, f"{quantity}_{model}", unit, role, ours[0], theirs, note, *spread)


__all__ = ["TilePrediction", "analytical_s", "figures", "predictions", "simulated_s"]
