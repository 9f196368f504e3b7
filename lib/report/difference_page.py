"""The page 'Simulator and compiler's model': where the two differ most, and what the latter leaves out."""

import numpy as np
import pandas as pd

from lib.cost.left_out import LEFT_OUT
from lib.evaluation.metrics import SHORT_S
from lib.report import charts
from lib.report.page import Page
from lib.report.report_data import ReportData
from lib.report.tables import Table, number
from schemas.artifact import Artifact
from schemas.dataset_artifact import TILE_COLUMNS
from schemas.difference_artifact import ADDING_UP, EXTENT_COLUMNS, MODELS

WORST_KERNELS, WORST_TILES = 20, 10
MOST_VARIANTS = 6
"""Hardware variants shown in detail; the first table has them all."""
FLOOR_PCT = 0.1
"""Of an APE within the geometric mean."""

PARTS = {
    "total_s": "total", "compute_s": "compute", "control_s": "control", "exposed_s": "exposed", "launch_s": "launch",
    "matrix_s": "matrix unit", "vector_s": "vector unit", "mesh_s": "mesh", "load_s": "load", "store_s": "store",
}  # fmt: skip
"""Headings of the parts."""
WITHIN = {"compute_s": ("matrix_s", "vector_s", "mesh_s"), "exposed_s": ("load_s", "store_s")}
"""What a part is made of."""
PARTS_NOTE = (
    "Compute (the longest of matrix unit, vector unit and mesh in each step), control of the steps, "
    "exposed transfers (hidden by no compute) and launch add up to the total; the rest says how long units and "
    "transfers were busy. "
)
LOOPS_NOTE = (
    "Loops and tiles: batch x out_h x out_w x out_c x in_c x kernel_h x kernel_w x group for convolutions, dots and "
    "windows, otherwise the output's dimensions and then the reduced ones; ones at the end are left out."
)


def difference_page(data: ReportData) -> Page:
    """All hardware variants in one table, then each in detail."""
    page = Page("difference", "Simulator and compiler's model")
    if not data.differences:
        return page
    page.text(
        "The analytical model is what a compiler estimates before it has measured the chip; it picks the default tiles "
        "and is the baseline of the learned models. It and the simulator are written apart and share no pricing. Here "
        "both price the kernels of each program's default fusion under their default tiles."
    )
    page.table(variant_table(data))
    page.table(
        Table(
            "What the analytical model leaves out",
            ["effect", "what it assumes"],
            [[effect, instead] for effect, instead in LEFT_OUT.items()],
            "Both models take the same lowering for granted, since the compiler decides on it: which filter taps share "
            "the array's rows, passes of depthwise convolutions, skipped zeros of transposed ones. Where they agree "
            "on those, it is no evidence.",
        )
    )
    for (dataset, hardware), artifact in list(data.differences.items())[:MOST_VARIANTS]:
        _add_variant(page, f"{hardware} ({dataset})", artifact)
    left = list(data.differences)[MOST_VARIANTS:]
    if left:
        names = ", ".join(f"{hardware} ({dataset})" for dataset, hardware in left)
        page.text(f"Not shown in detail: {names}. Their tables are in the folder `difference` of the results.")
    return page


def _add_variant(page: Page, name: str, artifact: Artifact) -> None:
    kernels, tiles = with_ratio(artifact["kernels.parquet"]), artifact["tiles.parquet"]
    page.heading(f"Times on {name}")
    page.table(class_table(kernels))
    page.chart(
        charts.ratio_by_class(kernels[long(kernels)], f"Simulated over estimated time, {name}"),
        "simulated",
        f"Kernels of {SHORT_S * 1e6:g} us or more (in brackets their number). Box: the middle half; whiskers: 5 % and "
        "95 %; points: kernels beyond them. Dashed: equal.",
    )
    page.table(worst_kernels_table(kernels))
    if len(tiles):
        page.heading(f"Choice of tiles on {name}")
        page.table(tile_ape_table(tiles))
        page.table(worst_tiles_table(tiles))


