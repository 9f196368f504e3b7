"""A report's data made by hand: one evaluation, one search, round numbers."""

import numpy as np
import pandas as pd

from lib.report.report_data import WALL_TIME_COLUMNS, ReportData
from lib.search.evaluate import POWER_AREA_MODELS
from lib.search.summary import merged_search
from schemas.artifact import Manifest
from schemas.dataset_artifact import ANALYTICAL_PARTS
from schemas.hardware import HARDWARE_PRESETS, merged_datapath
from schemas.return_on_investment import ReturnOnInvestment
from schemas.search_artifact import DesignSummary, SearchDesigns

TPU_V3 = {"id": "tpu-v3", "runtime": "simulated", "datapath": merged_datapath([HARDWARE_PRESETS["tpu-v3"]])}


class Stub:
    """What the report needs of an artifact."""

    def __init__(self, spec, contents):
        self.manifest = Manifest(
            schema_name="Stub", version=1, id="x", origin="simulated", code="c", spec=spec, files={}, software={}
        )
        self._contents = contents

    def __getitem__(self, name):
        return self._contents[name]


def overall() -> pd.DataFrame:
    """Tile APE on TPU-v3: learned 0.8, analytical 4; fusion MAPE on TPU-v2: 5.5 against 31."""
    columns = ["task", "hardware", "model", "metric", "value", "low", "high", "programs"]
    rows = [
        ("tile", "tpu-v3", "ranker", "ape_pct", 0.8, 0.5, 1.2, 3),
        ("tile", "tpu-v3", "ranker", "kendall_tau", 0.9, 0.85, 0.95, 3),
        ("tile", "tpu-v3", "analytical", "ape_pct", 4.0, 3.0, 5.0, 3),
        ("tile", "tpu-v3", "analytical", "kendall_tau", 0.7, 0.6, 0.8, 3),
        ("fusion", "tpu-v2", "runtime", "mape_pct", 5.5, 4.0, 7.0, 3),
        ("fusion", "tpu-v2", "calibrated-analytical", "mape_pct", 31.0, 25.0, 40.0, 3),
        ("fusion", "tpu-v2", "analytical", "mape_pct", np.nan, np.nan, np.nan, 0),
    ]
    table = pd.DataFrame(rows, columns=columns).astype({"programs": "int32"})
    seeds = np.where(table["model"] == "ranker", 2, 1)
    low, high = (np.where(seeds == 2, table["value"] * factor, np.nan) for factor in (0.75, 1.25))
    return table.assign(seeds=seeds, seed_low=low, seed_high=high)


def worst() -> pd.DataFrame:
    """One kernel whose pick takes 12 us where 10 us are possible."""
    row = {
        "task": "tile", "hardware": "tpu-v3", "workload": "net", "model": "ranker", "kernel": 0, "kernel_class": "dot",
        "root": "<dot & add>", "executions": 3, "runtime_s": 1e-5, "predicted_s": 1.2e-5, "share_pct": 40.0,
        "error_pct": 20.0, "description": "batch 8, out_c 64; dot, add", "best_tile": "batch 8",
        "shown_tile": "batch 4",
        "analytical_s": 9e-6, **{f"analytical_{part}": 1e-6 for part in ANALYTICAL_PARTS},
    }  # fmt: skip
    return pd.DataFrame([row])


def evaluation(shared_family: bool = False) -> Stub:
    predictions = pd.DataFrame(
        {
            "task": ["tile", "tile"], "hardware": ["tpu-v3"] * 2, "workload": ["net"] * 2,
            "model": ["ranker", "analytical"], "kernel": [0, 0], "kernel_class": ["dot"] * 2,
            "root": ["<dot & add>"] * 2, "executions": [1, 1],
            "runtime_s": [1e-5, 1e-5], "predicted_s": [1.1e-5, 2e-5],
        }
    )  # fmt: skip
    programs = overall().assign(workload="net", family="f", seed=1, kernels=4, left_out=0)
    keys = ["task", "hardware", "metric", "model", "baseline"]
    comparisons = pd.DataFrame(
        [("tile", "tpu-v3", "ape_pct", "ranker", "analytical", "ratio", 0.2, 0.1, 0.4, True, 3)],
        columns=[*keys, "kind", "difference", "low", "high", "better", "programs"],
    )
    spec = {
        "models": [
            {
                "id": "ranker",
                "task": "tile",
                "members": ["ranker"],
                "hardware": ["tpu-v2"],
                "scored_on": ["tpu-v2", "tpu-v3"],
                "hardware_groups": {},
                "baseline": False,
            },
            {
                "id": "runtime",
                "task": "fusion",
                "members": ["first", "second"],
                "hardware": ["tpu-v2"],
                "scored_on": ["tpu-v2"],
                "hardware_groups": {},
                "baseline": False,
            },
        ],
        "split": {"default": {"train": ["other"], "validation": [], "test": ["net"]}},
        "families": {"net": "f", "other": "f" if shared_family else "g"},
    }
    return Stub(
        spec,
        {"overall.parquet": overall(), "programs.parquet": programs, "predictions.parquet": predictions,
         "comparisons.parquet": comparisons, "classes.parquet": overall().assign(kernel_class="dot", kernels=7),
         "groups.parquet": overall().rename(columns={"hardware": "group"}).assign(variants=2).iloc[:0],
         "validation.parquet": overall(), "worst.parquet": worst()},
    )  # fmt: skip


