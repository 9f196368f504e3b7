"""What each kernel of a search's workloads takes on the baseline and on the best design."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from lib.program.kernels import KERNEL_CLASSES
from lib.residency.problem import INPUT_STAYS, OUTPUT_STAYS, WEIGHT_STAYS
from lib.search.evaluate import Evaluation
from lib.search.results import Best
from lib.search.workload import KernelsByBatch, WorkloadKernels

ROLE_BITS = {"input": INPUT_STAYS, "weight": WEIGHT_STAYS, "output": OUTPUT_STAYS}
FIGURES = ("s", "dram_bytes", *(f"{role}_resident" for role in ROLE_BITS))


def kernels_table(workloads: Mapping[str, KernelsByBatch], baseline: Evaluation, best: Best | None) -> pd.DataFrame:
    """Columns of `schemas.search_artifact.KERNELS`: seconds of chip time and DRAM bytes a query of one execution of
    each kernel, and the share of its executions whose input, weight or output stays on chip on the best design.

    Rows are the kernels at the baseline's batch; figures of the best design are means over the occurrences with the
    same root instruction. Executions x seconds sum to one over the queries a second of the workload. A softmax in the
    other form has other kernels: those that only the best design runs follow, with nothing for the baseline.
    """
    parts = []
    for id, kernels_of in workloads.items():
        before = _occurrences(baseline, id, kernels_of(baseline.design.datapath["native_batch"]))
        if best is None:
            after = before.assign(**dict.fromkeys(FIGURES, np.nan))
        else:
            design = best.evaluation.design.datapath
            after = _occurrences(best.evaluation, id, kernels_of(design["native_batch"], best.softmax))
        same = after.reindex(before.index)
        table = _by_kernel(before, same)
        new = after[~after.index.isin(before.index)]
        if len(new):
            new = new.assign(kernel=new["kernel"] + 1 + before["kernel"].max())
            nothing = new.assign(s=0.0, dram_bytes=0.0)
            table = pd.concat([table, _by_kernel(nothing, new)], ignore_index=True)
        table["kernel"] = np.arange(len(table), dtype=np.int32)
        table.insert(0, "workload", id)
        parts.append(table)
    return pd.concat(parts, ignore_index=True)


def _occurrences(evaluation: Evaluation, workload: str, work: WorkloadKernels) -> pd.DataFrame:
    """One row an occurrence by the name of its root: kernel, root and class, executions, and `FIGURES`."""
    run, datapath = evaluation.runs[workload], evaluation.design.datapath
    place = work.occurrence
    columns = {
        "kernel": place,
        "root": np.array(work.roots, dtype=object)[place],
        "kernel_class": np.array(KERNEL_CLASSES, dtype=object)[work.kernels.kernel_class[place]],
        "executions": work.occurrence_executions,
        "s": run.occurrence_s / (datapath["cores"] * datapath["native_batch"]),
        "dram_bytes": run.dram_bytes / datapath["native_batch"],
    }
    columns |= {f"{role}_resident": (run.schedules.resident & bit > 0).astype(float) for role, bit in ROLE_BITS.items()}
    return pd.DataFrame(columns, index=work.names)


def _by_kernel(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Means over the occurrences of each kernel, weighted by executions. `after` has the rows of `before`, NaN where
    the best design does not run one."""
    executions = before["executions"]
    figures = {
        "baseline_s": before["s"], "best_s": after["s"], "baseline_dram_bytes": before["dram_bytes"],
        "best_dram_bytes": after["dram_bytes"], **{f"{role}_resident": after[f"{role}_resident"] for role in ROLE_BITS},
    }  # fmt: skip
    weighted = pd.DataFrame({name: values * executions for name, values in figures.items()})
    sums = weighted.groupby(before["kernel"]).sum(min_count=1)
    counts = executions.groupby(before["kernel"]).sum()
    first = before.groupby("kernel")[["root", "kernel_class"]].first()
    table = first.assign(executions=counts.astype(np.int32)).join(sums.div(counts, axis=0))
    return table.reset_index()