def with_ratio(kernels: pd.DataFrame) -> pd.DataFrame:
    """The kernels with `ratio`, simulated over estimated time."""
    return kernels.assign(ratio=kernels["simulator_total_s"] / kernels["analytical_total_s"])


def long(kernels: pd.DataFrame) -> pd.Series:
    """Which kernels take long enough for the launch not to be most of them."""
    return kernels["simulator_total_s"] >= SHORT_S


def variant_table(data: ReportData) -> Table:
    """One row a hardware variant."""
    rows = []
    for (dataset, hardware), artifact in data.differences.items():
        kernels, tiles = with_ratio(artifact["kernels.parquet"]), artifact["tiles.parquet"]
        ape = [tile_ape_pct(group) for _, group in tiles.groupby("workload")]
        rows.append([hardware, dataset, *_ratio_cells(kernels[long(kernels)]), number(_geometric_mean(ape))])
    return Table(
        "Simulator over analytical model",
        ["hardware", "dataset", "kernels", "median ratio", "10 %", "90 %", "tile-size APE of the pick, %"],
        rows,
        f"Ratio of times over all kernels of {SHORT_S * 1e6:g} us or more. APE: how much longer a program runs, by the "
        "simulator, with the tiles that the analytical model picks than with the best of the dataset's tiles; "
        "geometric mean over programs.",
    )


def class_table(kernels: pd.DataFrame) -> Table:
    """Ratios by kernel class, long and short kernels apart."""
    rows = []
    border = f"{SHORT_S * 1e6:g} us"
    for chosen, words in ((long(kernels), f"{border} or more"), (~long(kernels), f"below {border}")):
        for kernel_class, members in kernels[chosen].groupby("kernel_class"):
            rows.append([str(kernel_class), words, *_ratio_cells(members)])
    return Table(
        "Ratio of times by kernel class",
        ["class", "simulated time", "kernels", "median ratio", "10 %", "90 %"],
        rows,
        "Simulator over analytical model; 10 % and 90 % of the kernels lie below the last two. Short kernels are "
        "mostly launch, which the analytical model leaves out.",
    )


def _ratio_cells(kernels: pd.DataFrame) -> list[str]:
    if kernels.empty:
        return ["0", "-", "-", "-"]
    ratio = kernels["ratio"]
    return [str(len(ratio)), *(number(ratio.quantile(share)) for share in (0.5, 0.1, 0.9))]


def worst_kernels_table(kernels: pd.DataFrame) -> Table:
    """The kernels whose ratio is farthest from 1, long ones only, with both models' parts."""
    chosen = kernels[long(kernels)]
    chosen = chosen.loc[np.log(chosen["ratio"]).abs().sort_values(ascending=False).index[:WORST_KERNELS]]
    rows = []
    for _, row in chosen.iterrows():
        head = [*_kernel_cells(row), extents(row, TILE_COLUMNS), number(row["ratio"]), gap_words(row)]
        for model in MODELS:
            rows.append([*head, model, *(_us(row[f"{model}_{part}"]) for part in PARTS)])
    return Table(
        f"The {len(chosen)} kernels that differ most",
        ["kernel", "loops", "tile", "ratio", "most of the gap", "model", *(f"{part}, us" for part in PARTS.values())],
        rows,
        f"Kernels of {SHORT_S * 1e6:g} us or more. " + PARTS_NOTE + LOOPS_NOTE,
    )


def _kernel_cells(row: pd.Series) -> list[str]:
    return [f"{row['workload']}: {row['root']} ({row['kernel_class']})", extents(row, EXTENT_COLUMNS)]


def gap_words(row: pd.Series) -> str:
    """The part that explains most of the gap between the totals, and its share of it."""
    gap = row["simulator_total_s"] - row["analytical_total_s"]
    if gap == 0:
        return "-"
    shares = {part: (row[f"simulator_{part}"] - row[f"analytical_{part}"]) / gap for part in ADDING_UP}
    part = max(shares, key=lambda name: shares[name])
    return f"{_cause(row, part, gap)}, {100 * shares[part]:.0f} %"


