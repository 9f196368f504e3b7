"""Where the time goes, in parts that mean the same for the simulator and the analytical model."""

from typing import NamedTuple

import numpy as np

from lib.cost.analytical import STEP_CYCLES, Analytical
from lib.cost.cost_model import Costs
from lib.cost.simulator import Simulator
from lib.hardware.datapath import Datapath


class TimeParts(NamedTuple):
    """Seconds, float64[r] each. The first four add up to the total; the last five overlap."""

    compute_s: np.ndarray
    """The longest of matrix unit, vector unit and mesh in each step."""
    control_s: np.ndarray
    """Control of the steps."""
    exposed_s: np.ndarray
    """Loads and stores that no compute hides."""
    launch_s: np.ndarray
    """Start of the kernel; the analytical model knows none."""
    total_s: np.ndarray
    matrix_s: np.ndarray
    """Busy matrix unit."""
    vector_s: np.ndarray
    """Busy vector unit."""
    mesh_s: np.ndarray
    """Busy mesh between global buffer and PEs; the analytical model knows none."""
    load_s: np.ndarray
    """Transfers from DRAM."""
    store_s: np.ndarray
    """Transfers to DRAM."""


def simulator_parts(costs: Costs) -> TimeParts:
    """Parts by the simulator. `costs`: priced with parts."""
    part = _by_name(costs, Simulator.part_names)
    control_s, exposed_s, launch_s = part["step_overhead_s"], part["exposed_s"], part["launch_s"]
    return TimeParts(
        costs.value - launch_s - exposed_s - control_s, control_s, exposed_s, launch_s, costs.value,
        part["matrix_s"], part["vector_s"], part["mesh_s"], part["load_s"], part["store_s"],
    )  # fmt: skip


def analytical_parts(costs: Costs, datapath: Datapath) -> TimeParts:
    """Parts by the analytical model. `costs`: priced with parts.

    Its own `exposed_s` are the first load and the last store alone; here exposed is what its total leaves beside
    compute and control, as in the simulator's parts.
    """
    part = _by_name(costs, Analytical.part_names)
    control_s = part["steps"] * STEP_CYCLES / datapath.clock_hz
    load_s = (part["bytes_in"] + part["bytes_weight"]) / datapath.dram_bytes_per_s
    nothing = np.zeros(len(costs.value))
    return TimeParts(
        part["compute_s"], control_s, costs.value - part["compute_s"] - control_s, nothing,
        costs.value, part["matrix_s"], part["vector_s"], nothing, load_s, part["bytes_out"] / datapath.dram_bytes_per_s,
    )  # fmt: skip


def _by_name(costs: Costs, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    assert costs.parts is not None
    return dict(zip(names, costs.parts.T, strict=True))
