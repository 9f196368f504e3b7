"""What tiles are worth on this CPU with IREE: `python -m lib.targets.iree_survey PROGRAM_FOLDER...`.

Matrix ops of traced programs, drawn by kind, are compiled as IREE picks and with a sample of tiles, and run on one
core. Seconds are those of the thread that computes, so that other work on the machine matters less. This is a look by
hand: datasets measure with :mod:`lib.targets.measuring`.
"""

import argparse
import resource
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lib.command_line import run_command
from lib.job import print_answer
from lib.program.kernels import GROUP
from lib.program.program import Program
from lib.program.program_table import program_from_arrays
from lib.targets.iree_module import has_window, is_plain_convolution, tile_module
from lib.targets.iree_tiles import tile_candidates
from lib.targets.loop_merging import merged
from lib.targets.matrix_op import MATRIX_OPCODES, MatrixOp, matrix_op
from schemas.program_artifact import ProgramArtifact

BATCHES, BATCH_S = 5, 0.005


class Surveyed(NamedTuple):
    """What was found of one op."""

    kind: str
    own_s: float
    """A run as IREE picks; NaN: it doesn't compile."""
    tile_s: np.ndarray
    """float64[tiles]; NaN: it doesn't compile."""
    compile_s: np.ndarray
    """float64[tiles] CPU seconds until it can run."""
    failures: list[str]


def kind_of(opcode: str, op: MatrixOp) -> str:
    """The row of the table that an op belongs to."""
    grouped = any(part.slot == GROUP for loop in op.loops for part in loop.parts)
    if has_window(op):
        kind = "depthwise convolution" if grouped else "convolution"
        return kind if is_plain_convolution(op) else f"{kind}, other layouts"
    if opcode == "convolution":
        return "pointwise convolution"
    return "batched dot" if grouped else "dot"


def ops_by_kind(programs: Iterable[Program], most: int, seed: int) -> dict[str, list[tuple[Program, int]]]:
    """Up to `most` distinct ops of each kind, as (program, index), drawn by the seed."""
    found: dict[str, dict[str, tuple[Program, int]]] = defaultdict(dict)
    for program in programs:
        for index, instruction in enumerate(program.instructions):
            if instruction.opcode in MATRIX_OPCODES:
                kind = kind_of(instruction.opcode, merged(matrix_op(program, index)))
                found[kind].setdefault(tile_module(program, index, None).text, (program, index))
    drawn = {}
    for kind, ops in sorted(found.items()):
        order = np.random.default_rng(seed).permutation(len(ops))
        drawn[kind] = [list(ops.values())[place] for place in order[:most]]
    return drawn


def survey(kind: str, program: Program, index: int, tiles: int, seed: int) -> Surveyed:
    """Compile and run an op as IREE picks and with up to `tiles` tiles."""
    from lib.targets.iree_device import IreeError, load  # the optional packages are needed here only

    seconds, compile_s, failures = [], [], []
    for tile in (None, *tile_candidates(program, index, tiles, seed)):
        before = _spent_s()
        try:
            run = load(tile_module(program, index, tile).text)
            compile_s.append(_spent_s() - before)
            seconds.append(fastest_s(run))
        except IreeError as error:
            compile_s.append(_spent_s() - before)
            seconds.append(np.nan)
            failures.append(str(error))
    return Surveyed(kind, seconds[0], np.array(seconds[1:]), np.array(compile_s[1:]), failures)


def _spent_s() -> float:
    """CPU seconds of this process, in which IREE compiles, and of those that it started."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def fastest_s(run: Callable[[int], None]) -> float:
    """CPU seconds of a run in the fastest batch."""
    run(1)
    started = time.thread_time()
    run(1)
    times = max(1, int(BATCH_S / max(time.thread_time() - started, 1e-6)))
    fastest = np.inf
    for _ in range(BATCHES):
        started = time.thread_time()
        run(times)
        fastest = min(fastest, (time.thread_time() - started) / times)
    return fastest


def table(found: Sequence[Surveyed]) -> str:
    """Markdown, one row a kind."""
    lines = [
        "| kind | ops | with a choice | tiles | compiled and ran | compile, median / longest | own pick / best tile,"
        " geomean (largest) | best tile 5 % faster | median / worst tile against the best |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for kind in sorted({one.kind for one in found}):
        of_kind = [one for one in found if one.kind == kind]
        chosen = [one for one in of_kind if np.isfinite(one.tile_s).sum() > 1]
        tile_s = np.concatenate([one.tile_s for one in of_kind])
        start = f"| {kind} | {len(of_kind)} | {len(chosen)} | {len(tile_s)} |"
        if not chosen:
            lines.append(f"{start} | | | | |")
            continue
        compile_s = np.concatenate([one.compile_s for one in chosen])
        gain = np.array([one.own_s / np.nanmin(one.tile_s) for one in chosen])
        median = np.array([np.nanmedian(one.tile_s) / np.nanmin(one.tile_s) for one in chosen])
        worst = np.array([np.nanmax(one.tile_s) / np.nanmin(one.tile_s) for one in chosen])
        lines.append(
            f"{start} {np.isfinite(tile_s).mean():.1%} | {np.median(compile_s):.2f} / {compile_s.max():.2f} s |"
            f" {geomean(gain):.2f} ({gain.max():.1f}) | {np.count_nonzero(gain > 1.05)} of {len(chosen)} |"
            f" {geomean(median):.1f} / {geomean(worst):.0f} |"
        )
    return "\n".join(lines)


def geomean(ratios: np.ndarray) -> float:
    """Of positive numbers."""
    return float(np.exp(np.log(ratios).mean()))


def traced_program(folder: Path, batch: int) -> Program:
    """The program of an artifact, at a batch, its floats in f32."""
    program = program_from_arrays(ProgramArtifact.read(folder)["program.npz"]).with_batch(batch)
    wide = (one.replace(dtype="f32" if one.dtype == "bf16" else one.dtype) for one in program.instructions)
    return program.replace(instructions=tuple(wide), slopes=None)


def main(arguments: Sequence[str]) -> int:
    """Print the table, of what is done where the user interrupts; progress and failures go to standard error."""
    parser = argparse.ArgumentParser(prog="python -m lib.targets.iree_survey", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="PROGRAM_FOLDER", help="RESULTS/program/WORKLOAD")
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--ops", type=int, default=5, help="of each kind")
    parser.add_argument("--tiles", type=int, default=30, help="of each op")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    return print_answer(lambda: table(_surveyed(asked)))


def _surveyed(asked: argparse.Namespace) -> list[Surveyed]:
    """What is found until all is done or the user interrupts: one op of each kind, then another of each."""
    programs = (traced_program(folder, asked.batch) for folder in asked.folders)
    drawn = ops_by_kind(programs, asked.ops, asked.seed)
    found: list[Surveyed] = []
    try:
        for place in range(asked.ops):
            for kind, ops in drawn.items():
                if place < len(ops):
                    found.append(survey(kind, *ops[place], asked.tiles, asked.seed))
                    _tell(found[-1], *ops[place])
    except KeyboardInterrupt:
        if not found:
            raise
    return found


def _tell(found: Surveyed, program: Program, index: int) -> None:
    best = min(found.tile_s[np.isfinite(found.tile_s)], default=np.nan)
    where = f"{found.kind}: {program.name}, {program.instructions[index].name}: {len(found.tile_s)} tiles"
    times = f"own pick {found.own_s * 1e6:.1f} us, best tile {best * 1e6:.1f} us"
    print(f"{where}, {times}", *found.failures[:2], sep="; ", file=sys.stderr, flush=True)


if __name__ == "__main__":
    run_command(main)