def _cause(row: pd.Series, part: str, gap: float) -> str:
    """The part in words; of compute and exposed transfers, what differs most in the direction of the gap."""
    if part not in WITHIN:
        return PARTS[part]
    differences = {name: row[f"simulator_{name}"] - row[f"analytical_{name}"] for name in WITHIN[part]}
    return PARTS[max(differences, key=lambda name: np.sign(gap) * differences[name])]


def tile_ape_pct(tiles: pd.DataFrame) -> float:
    """Tile-size APE of the analytical model's pick, percent, over kernels weighted by their executions."""
    best = (tiles["executions"] * tiles["best_simulator_total_s"]).sum()
    return float(100 * ((tiles["executions"] * tiles["picked_simulator_total_s"]).sum() / best - 1))


def tile_ape_table(tiles: pd.DataFrame) -> Table:
    """Tile-size APE by program, over all kernels and by kernel class."""
    classes = sorted(set(tiles["kernel_class"]))
    rows = []
    for workload, group in tiles.groupby("workload"):
        by_class = {name: tile_ape_pct(members) for name, members in group.groupby("kernel_class")}
        rows.append([str(workload), *(number(by_class.get(name)) for name in classes), number(tile_ape_pct(group))])
    mean = _geometric_mean([tile_ape_pct(group) for _, group in tiles.groupby("workload")])
    rows.append(["geometric mean", *("-" for _ in classes), number(mean)])
    return Table(
        "Tile-size APE of the analytical model's pick, %",
        ["program", *classes, "all kernels"],
        rows,
        "By the simulator, against the best of the dataset's tiles of each kernel; kernels count as often as they run.",
        {len(rows) - 1},
    )


def _geometric_mean(values: list[float]) -> float | None:
    return float(np.exp(np.log(np.maximum(values, FLOOR_PCT)).mean())) if values else None


def worst_tiles_table(tiles: pd.DataFrame) -> Table:
    """The kernels that add most to their program's APE, with both tiles and their times."""
    total = tiles["executions"] * tiles["best_simulator_total_s"]
    lost = tiles["executions"] * (tiles["picked_simulator_total_s"] - tiles["best_simulator_total_s"])
    points = 100 * lost / total.groupby(tiles["workload"]).transform("sum")
    rows = []
    for index in points[points > 0].sort_values(ascending=False).index[:WORST_TILES]:
        row = tiles.loc[index]
        head = [number(points[index]), *_kernel_cells(row)]
        for choice, model in (("picked", "analytical"), ("best", "simulator")):
            totals = [_us(row[f"{choice}_{name}_total_s"]) for name in MODELS]
            parts = [_us(row[f"{choice}_simulator_{part}"]) for part in ADDING_UP]
            rows.append([*head, model, extents(row, [f"{choice}_{name}" for name in TILE_COLUMNS]), *totals, *parts])
    totals = [f"{model}'s time, us" for model in MODELS]
    return Table(
        "The tile choices that cost most",
        [
            "adds to APE, points",
            "kernel",
            "loops",
            "best by",
            "tile",
            *totals,
            *(f"{PARTS[part]}, us" for part in ADDING_UP),
        ],
        rows,
        "Both tiles of the kernels that add most to their program's APE, with the simulator's parts. "
        + PARTS_NOTE
        + LOOPS_NOTE,
    )


def extents(row: pd.Series, names) -> str:
    """`16x112x112x32`, ones at the end left out."""
    values = [int(row[name]) for name in names]
    while len(values) > 1 and values[-1] == 1:
        values.pop()
    return "x".join(str(value) for value in values)


def _us(seconds: float) -> str:
    """Microseconds, three digits."""
    return number(1e6 * seconds) if seconds > 0 else "0"
