"""The report's page of what was measured on this machine: device, noise, whole programs, how far a simulator is off."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from lib.evaluation.metrics import SHORT_S
from lib.report import charts
from lib.report.goal_table import goal_table
from lib.report.measured_goals import MeasuredGoalResult, measured_goal_results
from lib.report.page import Page
from lib.report.report_data import ReportData
from lib.report.tables import Table, number

DEVICE_WORDS = {
    "processor": "processor", "system": "system", "runtime": "compiler and runtime", "platform": "platform",
    "cores": "cores, by number", "threads": "threads", "batches_a_visit": "batches a visit",
    "batch_s": "shortest batch, s", "visits": "visits a pass", "passes": "passes",
    "load_average": "load average while measuring",
}  # fmt: skip
"""What the manifest says of a device, in words; names of software come after these."""
NOT_SHOWN = (
    "failures", "failed", "timed_out", "modules", "measured_again", "noise_floor_pct", "noise_limit_pct",
    "default_sum_s", "whole_program_s", "whole_program_message",
)  # fmt: skip
"""What tables of their own say."""
FEWEST = 3
"""Kernels of a class of which a row is shown."""


def measured_page(data: ReportData) -> Page:
    """Empty of a study that measures nothing."""
    page = Page("measured", "Measured here")
    measured = data.measured
    if not len(measured.shards):
        return page
    page.text(
        "Runtimes on this page are measured on this machine: every kernel is compiled and run by itself, pinned to its "
        "cores, warmed up, in batches, at several visits a pass, in two passes or "
        "more; the fastest pass is the label, and the median difference "
        "between passes is the noise floor. No model can be expected to come below it. Simulated runtimes stand beside "
        "measured ones only where both are named."
    )
    for text in noise_warnings(measured.shards):
        page.text(text)
    page.table(device_table(measured.devices))
    page.table(measured_goal_table(measured_goal_results(data)))
    page.heading("What was measured")
    page.table(shard_table(measured.shards))
    if len(measured.failures):
        page.table(failure_table(measured.failures))
    whole = measured.shards.dropna(subset=["default_sum_s", "whole_program_s"])
    if len(whole):
        page.heading("Sum of kernels against the program compiled whole")
        page.table(whole_table(whole))
        page.chart(whole_chart(whole), "measured", "The compiler fuses the whole program as it likes.")
    for (hardware, simulated_on), rows in measured.beside.groupby(["hardware", "simulated_on"]):
        page.heading(f"How far a simulator is off: {simulated_on} beside {hardware}")
        page.text(
            f"The same kernels, measured on {hardware} and simulated on {simulated_on}, whose numbers come from public "
            "figures and from what the processor says of itself. Nothing of the simulator was fitted to a measurement."
        )
        page.table(beside_table(rows, str(simulated_on)))
        shown = rows.assign(model=rows["kernel_class"])
        figure = charts.predicted_against_actual(shown, "Kernels of all programs by class", "measured", "simulated")
        page.chart(figure, "measured, simulated", f"x: measured on {hardware}; y: simulated on {simulated_on}.")
    return page


def noise_warnings(shards: pd.DataFrame) -> list[str]:
    """A sentence for each hardware variant whose noise floor is above the limit."""
    warnings = []
    for hardware, rows in shards.groupby("hardware"):
        floor, limit = rows["noise_floor_pct"].median(), rows["noise_limit_pct"].median()
        if floor > limit:
            warnings.append(
                f"WARNING: {hardware} was too noisy: half of the kernels differ by more than {number(floor)} % between "
                f"two passes, the limit is {number(limit)} %. Figures about it say little: use a quieter machine."
            )
    return warnings


def device_table(devices: dict[str, dict]) -> Table:
    """One column a hardware variant."""
    names = [*DEVICE_WORDS, *sorted({n for d in devices.values() for n in d} - set(DEVICE_WORDS) - set(NOT_SHOWN))]
    rows = [
        [DEVICE_WORDS.get(name, name), *(_text(device.get(name)) for device in devices.values())]
        for name in names
        if any(name in device for device in devices.values())
    ]
    return Table("Device, software and how it was measured", ["quantity", *devices], rows)


def _text(value: object) -> str:
    if value is None:
        return "-"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def measured_goal_table(results: list[MeasuredGoalResult]) -> Table:
    """One row a goal, with the evaluation that its figure is of."""
    return goal_table(
        "Goals on measured runtimes",
        results,
        {"evaluation": lambda result: result.evaluation or "-"},
        "Of the first evaluation of measured runtimes that has the figure, on programs never trained on.",
    )


def shard_table(shards: pd.DataFrame) -> Table:
    """One row a shard: how much, how noisy, what was left out."""
    rows = [
        [row.hardware, row.task, row.workload, str(row.kernels), str(row.rows), str(row.failed),
         number(row.noise_floor_pct)]
        for row in shards.itertuples(index=False)
    ]  # fmt: skip
    return Table(
        "Kernels and noise by program",
        ["hardware", "task", "program", "kernels", "rows", "left out", "noise floor, %"],
        rows,
        "Noise floor: median difference between two passes over the program's kernels. Left out: kernels or tiles that "
        "could not be built, compiled, run or estimated.",
        folded=len(rows) > 12,
    )


def failure_table(failures: pd.DataFrame) -> Table:
    """Every reason once, with how often and an example."""
    rows = []
    for (hardware, message), of_it in failures.groupby(["hardware", "message"], sort=False):
        first = of_it.iloc[0]
        example = f"{first['workload']} · {first['kernel']}" + (f", tile {first['tile']}" if first["tile"] else "")
        rows.append([str(hardware), str(message), str(len(of_it)), example])
    return Table("Left out", ["hardware", "why", "rows", "first"], rows, folded=True)


def whole_table(shards: pd.DataFrame) -> Table:
    """Sum over the kernels of the default fusion beside the program compiled as one module."""
    rows = []
    for row in shards.itertuples(index=False):
        ratio = row.default_sum_s / row.whole_program_s
        rows.append(
            [row.hardware, row.workload, number(row.default_sum_s * 1e6, 4), number(row.whole_program_s * 1e6, 4),
             number(ratio)]
        )  # fmt: skip
    ratios = np.log((shards["default_sum_s"] / shards["whole_program_s"]).to_numpy(np.float64))
    return Table(
        "Sum of the default fusion's kernels and the program compiled whole, measured",
        ["hardware", "program", "sum of kernels, us", "whole program, us", "sum / whole"],
        rows,
        f"Geometric mean of the ratio: {number(float(np.exp(ratios.mean())))}. The fusion task takes a program's "
        "runtime as the sum; above 1 the sum counts what a kernel costs to start, and bytes that stay in cache between "
        "kernels.",
    )


def whole_chart(shards: pd.DataFrame) -> go.Figure:
    """Bars of both by program."""
    long = pd.concat(
        [
            shards.assign(model=name, value=shards[column] * 1e6)[["workload", "model", "value"]]
            for name, column in (("sum of kernels", "default_sum_s"), ("whole program", "whole_program_s"))
        ]
    )
    figure = charts.bars_by_program(long, "Sum of kernels and whole program", "runtime, us")
    return figure.update_layout(xaxis_title="program").update_yaxes(type="log")


def beside_table(rows: pd.DataFrame, simulated_on: str) -> Table:
    """Simulated over measured seconds by kernel class; shorter kernels, whose fixed costs decide, apart."""
    cells = []
    long = rows[rows["runtime_s"] >= SHORT_S]
    short = (f"under {SHORT_S * 1e6:g} us", rows[rows["runtime_s"] < SHORT_S])
    for name, of_class in [(f"{SHORT_S * 1e6:g} us and more", long), *long.groupby("kernel_class"), short]:
        if len(of_class) < FEWEST:
            continue
        log_ratio = np.log((of_class["predicted_s"] / of_class["runtime_s"]).to_numpy(np.float64))
        low, middle, high = np.exp(np.quantile(log_ratio, [0.1, 0.5, 0.9]))
        off = 100 * np.abs(np.exp(log_ratio) - 1)
        cells.append([str(name), str(len(of_class)), number(middle), f"{number(low)} to {number(high)}",
                      number(float(off.mean()))])  # fmt: skip
    return Table(
        f"Seconds simulated on {simulated_on} over seconds measured",
        ["kernel class", "kernels", "median ratio", "80 % lie in", "mean error, %"],
        cells,
        "Measured and simulated runtimes of the same kernels, each named by its column; no model is scored on them "
        "together.",
    )
