"""Measures, prints a table, writes `bench.json`: `python -m lib.benchmark [--only NAME,NAME] [--output FILE]`."""

import argparse
import sys
import time
from pathlib import Path

from lib.benchmark.machine import this_machine
from lib.benchmark.measurement import Measurement
from lib.benchmark.peers.compare import PeersMissing
from lib.benchmark.registry import BENCHMARKS, run_isolated
from lib.benchmark.setting import Setting
from lib.benchmark.summary import figure, summary, table
from lib.benchmark.traced_program import traced_program
from lib.command_line import run_command
from schemas.benchmark import BenchmarkSummary
from schemas.problem import allowed_names

IDLE_LOAD = 0.5
"""Above this load other programs take a share of the cores that shows."""


def main(arguments: list[str]) -> int:
    """Exit status 1 where a benchmark failed; peers that are not installed are no failure."""
    parser = argparse.ArgumentParser(prog="python -m lib.benchmark", description="Measure how fast the program is.")
    parser.add_argument("--only", default="", help=f"comma-separated, of {', '.join(BENCHMARKS)}; default: all")
    parser.add_argument("--output", type=Path, default=Path("results/bench.json"))
    given = parser.parse_args(arguments)
    names = [name.strip() for name in given.only.split(",") if name.strip()] or list(BENCHMARKS)
    for name in names:
        if name not in BENCHMARKS:
            parser.error(f"no benchmark '{name}'; {allowed_names(name, BENCHMARKS)}")
    machine = this_machine()
    print(f"{machine.processor}, {machine.cores} cores, {machine.memory_bytes / 2**30:.0f} GiB", flush=True)
    if machine.load > IDLE_LOAD:
        print(f"The machine is busy (load {machine.load}): what is measured now is slower than it need be", flush=True)
    folder = given.output.parent / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    setting = Setting(folder, traced_program(folder), machine.cores)
    measurements, failures = _measured(names, setting)
    print("\n" + table([figure(measurement) for measurement in measurements]))
    _write(summary(measurements, machine), given.output)
    print(f"\nFigures: {given.output}")
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


def _measured(names: list[str], setting: Setting) -> tuple[list[Measurement], list[str]]:
    measurements: list[Measurement] = []
    failures: list[str] = []
    for name in names:
        started = time.perf_counter()
        print(f"{name} ...", end=" ", flush=True)
        try:
            measurements += run_isolated(name, setting)
        except PeersMissing as missing:
            print(missing)
        except Exception as error:
            print("failed")
            failures.append(f"benchmark {name} failed: {type(error).__name__}: {error}")
        else:
            print(f"{time.perf_counter() - started:.0f} s", flush=True)
    return measurements, failures


def _write(found: BenchmarkSummary, file: Path) -> None:
    draft = file.with_name(f".{file.name}.draft")
    draft.write_text(found.model_dump_json(indent=1) + "\n", encoding="utf-8")
    draft.replace(file)


if __name__ == "__main__":
    run_command(main)
