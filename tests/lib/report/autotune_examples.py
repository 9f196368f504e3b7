"""Two programs autotuned by hand: round runtimes, of which every figure can be worked out with a pencil."""

import numpy as np
import pandas as pd

from schemas.autotune_artifact import AutotuneSummary
from schemas.autotune_configuration import ChosenConfiguration, ChosenKernel
from tests.lib.report.report_examples import Stub

RUNTIMES = {
    "net": {"default": 2.0, "ranker": 1.01, "analytical": 1.25, "exhaustive": 1.0},
    "seen": {"default": 3.0, "ranker": 1.5, "analytical": 1.5, "exhaustive": 1.5},
}
"""Program runtime (s) by strategy with its best 10 tiles; `seen` is a program that the model learned."""
RUNS = {"ranker": 10, "analytical": 8, "exhaustive": 250}


def tiles_of(workload: str, trained_on: tuple[str, ...] = ("seen",)) -> Stub:
    runtimes = RUNTIMES[workload]
    key = {"stage": "tiles", "start": "default", "seed": 1, "budget_s": np.nan}
    results, trace = [], []
    for cost_s in (1.0, 10.0):
        for strategy, runs in RUNS.items():
            seconds = runs * cost_s
            row = {**key, "strategy": strategy, "compile_cost_s": cost_s}
            results.append(
                {
                    **row, "top": 0 if strategy == "exhaustive" else 10, "runtime_s": runtimes[strategy],
                    "speedup": runtimes["default"] / runtimes[strategy],
                    "regret_pct": (runtimes[strategy] / runtimes["exhaustive"] - 1) * 100,
                    "ranked_regret_pct": (runtimes[strategy] / runtimes["exhaustive"] - 1) * 100,
                    "configurations": runs, "target_runs": 3 * runs, "target_s": seconds, "failed": 0, "timed_out": 1,
                    "moves": 0,
                }
            )  # fmt: skip
            for target_s, runtime_s in ((0.0, runtimes["default"]), (seconds, runtimes[strategy])):
                speedup = runtimes["default"] / runtime_s
                trace.append({**row, "target_s": target_s, "runtime_s": runtime_s, "speedup": speedup})
    summary = AutotuneSummary(
        workload=workload, hardware="tpu-v3", default_s=runtimes["default"], best_known_s=runtimes["exhaustive"],
        kernels=2, one_tile_kernels=0, sampled_kernels=0, headline="ranker", chosen_runtime_s=runtimes["ranker"],
        chosen_target_s=10.0, best_known_by="exhaustive", notes=["a note <for> the reader"],
    )  # fmt: skip
    return Stub(
        spec_of("tiles", trained_on),
        {"results.parquet": pd.DataFrame(results), "trace.parquet": pd.DataFrame(trace),
         "configuration.json": configuration(), "summary.json": summary},
    )  # fmt: skip


def configuration() -> ChosenConfiguration:
    """A kernel with another tile, one of other instructions, and one as it was."""
    loops = {"batch": 16, "out_c": 128}
    tile = {"batch": 8, "out_c": 128}
    kernel = ChosenKernel(
        name="kernel.a", instructions=["a"], kernel_class="dot", fingerprint="f", kernel=0, executions=2, loops=loops,
        tile=tile, seconds=0.25, default_tile=loops, default_s=0.5, in_default_configuration=True,
    )  # fmt: skip
    other = {
        "name": "kernel.b",
        "instructions": ["x", "y", "b"],
        "default_tile": tile,
        "in_default_configuration": False,
    }
    same = {"name": "kernel.c", "instructions": ["c"], "default_tile": tile}
    kernels = [kernel, kernel.model_copy(update=other), kernel.model_copy(update=same)]
    return ChosenConfiguration(
        workload="net", batch=1, hardware="tpu-v3", runtime_s=1.01, default_s=2.0, kernels=kernels
    )


def spec_of(task: str, trained_on: tuple[str, ...]) -> dict:
    model = {"id": "ranker", "trained_on": list(trained_on)}
    return {
        "task": task, "top": [10], "exhaustive": True, "budgets_s": [60.0, 600.0],
        "compile_costs_s": [1.0, 10.0], "repeats": 3,
        "tile_models": [model] if task == "tiles" else [], "fusion_models": [] if task == "tiles" else [model],
    }  # fmt: skip


def fusion_of(workload: str, model_s: float, alone_s: float, best_s: float = 1.0, default_s: float = 2.0) -> Stub:
    """The model with 60 target seconds reaches `model_s`, the target alone with 600 reaches `alone_s`."""
    key = {"stage": "fusion", "start": "default", "seed": 1, "compile_cost_s": 1.0}
    rows = []
    for strategy, budget_s, runtime_s in (
        ("ranker", 60.0, model_s), ("ranker", 600.0, best_s), ("target", 60.0, default_s), ("target", 600.0, alone_s),
    ):  # fmt: skip
        rows.append(
            {
                **key, "strategy": strategy, "budget_s": budget_s, "top": 0, "runtime_s": runtime_s,
                "speedup": default_s / runtime_s, "regret_pct": (runtime_s / best_s - 1) * 100,
                "ranked_regret_pct": np.nan, "configurations": 20, "target_runs": 60, "target_s": budget_s, "failed": 0,
                "timed_out": 0, "moves": 100,
            }
        )  # fmt: skip
    results = pd.DataFrame(rows)
    run = ["stage", "strategy", "start", "seed", "compile_cost_s", "budget_s"]
    start = results[run].assign(target_s=0.0, runtime_s=default_s, speedup=1.0)
    end = results[[*run, "target_s", "runtime_s", "speedup"]]
    summary = AutotuneSummary(
        workload=workload, hardware="tpu-v3", default_s=default_s, best_known_s=best_s, kernels=2, one_tile_kernels=0,
        sampled_kernels=0, headline="ranker", chosen_runtime_s=best_s, chosen_target_s=600.0, best_known_by="ranker",
        notes=[],
    )  # fmt: skip
    return Stub(
        spec_of("fusion", ()),
        {"results.parquet": results, "trace.parquet": pd.concat([start, end], ignore_index=True),
         "configuration.json": configuration(), "summary.json": summary},
    )  # fmt: skip
