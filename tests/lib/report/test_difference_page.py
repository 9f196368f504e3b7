"""The page of simulator and analytical model: hand-made kernels whose ratios and gaps are known."""

import numpy as np
import pandas as pd
import pytest

from lib.report.difference_page import (
    class_table,
    difference_page,
    extents,
    gap_words,
    tile_ape_pct,
    variant_table,
    with_ratio,
    worst_kernels_table,
    worst_tiles_table,
)
from lib.report.pages import build_report
from schemas.dataset_artifact import TILE_COLUMNS
from schemas.difference_artifact import (
    ADDING_UP,
    CHOICES,
    EXTENT_COLUMNS,
    KERNEL_COLUMNS,
    MODELS,
    PARTS,
    TILE_CHOICE_COLUMNS,
)
from tests.lib.report.report_examples import Stub, report_data

US = 1e-6


def kernel(number: int, kernel_class: str, simulator: dict, analytical: dict) -> dict:
    """A row of `kernels.parquet`; parts in microseconds, those not named 0."""
    row = {"workload": "net", "kernel": number, "kernel_class": kernel_class, "root": f"root-{number}", "executions": 1}
    row |= dict.fromkeys((*EXTENT_COLUMNS, *TILE_COLUMNS), 1) | {"extent_batch": 16, "extent_out_w": 7, "tile_batch": 8}
    for model, given in zip(MODELS, (simulator, analytical), strict=True):
        values = {part: given.get(part.removesuffix("_s"), 0.0) for part in PARTS}
        values["total_s"] = sum(values[part] for part in ADDING_UP)
        row |= {f"{model}_{part}": value * US for part, value in values.items()}
    return row


def kernels() -> pd.DataFrame:
    rows = [
        kernel(
            0, "dot", {"compute": 6, "launch": 2, "matrix": 6, "vector": 1}, {"compute": 2, "matrix": 2, "vector": 1}
        ),
        kernel(1, "dot", {"compute": 9, "launch": 2, "matrix": 1, "vector": 9}, {"compute": 10, "vector": 10}),
        kernel(2, "reduction", {"exposed": 20, "launch": 2, "load": 20}, {"exposed": 10, "load": 10}),
        kernel(3, "reduction", {"compute": 1, "launch": 2}, {"compute": 1}),
    ]
    return pd.DataFrame(rows)[list(KERNEL_COLUMNS)]


def tiles() -> pd.DataFrame:
    """Two kernels of net: 10 us picked instead of 8, run 3 times; 100 us, the best. One of other: 5 instead of 4."""
    rows = []
    for workload, number, executions, picked, best in (
        ("net", 0, 3, 10, 8),
        ("net", 1, 1, 76, 76),
        ("other", 0, 1, 5, 4),
    ):
        row = kernel(number, "dot", {}, {}) | {"workload": workload, "executions": executions, "tiles": 9}
        for choice, value in zip(CHOICES, (picked, best), strict=True):
            row |= {f"{choice}_{name}": row[name] for name in TILE_COLUMNS}
            row |= {f"{choice}_{model}_{part}": 0.0 for model in MODELS for part in (*ADDING_UP, "total_s")}
            row |= {f"{choice}_simulator_total_s": value * US, f"{choice}_simulator_compute_s": value * US}
        rows.append(row)
    return pd.DataFrame(rows)[list(TILE_CHOICE_COLUMNS)]


def data():
    artifact = Stub({}, {"kernels.parquet": kernels(), "tiles.parquet": tiles()})
    return report_data(differences={("default", "tpu-v3"): artifact})


def test_classes_are_told_apart_and_so_are_short_kernels():
    rows = class_table(with_ratio(kernels())).rows
    # 8 / 2 and 11 / 10: median 2.55; the reduction of 22 us 2.2; the short one 3.
    assert [row[:4] for row in rows] == [
        ["dot", "5 us or more", "2", "2.55"],
        ["reduction", "5 us or more", "1", "2.2"],
        ["reduction", "below 5 us", "1", "3"],
    ]


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "matrix unit, 67 %"), (1, "launch, 200 %"), (2, "load, 83 %"), (3, "launch, 100 %")],
)
def test_what_explains_most_of_the_gap(number, words):
    assert gap_words(kernels().iloc[number]) == words


def test_an_estimate_that_is_too_high_is_explained_by_what_is_lower():
    row = kernel(0, "dot", {"compute": 4, "launch": 2, "matrix": 4}, {"compute": 10, "matrix": 10})
    assert gap_words(pd.Series(row)) == "matrix unit, 150 %"


def test_worst_kernels_come_first_with_both_models():
    table = worst_kernels_table(with_ratio(kernels()))
    assert [row[0] for row in table.rows] == [
        "net: root-0 (dot)", "net: root-0 (dot)", "net: root-2 (reduction)", "net: root-2 (reduction)",
        "net: root-1 (dot)", "net: root-1 (dot)",
    ]  # fmt: skip
    first, second = (dict(zip(table.columns, row, strict=True)) for row in table.rows[:2])
    assert (first["ratio"], first["loops"], first["tile"]) == ("4", "16x1x7", "8")
    assert (first["model"], *(first[f"{part}, us"] for part in ("total", "compute", "launch"))) == (
        "simulator",
        "8",
        "6",
        "2",
    )
    assert (second["model"], *(second[f"{part}, us"] for part in ("total", "compute", "launch"))) == (
        "analytical",
        "2",
        "2",
        "0",
    )


def test_tile_choices():
    table = tiles()
    # net: (3 x 10 + 76) / (3 x 8 + 76) - 1; other: 5 / 4 - 1.
    assert tile_ape_pct(table[table["workload"] == "net"]) == pytest.approx(6)
    worst = worst_tiles_table(table)
    assert [row[0] for row in worst.rows] == ["25", "25", "6", "6"]
    assert [row[3] for row in worst.rows] == ["analytical", "simulator"] * 2
    row = variant_table(data()).rows[0]
    assert float(row[-1]) == pytest.approx(np.sqrt(6 * 25), abs=0.05)


def test_the_whole_page():
    page, _ = build_report(data())
    for words in (
        "Simulator and compiler&#39;s model",
        "Times on tpu-v3 (default)",
        "Choice of tiles",
        "fill and drain",
    ):
        assert words in page


def test_no_tables_of_tiles_without_the_tile_task_and_no_page_without_differences():
    artifact = Stub({}, {"kernels.parquet": kernels(), "tiles.parquet": tiles().iloc[:0]})
    without = difference_page(report_data(differences={("default", "tpu-v3"): artifact}))
    assert "Choice of tiles on tpu-v3 (default)" not in [part.get("text") for part in without.parts]
    assert difference_page(report_data()).parts == []


def test_extents_leave_out_ones_at_the_end():
    assert extents(pd.Series(dict(zip("abcd", (4, 1, 3, 1), strict=True))), "abcd") == "4x1x3"
    assert extents(pd.Series({"a": 1, "b": 1}), "ab") == "1"
