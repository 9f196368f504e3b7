"""The tile autotuner: a model ranks the tiles of each kernel, the target runs the best ranked ones, the best is kept.

Strategies: the study's tile models; `analytical`, the compiler's own model; `random`; and, unless the study leaves it
out, `exhaustive`, all tiles, the ceiling. Every strategy knows the default tile's time from the start, since the
program runs with it today, and falls back on it where no ranked tile is faster.
"""

import logging
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lib.autotune.configuration import Configuration, program_s
from lib.autotune.target import Measured, Prices, Target, charged_s, failed, runs
from lib.autotune.tile_order import (
    Order,
    TileSpace,
    best_rows,
    best_seconds,
    best_so_far,
    ranked_order,
)
from lib.autotune.tuned import Tuned, best_result, run_key, skipped_table
from lib.cost.analytical import Analytical
from lib.cost.cost_model import CostModel, Reason

LOG = logging.getLogger("tilewright")


class Strategy(NamedTuple):
    """A way of ranking, with one seed."""

    name: str
    seed: int
    score: np.ndarray
    """float64[r] lower is run first."""


class Run(NamedTuple):
    """One strategy's tiles in the order in which they were run, to the last one that any of its limits reaches."""

    strategy: Strategy
    order: Order
    measured: Measured
    """Of the first m rows of the order."""

    @property
    def row(self) -> np.ndarray:
        """int64[m] of the tile space."""
        return self.order.row[: len(self.measured.seconds)]


class Known(NamedTuple):
    """What all strategies of a tile space together found out."""

    space: TileSpace
    seconds: np.ndarray
    """float64[r]; NaN: not run, or it can't run."""
    default_s: np.ndarray
    """float64[k]"""
    least_s: float
    """Runtime of the program with the best tile of each kernel that was run."""


def tune_tiles(
    spec: Mapping[str, Any], default: Configuration, models: Mapping[str, Mapping[int, CostModel]], target: Target
) -> Tuned:
    """All strategies on the kernels of the configuration `default`, which has default tiles.

    `spec`: `top`, `exhaustive`, `seeds`, `budgets_s`, `compile_costs_s`, `repeats`, `timeout_s`, `tiles_per_kernel` of
    the resolved entry; `models`: strategy to seed to model, the first one is the headline.
    """
    found = default.found
    space = target.tile_space(found.kernels, found.executions, spec["tiles_per_kernel"])
    tried = [_run(spec, space, one, default.seconds, target) for one in _strategies(spec, space, models, target)]
    known, reason = _known(space, default.seconds, tried)
    results = pd.concat([_results(spec, known, run) for run in tried], ignore_index=True)
    trace = pd.concat([_trace(spec, known, run) for run in tried], ignore_index=True)
    headline = next(iter(models), "analytical")
    best = best_result(results, headline)
    run = next(run for run in tried if (run.strategy.name, run.strategy.seed) == (headline, best["seed"]))
    rows = best_rows(space, known.seconds, run.row[: int(best["configurations"])])
    chosen = default._replace(tile=space.schedules.tile[rows], seconds=known.seconds[rows])
    row = np.flatnonzero(reason != Reason.OK)
    kernel, tile = space.schedules.kernel[row], space.schedules.tile[row]
    skipped = skipped_table(found.kernels, found.roots, kernel, tile, reason[row])
    return Tuned(results, trace, skipped, chosen, best, headline)


def _run(spec: Mapping[str, Any], space: TileSpace, strategy: Strategy, default_s: np.ndarray, target: Target) -> Run:
    """The tiles of the largest `top`, and further ones while the largest budget lasts at the lowest compile cost."""
    order = ranked_order(space, strategy.score, default_s)
    least = len(order.row) if strategy.name == "exhaustive" else order.first(max(spec["top"]))
    measured = target.measure(space.kernels, space.rows(order.row[:least]))
    prices, budget_s = _prices(spec, min(spec["compile_costs_s"])), max(spec["budgets_s"])
    while len(measured.seconds) < len(order.row) and charged_s(measured, prices).sum() <= budget_s:
        first = len(measured.seconds)
        more = target.measure(space.kernels, space.rows(order.row[first : first + target.batch]))
        measured = measured.followed_by(more)
    in_budget = int(np.searchsorted(np.cumsum(charged_s(measured, prices)), budget_s, "right"))
    return Run(strategy, order, measured.first(max(least, in_budget)))


def _known(space: TileSpace, default_s: np.ndarray, tried: list[Run]) -> tuple[Known, np.ndarray]:
    """And the uint8[r] reason of each row; OK where it was not run."""
    seconds, reason = np.full(len(space.is_default), np.nan), np.full(len(space.is_default), Reason.OK, dtype=np.uint8)
    seconds[space.default_row] = default_s
    for run in tried:
        seconds[run.row], reason[run.row] = run.measured.seconds, run.measured.reason
    everything = np.arange(len(space.is_default))
    least_s = program_s(best_seconds(space, seconds, everything, default_s), space.executions)
    return Known(space, seconds, default_s, least_s), reason


