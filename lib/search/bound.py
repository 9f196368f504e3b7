"""What no schedule and no residency can do better: a lower bound of a workload's time and energy on a datapath.

Every kernel takes at least its launch and the longer of what its matrix op takes at the peak rate and what it must move
at the peak bandwidth. What must move depends on what may stay on chip:

- nothing: every operand once;
- by the rules of `paper`: inputs that do not come from the kernel just before, outputs that somebody but the kernel
  just after reads, or that leave the program;
- `lifetime`: inputs that no kernel makes, outputs that leave the program.

Weights may stay as far as the global buffer holds them. Of an operand that is walked in strides only what is touched
counts, so that the bound holds for every tile.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from lib.cost.energy import matrix_products
from lib.cost.simulator_constants import SimulatorConstants
from lib.hardware.datapath import Datapath, peak_flops_per_s
from lib.hardware.energy import EnergyRates
from lib.program.kernels import INPUT, KERNEL_H, KERNEL_W, OUT_H, OUT_W, OUTPUT, WINDOW
from lib.residency.program_residency import Variant
from lib.schedule.candidates import compiled_view
from lib.search.workload import WorkloadKernels


class LeastWork(NamedTuple):
    """Of o occurrences at one batch, on a core."""

    products: np.ndarray
    """float64[o] multiplications of all executions of an occurrence."""
    moved_bytes: np.ndarray
    """float64[o] what they move whatever stays on chip, weights left out where those may stay."""
    weight_bytes: float
    """Of all weights that may stay: what the buffer can't hold of them moves."""
    executions: np.ndarray
    """float64[o]"""


def least_work(work: WorkloadKernels, residency: Variant | None) -> LeastWork:
    """Depends on batch, softmax and rules alone."""
    found, kernels, executions = work.found, work.kernels, work.occurrence_executions
    touched = np.empty(len(kernels.operand_role))
    _touched_bytes(compiled_view(kernels), touched)
    may_stay = residency is not None
    inside = np.zeros((len(work.occurrence), _most_operands(kernels)), dtype=bool)  # inputs that may be found on chip
    written = np.ones(len(work.occurrence), dtype=bool)
    if residency is not None:
        edges = found.occurrence_edge
        next_to = edges[:, 1] == edges[:, 0] + 1
        stays = next_to if residency != "lifetime" else np.ones(len(edges), dtype=bool)
        inside[edges[stays, 1], edges[stays, 2]] = True
        written = work.leaves.copy()
        written[edges[~stays, 0]] = True
    moved, weights = _moved_bytes(
        kernels.operand_offset, kernels.operand_role, touched, work.occurrence, inside, written, may_stay
    )
    products = matrix_products(kernels)[work.occurrence] * executions
    # Weights of a kernel that runs several times would move each time that they do not stay: counted once.
    return LeastWork(products, moved * executions, float(weights.sum()), executions.astype(np.float64))


def least_seconds(least: LeastWork, datapath: Datapath, constants: SimulatorConstants) -> float:
    """No run of the workload takes less on a core."""
    alone = float(_busy_seconds(least, datapath).sum())
    together = _least_bytes(least, datapath) / datapath.dram_bytes_per_s
    return float(least.executions.sum()) * constants.kernel_launch_s + max(alone, together)


def least_kernel_seconds(
    least: LeastWork, work: WorkloadKernels, datapath: Datapath, constants: SimulatorConstants
) -> np.ndarray:  # fmt: skip
    """float64[k] no kernel takes less in the mean of its executions."""
    seconds = _busy_seconds(least, datapath) + least.executions * constants.kernel_launch_s
    return np.bincount(work.occurrence, seconds, minlength=work.kernels.number) / work.executions


def _busy_seconds(least: LeastWork, datapath: Datapath) -> np.ndarray:
    """float64[o] without launches."""
    computing = least.products / (peak_flops_per_s(datapath) / 2.0)
    return np.maximum(computing, least.moved_bytes / datapath.dram_bytes_per_s)


def least_joules(least: LeastWork, seconds: float, datapath: Datapath, rates: EnergyRates) -> float:
    """No batch takes less energy on a core that works on it for at least `seconds`."""
    return (
        float(least.products.sum()) * rates.mac_j
        + _least_bytes(least, datapath) * rates.dram_byte_j
        + seconds * rates.leakage_w / datapath.cores
    )


def _least_bytes(least: LeastWork, datapath: Datapath) -> float:
    return float(least.moved_bytes.sum()) + max(0.0, least.weight_bytes - datapath.global_buffer_bytes)


def _most_operands(kernels) -> int:
    return int(np.diff(kernels.operand_offset).max(initial=1))


@njit(cache=True)
def _touched_bytes(kernels, touched) -> None:
    """Fill float64[operands] with bytes that every schedule touches at least once."""
    for k in range(len(kernels.loops)):
        for row in range(kernels.operand_offset[k], kernels.operand_offset[k + 1]):
            elements = 1.0
            for loop in range(8):
                if kernels.operand_stride[row, loop] == 0:
                    continue
                extent = float(kernels.loops[k, loop])
                partner = KERNEL_H if loop == OUT_H else (KERNEL_W if loop == OUT_W else -1)
                if partner >= 0 and kernels.loop_kind[k, partner] == WINDOW and kernels.operand_stride[row, partner]:
                    # Output and window loop walk one dimension together, of which dilation leaves a part.
                    extent = max(extent, float(kernels.loops[k, partner]))
                    extent = np.ceil(extent / kernels.base_dilation[k, loop - OUT_H])
                window = loop in (KERNEL_H, KERNEL_W) and kernels.loop_kind[k, loop] == WINDOW
                if window and kernels.operand_stride[row, OUT_H if loop == KERNEL_H else OUT_W]:
                    continue
                elements *= extent
            elements = min(elements, float(kernels.operand_elements[row]))
            touched[row] = elements * kernels.operand_element_bytes[row]


@njit(cache=True)
def _moved_bytes(offset, role, touched, occurrence, inside, written, weights_may_stay):
    """(float64[o] bytes that one execution of each occurrence moves at least, float64[o] of weights that may stay)."""
    moved, weights = np.zeros(len(occurrence)), np.zeros(len(occurrence))
    for place in range(len(occurrence)):
        first, end = offset[occurrence[place]], offset[occurrence[place] + 1]
        for row in range(first, end):
            if role[row] == OUTPUT:
                moved[place] += touched[row] if written[place] else 0.0
            elif role[row] == INPUT:
                moved[place] += 0.0 if inside[place, row - first] else touched[row]
            elif weights_may_stay:
                weights[place] += touched[row]
            else:
                moved[place] += touched[row]
    return moved, weights
