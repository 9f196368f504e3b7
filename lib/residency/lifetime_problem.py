"""The residency problem in which any tensor may stay while it lives, as plain arrays, and what a placement costs."""

from typing import NamedTuple

import numpy as np

from lib.residency.problem import (
    INPUT_STAYS,
    OUTPUT_STAYS,
    PLACEMENTS,
    TIE_BREAK,
    WEIGHT_STAYS,
    check_arrays,
    check_room,
)

NOWHERE = -1
"""In place of a last reader: the tensor does not stay."""


class LifetimeProblem(NamedTuple):
    """n kernels in the order in which they run, on one core, with a choice of r schedules each; e reads of tensors.

    A tensor is known by the kernel that makes it. It may stay from that kernel to any of those that read it: those up
    to there find it on chip, the later ones load it. It is written unless all find it on chip and it does not leave the
    program. :func:`lib.residency.program_lifetime.lifetime_problem` makes the problem of a program's kernels.
    """

    seconds: np.ndarray
    """float64[n, 8, r] time of each kernel by roles: 1 all its inputs stay, 2 its weights, 4 its output is not written.
    Where inputs stay in part, their share of the difference counts."""
    dram_bytes: np.ndarray
    """float64[n, 8, r] what each kernel still moves to and from DRAM, by the same bits; breaks ties only."""
    dram_bytes_per_s: float
    weight_bytes: np.ndarray
    """int64[n] what the kernel's weights take of the buffer at all times where they are resident; 0: it has none."""
    tensor_bytes: np.ndarray
    """int64[n] what the kernel's output takes while it stays, after the kernel itself."""
    held_bytes: np.ndarray
    """int64[n, r] what its output takes while the kernel runs (more where it consists of partial sums)."""
    leaves: np.ndarray
    """bool[n] whether the output must be written, whoever reads it on chip."""
    tile_bytes: np.ndarray
    """int64[n, r] both sets of tiles of all operands."""
    weight_tile_bytes: np.ndarray
    """int64[n, r] of them, those of the weights, which resident weights don't need."""
    output_tile_bytes: np.ndarray
    """int64[n, r] of them, those of the output."""
    read_offset: np.ndarray
    """int64[n + 1] cuts the next arrays by reading kernel. A kernel reads a tensor once here, whatever the operands."""
    read_tensor: np.ndarray
    """int64[e] the kernel that made what is read; an earlier one."""
    read_share: np.ndarray
    """float64[e] of the bytes of all inputs of the reader."""
    read_tile_bytes: np.ndarray
    """int64[e, r] both sets of tiles."""
    capacity_bytes: int
    """Of the global buffer."""

    def objective(self) -> np.ndarray:
        """float64[n, 8, r] what the solvers minimise the sum of: seconds, and TIE_BREAK of the DRAM time."""
        return self.seconds + (TIE_BREAK / self.dram_bytes_per_s) * self.dram_bytes


class LifetimePlacement(NamedTuple):
    """What stays, and under which schedule each kernel runs."""

    until: np.ndarray
    """int64[n] the last kernel that finds each output on chip; NOWHERE: it does not stay."""
    pinned: np.ndarray
    """bool[n] whether each kernel's weights are resident."""
    choice: np.ndarray
    """int64[n] the schedule of each kernel."""


class LifetimeCosts(NamedTuple):
    """What n kernels cost under a placement."""

    placement: np.ndarray
    """uint8[n] bits: 1 inputs are found on chip, at least in part, 2 the weights stay, 4 the output."""
    kernel_s: np.ndarray
    """float64[n]"""
    dram_bytes: np.ndarray
    """float64[n] what each kernel still moves."""
    objective_s: float
    used_bytes: np.ndarray
    """int64[n] of the buffer while each kernel runs: tiles, what stays and all resident weights."""