def design(name: str, watts: float, queries_per_s: float, gain: float, workloads=("net",)) -> DesignSummary:
    def each(value: float) -> dict[str, float]:
        return dict.fromkeys(workloads, value)

    return DesignSummary(
        name=name, hardware=merged_datapath([HARDWARE_PRESETS["tpu-v3"]]),
        area_mm2={model: {"arrays": 100.0} for model in POWER_AREA_MODELS},
        power_w={model: {"arrays": watts} for model in POWER_AREA_MODELS},
        queries_per_s=each(queries_per_s), latency_s=each(0.01), joules=each(1.0), dram_bytes=each(1e9),
        utilisation=each(0.5), perf_per_tdp_gain={"fast-fitted": gain, "public": gain / 2}, value=gain,
    )  # fmt: skip


def search(island: int, gains: list[float], workloads=("net",), **spec) -> Stub:
    """Trials with the given gains (NaN: over the limit) at half the baseline's power, twice worse under `public`."""
    gain = np.array(gains)
    best = np.fmax.accumulate(gain)
    over = np.isnan(gain)
    trials = pd.DataFrame(
        {
            "trial": np.arange(len(gain), dtype="int32"), "state": np.where(over, "tdp", "ok"),
            "reason": np.where(over, "tdp is 3 times the baseline's", ""), "tdp_ratio": 0.5, "area_ratio": 0.8,
            "latency_s": np.where(over, np.nan, 0.02), "joules": np.where(over, np.nan, 1.0),
            "perf_per_tdp_gain": gain, "perf_per_tdp_gain_public": gain / 2, "value": gain, "best_so_far": best,
            "queries_per_s": gain, "tdp_w": 50.0, "area_mm2": 80.0, "pareto": gain == best,
        }
    )  # fmt: skip
    kernels = pd.DataFrame(
        {"workload": workloads[0], "kernel": [0, 1], "root": ["a", "b"], "kernel_class": "dot", "executions": [1, 10],
         "baseline_s": [3e-3, 1e-3], "best_s": [2e-3, 0.5e-3], "baseline_dram_bytes": [2e6, 1e6],
         "best_dram_bytes": [1e6, 1e6], "input_resident": [0.0, 1.0], "weight_resident": [0.0, 1.0],
         "output_resident": [1.0, 0.0]}
    )  # fmt: skip
    explained = pd.DataFrame(
        {"group": ["batch", "DRAM"], "reference": ["8", "8 x gddr6, 448 GB/s"], "design": ["16", "4 x gddr6, 224 GB/s"],
         "ladder_gain": [1.0, -0.25], "ladder_performance": [1.0, -0.5], "ladder_power": [0.0, 0.25],
         "share_gain": [0.75, 0.0], "share_performance": [0.75, -0.25], "share_power": [0.0, 0.25]}
    )  # fmt: skip
    compiled = design("tpu-v3", 100.0, 50.0, 1.0, workloads)
    designs = SearchDesigns(
        space_size=1000, power_area_model="fast-fitted", baseline=compiled, compiled=compiled,
        scheduled=design("tpu-v3, best schedules", 100.0, 85.0, 1.7, workloads),
        references=[design("fast-large", 80.0, 120.0, 3.0, workloads)],
        best=None if over.all() else design("trial 1", 50.0, 25.0 * np.nanmax(gain), np.nanmax(gain), workloads),
    )  # fmt: skip
    whole = {
        "workloads": list(workloads), "optimiser": "tpe", "island": island, "baseline": {"id": "tpu-v3"},
        "objective": "perf-per-tdp", "residency": "paper", "baseline_schedule": "default", "space": {},
        "surrogate": "none",
        "limits": {"tdp_ratio": 2.0, "area_ratio": 1.67, "latency_s": None},
    }  # fmt: skip
    contents = {
        "trials.parquet": trials,
        "kernels.parquet": kernels,
        "explained.parquet": explained,
        "designs.json": designs,
        "schedules.txt": "",
        "best.yaml": "best: {}\n",
    }
    return Stub(whole | spec, contents)


def summary(islands: list[Stub]) -> Stub:
    """The islands together."""
    return Stub({}, merged_search(islands))


def report_data(**changes) -> ReportData:
    searches = changes.get("searches", {"net": [search(1, [1.0, 3.0, np.nan])]})
    spec = {"workloads": {"net": {}}, "hardware": {"tpu-v3": TPU_V3}, "models": {}, "evaluations": {}}
    spec |= changes.pop("spec", {}) | {
        "searches": {name: islands[0].manifest.spec for name, islands in searches.items()},
        "return_on_investment": dict.fromkeys(searches, ReturnOnInvestment().model_dump()),
    }
    whole = {
        "spec": spec,
        "programs": pd.DataFrame(
            [("net", "f", "inference", 8, 100, 1.5, 25.0)],
            columns=["workload", "family", "mode", "batch", "instructions", "gflop", "weight_mib"],
        ),
        "shards": pd.DataFrame(
            [("default", "tile", "tpu-v3", "net", 10, 640)],
            columns=["dataset", "task", "hardware", "workload", "kernels", "rows"],
        ),
        "evaluations": {"accuracy": evaluation()},
        "searches": searches,
        "search_summaries": {name: summary(islands) for name, islands in searches.items()},
        "wall_times": pd.DataFrame(
            [
                ("search", "net/island-1", 6.0, 5.0, 200.0),
                ("program", "net", 2.0, np.nan, np.nan),
                ("program", "other", 3.0, 2.5, 100.0),
            ],
            columns=WALL_TIME_COLUMNS,
        ),
    }  # fmt: skip
    return ReportData(**(whole | changes))
