"""The best designs of a search priced again, event by event:
`python -m tests.reference.reprice RESULTS/search_summary/ID`

Every kernel of the workloads is walked with the schedule and the placement that the search chose for it
(:mod:`tests.reference.walker`), which is slow and shares no closed form with the simulator. Prints, for each design,
seconds of a batch by both and the largest difference of a kernel.
"""

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lib.cost.simulator import Simulator
from lib.hardware.datapath import Datapath, datapath_from_spec
from lib.program.program_table import program_from_arrays
from lib.schedule.schedules import Schedules
from lib.search.evaluate import Evaluation, Evaluator
from lib.search.run import Run
from lib.search.space import datapath_of
from lib.search.workload import WorkloadKernels, kernels_by_batch
from schemas.artifact import Artifact
from schemas.program_artifact import ProgramArtifact
from schemas.search_artifact import SearchArtifact, SearchSummaryArtifact
from tests.reference.walker import Walker

DESIGNS = 10
MOST_STEPS = 200_000
"""Of a kernel that is walked; others keep the simulator's price and are counted."""
WEIGHTS_STAY, OUTPUT_STAYS = 2, 4


class Repriced(NamedTuple):
    """A workload on a design."""

    simulated_s: float
    """Of a batch."""
    walked_s: float
    largest_difference: float
    """Of a kernel's row under a placement, relative."""
    rows: int
    """Rows that were walked."""
    left_out_share: float
    """Of the simulated seconds: kernels of too many steps."""


def repriced(work: WorkloadKernels, run: Run, datapath: Datapath, model: Simulator) -> Repriced:
    """Walk every distinct row of a run, with its operands in DRAM and on chip.

    Where a kernel's inputs stay in part, a search's price lies between the two; the share is read off the simulated
    seconds and used for the walked ones. Raises AssertionError where no placement explains the run's seconds.
    """
    walker = Walker(work.kernels, roomy(work, datapath))
    prices: dict[tuple, tuple[float, float]] = {}

    def price(occurrence: int, resident: int) -> tuple[float, float]:
        row = Schedules(*(field[occurrence : occurrence + 1] for field in run.schedules))
        row = row._replace(resident=np.array([resident], dtype=np.uint8))
        key = tuple(np.concatenate([np.ravel(field) for field in row]).tolist())
        if key not in prices:
            simulated = float(model.cost(work.kernels, row, walker.datapath).value[0])
            steps = np.prod(-(-work.kernels.loops[row.kernel[0]] // row.tile[0]).astype(float))
            prices[key] = simulated, walker.walk(row, 0)[0] if steps <= MOST_STEPS else np.nan
        return prices[key]

    walked = np.empty(len(run.occurrence_s))
    for occurrence, seconds in enumerate(run.occurrence_s.tolist()):
        walked[occurrence] = _between(price, occurrence, int(run.schedules.resident[occurrence]), seconds)
    left_out = np.isnan(walked)
    walked[left_out] = run.occurrence_s[left_out]
    simulated, by_walk = np.array(list(prices.values())).T
    return Repriced(
        float(run.occurrence_s @ work.occurrence_executions),
        float(walked @ work.occurrence_executions),
        float(np.nanmax(np.abs(by_walk / simulated - 1.0))),
        int(np.isfinite(by_walk).sum()),
        float(run.occurrence_s[left_out] @ work.occurrence_executions[left_out]) / run.latency_s,
    )


def _between(price, occurrence: int, resident: int, seconds: float) -> float:
    """Walked seconds of an occurrence that the search prices at `seconds`: somewhere between all inputs in DRAM and all
    on chip, and its output written (also to DRAM, where somebody else reads it there) or not. A trial that is sure of a
    kernel without its weights on chip may not have counted what they save."""
    written, loaded = resident & ~OUTPUT_STAYS, resident & ~WEIGHTS_STAY
    for placement in dict.fromkeys((resident, written, loaded, written & loaded)):
        away, away_walked = price(occurrence, placement & ~1)
        if abs(away - seconds) <= 1e-9 * seconds:
            return away_walked
        kept, kept_walked = price(occurrence, placement | 1)
        share = (away - seconds) / (away - kept) if away != kept else -1.0
        if -1e-9 <= share <= 1.0 + 1e-9:
            return away_walked + share * (kept_walked - away_walked)
    raise AssertionError(f"occurrence {occurrence}: no placement within {resident} takes {seconds} s")


def roomy(work: WorkloadKernels, datapath: Datapath) -> Datapath:
    """With room for all operands in the global buffer, as residency prices kernels: what fits is asked elsewhere."""
    if datapath.global_buffer_bytes == 0:
        return datapath
    kernels = work.kernels
    everything = int((kernels.operand_elements * np.maximum(kernels.operand_element_bytes, 4)).sum())
    return datapath._replace(global_buffer_bytes=2 * (datapath.global_buffer_bytes + everything))


def repriced_design(evaluator: Evaluator, evaluation: Evaluation, softmax: str) -> dict[str, Repriced]:
    """By workload."""
    datapath = datapath_from_spec(evaluation.design.datapath)
    return {
        id: repriced(evaluator.workloads[id](datapath.native_batch, softmax), run, datapath, evaluator.model)
        for id, run in evaluation.runs.items()
    }


def main(arguments: list[str] | None = None) -> int:
    """The command; 1 where a kernel differs by more than 1e-9."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="RESULTS/search_summary/ID or RESULTS/search/ID/island-N")
    parser.add_argument("--designs", type=int, default=DESIGNS)
    given = parser.parse_args(arguments)
    folder = given.folder.resolve()
    results = next(parent for parent in folder.parents if (parent / "program").is_dir())
    artifact: Artifact
    if folder.parent.name == "search_summary":  # the islands' settings are theirs
        artifact = SearchSummaryArtifact.read(folder)
        spec = SearchArtifact.read(results / "search" / folder.name / "island-1").manifest.spec
    else:
        artifact = SearchArtifact.read(folder)
        spec = artifact.manifest.spec
    workloads = {
        id: kernels_by_batch(program_from_arrays(ProgramArtifact.read(results / "program" / id)["program.npz"]))
        for id in spec["workloads"]
    }
    evaluator = Evaluator(
        workloads, Simulator(), spec["baseline"]["datapath"], spec["limits"], objective=spec["objective"],
        weights=spec["weights"], residency=spec["residency"], baseline_schedule=spec["baseline_schedule"],
    )  # fmt: skip
    trials = artifact["trials.parquet"]
    trials = trials[trials["state"] == "ok"].drop_duplicates(list(spec["space"]))
    worst = 0.0
    for _, trial in trials.nlargest(given.designs, "value").iterrows():
        point = {name: trial[name] for name in spec["space"]}
        evaluation = evaluator.evaluate(datapath_of(point), softmax=point["softmax"], dataflows=point["dataflows"])
        for id, found in repriced_design(evaluator, evaluation, point["softmax"]).items():
            worst = max(worst, found.largest_difference)
            print(
                f"trial {trial['trial']}: {trial['value']:.3f}, {id}: {found.simulated_s * 1e3:.4f} ms simulated, "
                f"{found.walked_s * 1e3:.4f} ms walked, {found.rows} rows, largest difference of a row "
                f"{found.largest_difference:.1e}; not walked: {100 * found.left_out_share:.2f} % of the time"
            )
    return int(worst > 1e-9)


if __name__ == "__main__":
    sys.exit(main())