def placement_costs_of(problem: LifetimeProblem, placement: LifetimePlacement) -> LifetimeCosts:
    """Price a placement, whether it fits or not."""
    n = len(problem.seconds)
    reader = np.repeat(np.arange(n), np.diff(problem.read_offset))
    tensor, row = problem.read_tensor, np.arange(n)
    until, pinned, choice = placement
    on_chip = reader <= until[tensor]
    share = np.bincount(reader, on_chip * problem.read_share, minlength=n)
    share = np.minimum(share, 1.0)
    last_reader = np.full(n, NOWHERE)
    np.maximum.at(last_reader, tensor, reader)
    saved = (until >= 0) & (until >= last_reader) & ~problem.leaves
    rest = WEIGHT_STAYS * pinned + OUTPUT_STAYS * saved

    def between(table: np.ndarray) -> np.ndarray:
        return (1.0 - share) * table[row, rest, choice] + share * table[row, rest + INPUT_STAYS, choice]

    kernel_s, dram_bytes = between(problem.seconds), between(problem.dram_bytes)
    objective_s = float(kernel_s.sum() + (TIE_BREAK / problem.dram_bytes_per_s) * dram_bytes.sum())
    own = problem.tile_bytes[row, choice] - np.where(pinned, problem.weight_tile_bytes[row, choice], 0)
    own = own + np.where(until >= 0, problem.held_bytes[row, choice] - problem.output_tile_bytes[row, choice], 0)
    np.subtract.at(own, reader[on_chip], problem.read_tile_bytes[np.flatnonzero(on_chip), choice[reader[on_chip]]])
    # A tensor takes its room from after its kernel to the end of its last reader on chip.
    change = np.zeros(n + 1, dtype=np.int64)
    stays = np.flatnonzero(until >= 0)
    np.add.at(change, stays + 1, problem.tensor_bytes[stays])
    np.subtract.at(change, until[stays] + 1, problem.tensor_bytes[stays])
    used = own + np.cumsum(change)[:n] + problem.weight_bytes[pinned].sum()
    bits = INPUT_STAYS * (share > 0) + WEIGHT_STAYS * pinned + OUTPUT_STAYS * (until >= 0)
    return LifetimeCosts(bits.astype(np.uint8), kernel_s, dram_bytes, objective_s, used)


def is_allowed(problem: LifetimeProblem, placement: LifetimePlacement) -> bool:
    """Whether tensors stay to one of their readers and all fits at all times."""
    until, pinned, _ = placement
    reader = np.repeat(np.arange(len(until)), np.diff(problem.read_offset))
    reads = set(zip(problem.read_tensor.tolist(), reader.tolist(), strict=True))
    ends = all((tensor, last) in reads for tensor, last in enumerate(until.tolist()) if last != NOWHERE)
    fits = placement_costs_of(problem, placement).used_bytes <= problem.capacity_bytes
    return bool(ends and not (pinned & (problem.weight_bytes == 0)).any() and fits.all())


def check_lifetime_problem(problem: LifetimeProblem) -> None:
    """Raise ValueError for arrays that do not belong together, or a kernel that does not fit with nothing resident."""
    n, _, choices = problem.seconds.shape if problem.seconds.ndim == 3 else (len(problem.seconds), 0, 1)
    reads = len(problem.read_tensor)
    tables, by_row, own, read = (n, PLACEMENTS, choices), (n, choices), (n,), (reads, choices)
    shapes = {
        "seconds": tables, "dram_bytes": tables, "weight_bytes": own, "tensor_bytes": own, "held_bytes": by_row,
        "leaves": own, "tile_bytes": by_row, "weight_tile_bytes": by_row, "output_tile_bytes": by_row,
        "read_offset": (n + 1,), "read_share": (reads,), "read_tile_bytes": read,
    }  # fmt: skip
    check_arrays(problem, shapes)
    reader = np.repeat(np.arange(n), np.diff(problem.read_offset))
    late = np.flatnonzero((problem.read_tensor < 0) | (problem.read_tensor >= reader))
    if len(late):
        raise ValueError(
            f"residency: kernel {reader[late[0]]} reads the output of kernel {problem.read_tensor[late[0]]}, which "
            "does not come before it"
        )
    check_room(problem.tile_bytes.min(axis=1, initial=np.iinfo(np.int64).max), problem.capacity_bytes)
