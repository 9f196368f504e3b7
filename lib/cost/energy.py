"""Energy of kernels: every event that the simulator counts times what it costs (:mod:`lib.hardware.energy`).

Events of a step never exceed what the power virus behind TDP assumes for as long as the step takes, so no kernel draws
more than TDP on average.
"""

from typing import NamedTuple

import numpy as np

from lib.cost.pipeline import ARRAY, BYTES, MESH_S, VECTOR_S
from lib.cost.tile_step import has_matrix_op
from lib.hardware.datapath import Datapath, mesh_bytes_per_cycle, spec_of_datapath, vector_lanes_of_core
from lib.hardware.energy import energy_rates
from lib.program.kernels import KERNEL_H, KERNEL_W, Kernels
from schemas.power_area import PowerAreaModel


class Energy(NamedTuple):
    """Joules by component, float64[r] each: one execution on one core."""

    systolic_arrays: np.ndarray
    vector_units: np.ndarray
    l1: np.ndarray
    l2: np.ndarray
    global_buffer: np.ndarray
    """What crosses between it and the PEs."""
    dram: np.ndarray
    leakage: np.ndarray
    """The core's share of the chip's, while the kernel runs."""

    @property
    def total(self) -> np.ndarray:
        """float64[r]"""
        return np.sum(self, axis=0)


def matrix_products(kernels: Kernels) -> np.ndarray:
    """float64[k] multiplications of each kernel's matrix op that are not with inserted zeros; 0 without one."""
    taps = kernels.loops[:, KERNEL_H : KERNEL_W + 1].astype(np.float64)
    used = np.ceil(taps / kernels.base_dilation) / taps
    return has_matrix_op(kernels) * kernels.loops.prod(axis=1, dtype=np.float64) * used.prod(axis=1)


def energy_of_rows(
    kernels: Kernels, kernel: np.ndarray, seconds: np.ndarray, parts: np.ndarray, datapath: Datapath,
    model: PowerAreaModel, mesh_width: float = 1.0,
) -> Energy:  # fmt: skip
    """Energy of schedule rows that the simulator has priced.

    `kernel`: int32[r]; `seconds`: float64[r]; `parts`: float64[r, len(PART_NAMES)]; `mesh_width` as in
    :class:`lib.cost.simulator_constants.SimulatorConstants` (an infinite mesh costs nothing). NaN where a row has no
    cost.
    """
    rates = energy_rates(spec_of_datapath(datapath), model)
    mesh_bytes_per_s = mesh_bytes_per_cycle(datapath) * datapath.clock_hz * (mesh_width if mesh_width < np.inf else 0.0)
    accesses = parts[:, ARRAY : ARRAY + 3]
    return Energy(
        systolic_arrays=matrix_products(kernels)[kernel] * rates.mac_j + 0.0 * seconds,
        vector_units=parts[:, VECTOR_S] * vector_lanes_of_core(datapath) * datapath.clock_hz * rates.lane_cycle_j,
        l1=accesses @ np.array(rates.l1_j),
        l2=accesses @ np.array(rates.l2_j),
        global_buffer=parts[:, MESH_S] * mesh_bytes_per_s * rates.mesh_byte_j,
        dram=parts[:, BYTES : BYTES + 3].sum(axis=1) * rates.dram_byte_j,
        leakage=seconds * rates.leakage_w / datapath.cores,
    )
