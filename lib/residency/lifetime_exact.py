"""The lifetime problem as a mixed-integer programme, for HiGHS.

z[i, p, r] in {0, 1}: kernel i takes option p (:mod:`lib.residency.lifetime_options`) under its schedule r; s[t, k]: the
first k readers of tensor t find it on chip; w[i]: weights stay; S what all resident weights take.

    minimise  sum cost[i, p, r] z[i, p, r]
    such that sum z[i] = 1,   s[t, k + 1] <= s[t, k],
              sum of z[i] over options that find t on chip = s[t, k] where i is t's k-th reader,
              sum of z[t] over options whose output stays = s[t, 1],   that is not written = s[t, last],
              sum of z[i] over options with weights = w[i],   S = sum weight_bytes[i] w[i],
              sum need[i, p, r] z[i, p, r] + sum tensor_bytes[t] s[t, k] + S <= capacity

where the second sum of the last row is over the tensors alive while i runs that i does not make or read, k being the
next reader of each.
"""

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from lib.residency.exact_solver import FEASIBILITY
from lib.residency.lifetime_options import OUTCOMES, STAYS, WRITTEN, Options
from lib.residency.lifetime_problem import NOWHERE, LifetimePlacement, LifetimeProblem, is_allowed
from lib.residency.lives import Reads


def solve_lifetime_exactly(
    problem: LifetimeProblem, reads: Reads, options: Options, gap: float, seconds: float
) -> tuple[LifetimePlacement | None, float]:
    """A placement within `gap` of the best, None if none was found in time, and a bound of the objective.

    `seconds` limits the time. Exact where `reads` looks at every read. The placement keeps to the capacity byte by
    byte: where HiGHS overruns it within its tolerance, it solves once more with a capacity smaller by that.
    """
    placement, bound = _solve(problem, reads, options, problem.capacity_bytes, gap, seconds)
    if placement is not None and not is_allowed(problem, placement):
        smaller = int(problem.capacity_bytes * (1 - FEASIBILITY))
        placement, _ = _solve(problem, reads, options, smaller, gap, seconds)
        if placement is not None and not is_allowed(problem, placement):
            return None, bound
    return placement, bound


class _Rows:
    """Constraints under construction."""

    def __init__(self) -> None:
        self.count = 0
        self.row: list[np.ndarray] = []
        self.column: list[np.ndarray] = []
        self.value: list[np.ndarray] = []
        self.low: list[np.ndarray] = []
        self.high: list[np.ndarray] = []

    def open(self, count: int, low: float, high: float) -> np.ndarray:
        """int64[count]: numbers of new rows between two limits."""
        self.low.append(np.full(count, low))
        self.high.append(np.full(count, high))
        self.count += count
        return np.arange(self.count - count, self.count)

    def add(self, row, column, value) -> None:
        """Coefficients; arguments are broadcast."""
        for store, part in zip(
            (self.row, self.column, self.value), np.broadcast_arrays(row, column, value), strict=True
        ):
            store.append(part.ravel())