def _strategies(
    spec: Mapping[str, Any], space: TileSpace, models: Mapping[str, Mapping[int, CostModel]], target: Target
) -> Iterator[Strategy]:
    """The models, each with every seed; then those that need none. What draws nothing has one seed."""
    seeds = spec["seeds"]
    for name, by_seed in models.items():
        scored: dict[int, np.ndarray] = {}
        for seed in seeds:
            model = by_seed[seed]
            if id(model) not in scored:
                LOG.info("%s ranks %d tiles of %d kernels", name, len(space.is_default), space.kernels.number)
                scored[id(model)] = model.cost(space.kernels, space.schedules, target.datapath).value
            yield Strategy(name, seed, scored[id(model)])
    analytical_s = Analytical().cost(space.kernels, space.schedules, target.datapath).value
    yield Strategy("analytical", seeds[0], analytical_s)
    for seed in seeds:
        yield Strategy("random", seed, random_scores(space, seed))
    if spec["exhaustive"]:
        yield Strategy("exhaustive", seeds[0], np.arange(len(space.is_default), dtype=np.float64))


def random_scores(space: TileSpace, seed: int) -> np.ndarray:
    """float64[r]; those of a kernel depend on the seed and its fingerprint alone."""
    counts = np.diff(space.offset)
    draws = [
        np.random.default_rng([seed, int(fingerprint, 16)]).random(count)
        for fingerprint, count in zip(space.kernels.fingerprint, counts.tolist(), strict=True)
    ]
    return np.concatenate(draws) if draws else np.empty(0)


def _results(spec: Mapping[str, Any], known: Known, run: Run) -> pd.DataFrame:
    """One row a compile cost and number of tiles run, and one a compile cost and budget."""
    whole = run.strategy.name == "exhaustive"
    tops = {0: len(run.row)} if whole else {top: run.order.first(top) for top in spec["top"]}
    rows = []
    for cost in spec["compile_costs_s"]:
        spent_s = np.cumsum(charged_s(run.measured, _prices(spec, cost)))
        ends = [(top, np.nan, count) for top, count in tops.items()]
        ends += [(0, budget, int(np.searchsorted(spent_s, budget, "right"))) for budget in spec["budgets_s"]]
        for top, budget_s, count in ends:
            best = best_seconds(known.space, known.seconds, run.row[:count], known.default_s)
            some = run.measured.first(count)
            rows.append(
                {
                    **_key(run, cost, budget_s),
                    "top": top,
                    "runtime_s": program_s(best, known.space.executions),
                    "ranked_regret_pct": _ranked_regret_pct(known, run.order, top) if top else np.nan,
                    "configurations": count,
                    "target_runs": int(runs(some, spec["repeats"]).sum()),
                    "target_s": float(spent_s[count - 1]) if count else 0.0,
                    "failed": int(failed(some.reason).sum()),
                    "timed_out": int((some.reason == Reason.TIMED_OUT).sum()),
                    "moves": 0,
                }
            )
    return pd.DataFrame(rows)


def _ranked_regret_pct(known: Known, order: Order, top: int) -> float:
    """Of the `top` best ranked tiles alone; NaN where none of a kernel's could be run."""
    rows = np.flatnonzero(order.all_ranks < top)
    best = best_seconds(known.space, known.seconds, rows, np.full(known.space.kernels.number, np.nan))
    return (program_s(best, known.space.executions) / known.least_s - 1.0) * 100.0


def _trace(spec: Mapping[str, Any], known: Known, run: Run) -> pd.DataFrame:
    """Best so far until the most tiles and the largest budget are spent; of the exhaustive strategy to the end."""
    kernel = known.space.schedules.kernel[run.row]
    frames = []
    for cost in spec["compile_costs_s"]:
        charged = charged_s(run.measured, _prices(spec, cost))
        count = len(run.row)
        if run.strategy.name != "exhaustive":
            in_budget = int(np.searchsorted(np.cumsum(charged), max(spec["budgets_s"]), "right"))
            count = max(run.order.first(max(spec["top"])), in_budget)
        target_s, runtime_s = best_so_far(
            kernel[:count], run.measured.seconds[:count], charged[:count], known.space.executions, known.default_s
        )
        frames.append(pd.DataFrame({**_key(run, cost, np.nan), "target_s": target_s, "runtime_s": runtime_s}))
    return pd.concat(frames, ignore_index=True)


def _prices(spec: Mapping[str, Any], compile_cost_s: float) -> Prices:
    return Prices(compile_cost_s, spec["repeats"], spec["timeout_s"])


def _key(run: Run, compile_cost_s: float, budget_s: float) -> dict[str, Any]:
    return run_key("tiles", run.strategy.name, "default", run.strategy.seed, compile_cost_s, budget_s)
