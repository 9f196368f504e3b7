"""What each figure should reach, on two cores."""

from typing import NamedTuple


class Goal(NamedTuple):
    """A bound on a figure."""

    operator: str
    """`>=` or `<=`."""
    bound: float

    def __str__(self) -> str:
        return f"{self.operator} {self.bound:g}"

    def is_met(self, value: float) -> bool:
        """Whether the figure keeps the bound."""
        return value >= self.bound if self.operator == ">=" else value <= self.bound


GOALS = {
    "bench.simulator.tile.rows_per_s": Goal(">=", 1e6),
    "bench.mapper.schedules_per_s": Goal(">=", 2e6),
    "bench.trial.efficientnet-b7.median_s": Goal("<=", 0.010),
    "bench.dataset.tile.25m_rows_s": Goal("<=", 300.0),
    "bench.dataset.tile.25m_rows_extrapolated_s": Goal("<=", 300.0),
    "bench.dataset.tile.peak_memory_bytes": Goal("<=", 4 * 2**30),
    "bench.learned.late.rows_per_s": Goal(">=", 5e5),
    "bench.learned.middle.rows_per_s": Goal(">=", 1.5e5),
    "bench.autotune.fusion.moves_per_s": Goal(">=", 2000.0),
    "bench.autotune.fusion.moves_per_s_one_chain": Goal(">=", 200.0),
    "bench.snakemake.dry_run.paper_s": Goal("<=", 5.0),
    "bench.peer.scalesim.ratio": Goal(">=", 1000.0),
    "bench.peer.zigzag.ratio": Goal(">=", 1000.0),
    "bench.peer.scalesim.compute_cycles_error_pct": Goal("<=", 0.0),
}
"""By the figure's name."""