def _solve(
    problem: LifetimeProblem, reads: Reads, options: Options, capacity: int, gap: float, seconds: float
) -> tuple[LifetimePlacement | None, float]:
    n = len(problem.seconds)
    size = float(max(1, capacity))
    kernel, found, weights, outcome = _meaning(options, reads)
    taken = np.arange(options.cost.shape[1]) < options.rows[:, None]
    taken &= options.need_bytes <= capacity
    option, place = np.nonzero(taken)
    most = np.zeros(n)
    np.maximum.at(most, kernel[option], options.cost[option, place])
    scale = float(most.sum()) or 1.0
    z = len(option)
    # s by tensor, one for each reader that is looked at; then w; then S.
    first_s = z + np.concatenate([[0], np.cumsum(reads.looked_at)])
    first_w = int(first_s[-1])
    pinned = first_w + n
    variables = pinned + 1
    cost = np.zeros(variables)
    cost[:z] = options.cost[option, place] / scale
    upper = np.ones(variables)
    upper[first_w:pinned] = problem.weight_bytes > 0
    whole = np.ones(variables)
    whole[pinned] = 0

    rows, columns = _Rows(), np.arange(z)
    own = rows.open(n, 1.0, 1.0)
    rows.add(own[kernel[option]], columns, 1.0)
    pins = rows.open(n, 0.0, 0.0)
    some = weights[option] == 1
    rows.add(pins[kernel[option[some]]], columns[some], 1.0)
    rows.add(pins, first_w + np.arange(n), -1.0)
    room = rows.open(n, -np.inf, capacity / size)
    rows.add(room[kernel[option]], columns, options.need_bytes[option, place] / size)
    rows.add(room, pinned, 1.0)
    total = rows.open(1, 0.0, 0.0)
    rows.add(total, first_w + np.arange(n), problem.weight_bytes / size)
    rows.add(total, pinned, -1.0)
    by_kernel = np.split(columns, np.searchsorted(kernel[option], np.arange(1, n)))
    bit_of = _bits(problem, reads)
    for tensor in np.flatnonzero(reads.looked_at):
        s = first_s[tensor] + np.arange(reads.looked_at[tensor])
        readers = reads.reader[reads.reader_offset[tensor] :][: len(s)]
        mine = by_kernel[tensor]
        stays = rows.open(1, 0.0, 0.0)
        rows.add(stays, mine[outcome[option[mine]] != WRITTEN], 1.0)
        rows.add(stays, s[0], -1.0)
        saves = mine[outcome[option[mine]] == STAYS]
        if len(saves):
            saved = rows.open(1, 0.0, 0.0)
            rows.add(saved, saves, 1.0)
            rows.add(saved, s[-1], -1.0)
        ordered = rows.open(len(s) - 1, 0.0, np.inf)
        rows.add(ordered, s[:-1], 1.0)
        rows.add(ordered, s[1:], -1.0)
        last = tensor
        for variable, reader in zip(s, readers, strict=True):
            finds = rows.open(1, 0.0, 0.0)
            theirs = by_kernel[reader]
            rows.add(finds, theirs[found[option[theirs]] >> bit_of[int(tensor), int(reader)] & 1 == 1], 1.0)
            rows.add(finds, variable, -1.0)
            rows.add(room[last + 1 : reader], variable, problem.tensor_bytes[tensor] / size)
            last = reader
    matrix = csr_array(
        (np.concatenate(rows.value), (np.concatenate(rows.row), np.concatenate(rows.column))),
        shape=(rows.count, variables),
    )
    limits = LinearConstraint(matrix, np.concatenate(rows.low), np.concatenate(rows.high))
    result = milp(
        cost, integrality=whole, bounds=Bounds(0.0, upper), constraints=limits,
        options={"mip_rel_gap": gap, "time_limit": seconds},
    )  # fmt: skip
    bound = -np.inf if result.mip_dual_bound is None else float(result.mip_dual_bound) * scale
    if result.x is None:
        return None, bound if np.isfinite(bound) else -np.inf
    until, choice = np.full(n, NOWHERE), np.zeros(n, dtype=np.int64)
    for tensor in np.flatnonzero(reads.looked_at):
        on_chip = int((result.x[first_s[tensor] : first_s[tensor + 1]] > 0.5).sum())
        if on_chip:
            until[tensor] = reads.reader[reads.reader_offset[tensor] + on_chip - 1]
    best = np.array([mine[np.argmax(result.x[mine])] for mine in by_kernel], dtype=np.int64)
    choice[:] = options.choice[option[best], place[best]]
    return LifetimePlacement(until, result.x[first_w:pinned] > 0.5, choice), bound


def _meaning(options: Options, reads: Reads) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of every option: its kernel, the bits of the reads on chip, whether weights stay, what becomes of the output."""
    kernel = np.repeat(np.arange(len(reads.bits)), np.diff(options.offset))
    within = np.arange(options.offset[-1]) - options.offset[kernel]
    return kernel, within // (2 * OUTCOMES), within // OUTCOMES % 2, within % OUTCOMES


def _bits(problem: LifetimeProblem, reads: Reads) -> dict[tuple[int, int], int]:
    """The bit of each read that is looked at, by tensor and reader."""
    reader = np.repeat(np.arange(len(problem.seconds)), np.diff(problem.read_offset))
    pairs = zip(problem.read_tensor.tolist(), reader.tolist(), reads.bit.tolist(), strict=True)
    return {(tensor, kernel): bit for tensor, kernel, bit in pairs if bit >= 0}
