"""How a workload runs on a design, as text: the loop nest of every kernel and what stays on chip meanwhile."""

from collections.abc import Mapping

import numpy as np

from lib.cost.tile_step import has_matrix_op
from lib.program.kernels import INPUT, OUTPUT, WEIGHT
from lib.schedule.loop_nest import loop_nest_text, nest_of
from lib.search.results import Best
from lib.search.run import Run
from lib.search.workload import KernelsByBatch, WorkloadKernels

DATAFLOWS = ("weight-stationary", "output-stationary", "input-stationary")
STAYS = {INPUT: "inputs on chip", WEIGHT: "weights stay", OUTPUT: "output stays"}


def best_schedules_text(workloads: Mapping[str, KernelsByBatch], best: Best | None) -> str:
    """How each workload runs on the best design of a search."""
    if best is None:
        return "No design met the limits and ran every workload.\n"
    batch, parts = best.evaluation.design.datapath["native_batch"], []
    for id, kernels_of in workloads.items():
        text = schedule_text(best.evaluation.runs[id], kernels_of(batch, best.softmax))
        parts.append(f"# {id}, batch {batch}\n\n{text}")
    return "\n".join(parts)


def schedule_text(run: Run, work: WorkloadKernels) -> str:
    """Kernels in program order; occurrences of a kernel that run alike are one paragraph, with their sum of seconds."""
    rows, kernel = run.schedules, work.occurrence
    alike = np.column_stack([kernel, rows.tile, rows.dataflow, rows.loop_order, rows.resident])
    _, first, paragraph = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    times = np.bincount(paragraph.ravel(), work.occurrence_executions)
    seconds = np.bincount(paragraph.ravel(), run.occurrence_s * work.occurrence_executions)
    matrix = has_matrix_op(work.kernels)
    paragraphs = []
    for number in np.argsort(first):
        place = int(first[number])
        k = int(kernel[place])
        stays = [words for role, words in STAYS.items() if rows.resident[place] >> role & 1]
        about = [f"{times[number]:.0f} times, {seconds[number] * 1e6:.4g} us in all"]
        if matrix[k]:
            about.append(DATAFLOWS[rows.dataflow[place]])
        paragraphs.append(
            f"{work.roots[k]}: {', '.join(about + stays)}\n"
            + loop_nest_text(nest_of(work.kernels, k, rows.tile[place], int(rows.loop_order[place])))
        )
    return "\n\n".join(paragraphs) + "\n"
