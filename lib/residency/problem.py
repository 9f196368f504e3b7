"""The residency problem of a chain of kernels, as plain arrays."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

INPUT_STAYS, WEIGHT_STAYS, OUTPUT_STAYS = 1, 2, 4
"""Bits of a placement, as in :attr:`lib.schedule.schedules.Schedules.resident`. The input is the tensor that comes from
the kernel just before; it stays where that kernel's output does."""
PLACEMENTS = 8

TIE_BREAK = 1e-3
"""What a second of DRAM time that no kernel waits for counts in the objective. Without it a kernel that computes longer
than it transfers would have no reason to keep anything, though what it moves costs energy and bandwidth."""


class ResidencyProblem(NamedTuple):
    """n kernels in the order in which they run, on one core.

    :func:`lib.residency.program_residency.residency_problem` makes it of a program that the simulator prices,
    :func:`printed_problem` of the quantities of FAST's integer programme; the arrays may come from anywhere.
    """

    seconds: np.ndarray
    """float64[n, 8] time of each kernel by placement bits; or float64[n, 8, r] where each kernel has a choice of r
    schedules, as the next two arrays then."""
    dram_bytes: np.ndarray
    """float64[n, 8] what each kernel still moves to and from DRAM, by placement bits; breaks ties only."""
    dram_bytes_per_s: float
    need_bytes: np.ndarray
    """int64[n, 8] what the kernel's own tiles and resident activations take of the buffer while it runs, by placement
    bits; resident weights of all kernels come on top."""
    weight_bytes: np.ndarray
    """int64[n] what the kernel's weights take of the buffer at all times where they are resident; 0: it has none."""
    may_stay: np.ndarray
    """bool[n] the output of the kernel before may stay for this one; the first entry is False."""
    capacity_bytes: int
    """Of the global buffer."""

    def objective(self) -> np.ndarray:
        """float64[n, 8, r] what the solvers minimise the sum of: seconds, and TIE_BREAK of the DRAM time."""
        return by_choice(self.seconds + (TIE_BREAK / self.dram_bytes_per_s) * self.dram_bytes)

    @property
    def choices(self) -> int:
        """Schedules that each kernel can choose from."""
        return by_choice(self.seconds).shape[2]


def by_choice(array: np.ndarray) -> np.ndarray:
    """[n, 8] or [n, 8, r] as [n, 8, r]."""
    return array if array.ndim == 3 else array[:, :, None]


def printed_problem(
    fastest_s: np.ndarray, slowest_s: np.ndarray, transfer_s: np.ndarray, tensor_bytes: np.ndarray,
    tile_bytes: np.ndarray, may_stay: np.ndarray, capacity_bytes: int, dram_bytes_per_s: float,
) -> ResidencyProblem:  # fmt: skip
    """FAST's integer programme (ASPLOS 2022, figure 8) as printed, in a chain.

    `fastest_s`, `slowest_s`: float64[n] its T_min and T_max, everything in the global buffer and nothing; `transfer_s`:
    float64[n, 3] its t, DRAM time of input, weights and output; `tensor_bytes`: int64[n, 3] their sizes, the input's
    being the output's of the kernel before where that may stay; `tile_bytes`: int64[n] its B. A kernel takes
    max(T_min, T_max - sum of t that stays). Whole tensors are held beside the tiles (its d = W, conservative).
    """
    keeps = kept_roles()
    held = tensor_bytes * np.array([1, 0, 1])
    return ResidencyProblem(
        seconds=np.maximum(fastest_s[:, None], slowest_s[:, None] - transfer_s @ keeps.T),
        dram_bytes=(tensor_bytes @ (1 - keeps.T)).astype(np.float64),
        dram_bytes_per_s=dram_bytes_per_s,
        need_bytes=tile_bytes[:, None] + held @ keeps.T,
        weight_bytes=np.ascontiguousarray(tensor_bytes[:, 1]),
        may_stay=may_stay,
        capacity_bytes=capacity_bytes,
    )


def kept_roles() -> np.ndarray:
    """int64[8, 3]: whether each placement keeps the input, the weights, the output."""
    return np.arange(PLACEMENTS)[:, None] >> np.arange(3) & 1


def check_problem(problem: ResidencyProblem) -> None:
    """Raise ValueError for arrays that do not belong together, or a kernel that does not fit with nothing resident."""
    n = len(problem.seconds)
    tables = (n, PLACEMENTS, problem.seconds.shape[2]) if problem.seconds.ndim == 3 else (n, PLACEMENTS)
    shapes = {
        "seconds": tables, "dram_bytes": tables, "need_bytes": tables, "weight_bytes": (n,), "may_stay": (n,),
    }  # fmt: skip
    check_arrays(problem, shapes)
    if n and problem.may_stay[0]:
        raise ValueError("residency: no kernel comes before the first, so `may_stay` must begin with False")
    if (problem.need_bytes < 0).any() or (problem.weight_bytes < 0).any():
        raise ValueError("residency: a size is negative")
    check_room(by_choice(problem.need_bytes)[:, 0].min(axis=1), problem.capacity_bytes)


def check_arrays(problem: Any, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raise ValueError for an array of a problem, by name, that has another shape, or a time or size that is not
    finite."""
    for name, shape in shapes.items():
        if getattr(problem, name).shape != shape:
            raise ValueError(f"residency: `{name}` has the shape {getattr(problem, name).shape}, expected {shape}")
    if not (np.isfinite(problem.seconds).all() and np.isfinite(problem.dram_bytes).all()):
        raise ValueError("residency: a time or size is not finite; kernels of which no tile fits have no placement")


def check_room(least_bytes: np.ndarray, capacity_bytes: int) -> None:
    """Raise ValueError where the smallest tiles of a kernel (int64[n] bytes) are larger than the buffer."""
    large = np.flatnonzero(least_bytes > capacity_bytes)
    if len(large):
        raise ValueError(
            f"residency: {len(large)} of {len(least_bytes)} kernels do not fit with nothing resident; the first is "
            f"kernel {large[0]}, whose tiles take {least_bytes[large[0]]} of {capacity_bytes} bytes"
        )


def buffer_use(problem: ResidencyProblem, placement: np.ndarray, choice: np.ndarray) -> np.ndarray:
    """int64[n]: bytes of the buffer in use while each kernel runs under uint8[n] `placement` and int64[n] `choice`."""
    pinned = int(problem.weight_bytes[(placement & WEIGHT_STAYS) > 0].sum())
    return by_choice(problem.need_bytes)[np.arange(len(placement)), placement, choice] + pinned


def is_allowed(problem: ResidencyProblem, placement: np.ndarray, choice: np.ndarray) -> bool:
    """Whether uint8[n] `placement` with the schedules int64[n] `choice` keeps to the capacity, and every input stays
    just where the output before it does."""
    incoming = (placement & INPUT_STAYS) > 0
    outgoing = (placement & OUTPUT_STAYS) > 0
    joined = not len(placement) or ((incoming[1:] == outgoing[:-1]).all() and not outgoing[-1] and not incoming[0])
    return bool(
        joined
        and not (incoming & ~problem.may_stay).any()
        and not (((placement & WEIGHT_STAYS) > 0) & (problem.weight_bytes == 0)).any()
        and (buffer_use(problem, placement, choice) <= problem.capacity_bytes).all()
    )
