"""All benchmarks by name. Each runs in a process of its own, so that none sees another's memory, threads or failure."""

import importlib
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from lib.benchmark.measurement import Measurement
from lib.benchmark.setting import Setting

BENCHMARKS = {
    "simulator": "lib.benchmark.tile_rows:simulator_rates",
    "analytical": "lib.benchmark.tile_rows:analytical_rates",
    "mapper": "lib.benchmark.mapper:mapper_rates",
    "trial": "lib.benchmark.trial:trial_seconds",
    "search": "lib.benchmark.trial:search_rate",
    "dataset": "lib.benchmark.dataset:dataset_rate",
    "learned": "lib.benchmark.learned:learned_rates",
    "autotune": "lib.benchmark.autotune:fusion_moves",
    "dry-run": "lib.benchmark.dry_run:dry_run_seconds",
    "peers": "lib.benchmark.peers.compare:peer_ratios",
}
"""Module and function by name, in the order in which they run."""


def run_isolated(name: str, setting: Setting) -> list[Measurement]:
    """One benchmark in a fresh process; raises what it raises."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_run, BENCHMARKS[name], setting).result()


def _run(place: str, setting: Setting) -> list[Measurement]:
    module, _, function = place.partition(":")
    return getattr(importlib.import_module(module), function)(setting)
