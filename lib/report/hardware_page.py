"""The report's page of one hardware variant: its datapath, what it can do at most, and what the study does with it."""

from collections.abc import Mapping
from typing import Any, get_args

import pandas as pd

from lib.hardware.area import chip_area
from lib.hardware.datapath import (
    Datapath,
    datapath_from_spec,
    mesh_bytes_per_cycle,
    on_chip_bytes,
    peak_flops_per_s,
    ridge_flops_per_byte,
    vector_lanes_of_core,
)
from lib.hardware.power import chip_power
from lib.report.hardware_charts import roofline
from lib.report.page import Page
from lib.report.report_data import ReportData
from lib.report.tables import Number, Table, number
from schemas.hardware import DATAPATH_KEYS, DatapathEntry, study_entry
from schemas.power_area import PowerAreaModel

POWER_AREA_MODELS: tuple[PowerAreaModel, ...] = get_args(PowerAreaModel)
RUNTIME_WORDS = {
    "simulated": "Its runtimes are simulated.",
    "recorded": "Its runtimes are read from files; the datapath describes the chip that was timed, for estimates.",
    "xla": "Its runtimes are measured on this machine: XLA runs kernels.",
    "iree": "Its runtimes are measured on this machine: IREE runs tiles of kernels.",
}
UNITS = {"clock": "Hz", "dram_bandwidth": "bytes/s"}
SIZES = ("l1_input", "l1_weight", "l1_output", "global_buffer")
MIB = 2**20
FOLDED_ROWS = 12
"""Longer tables of variants are folded."""


def hardware_page(data: ReportData, id: str) -> Page:
    """One variant."""
    page = Page(f"hardware-{id}", f"Hardware: {id}", "Hardware")
    entry = data.spec["hardware"][id]
    page.text(RUNTIME_WORDS[entry["runtime"]])
    if entry["datapath"] is None:
        page.text("It has no datapath (`datapath:`, `base:`), so there are no estimates of a model for it.")
    else:
        _add_datapath(page, data, id, entry["datapath"])
    page.heading("What the study does with it")
    _add_uses(page, data, id)
    return page


def _add_datapath(page: Page, data: ReportData, id: str, spec: Mapping[str, Any]) -> None:
    datapath = datapath_from_spec(spec)
    page.table(peak_table(spec, datapath))
    points = program_points(data, id, datapath)
    page.chart(
        roofline(datapath, points, f"Roofline of one core of {id}"),
        "simulated" if len(points) else "modelled",
        "Lines: the least of peak rate and DRAM bandwidth times intensity."
        + (
            " Points: the study's programs under default fusion and tiles, with the DRAM traffic that the analytical "
            "model counts for them; tensors that stay on chip between kernels are no part of it."
            if len(points)
            else ""
        ),
    )
    if len(points):
        page.table(_points_table(points))
    page.heading("Datapath")
    page.table(datapath_table(spec))
    page.table(_power_table(spec))


def peak_table(spec: Mapping[str, Any], datapath: Datapath) -> Table:
    """What the chip could do at most: one core and all."""
    cores, clock = datapath.cores, datapath.clock_hz
    of_core = (
        ("matrix units, peak", peak_flops_per_s(datapath) / 1e12, "TFLOP/s"),
        ("vector units, peak", vector_lanes_of_core(datapath) * clock / 1e9, "billion elements/s"),
        ("DRAM bandwidth", datapath.dram_bytes_per_s / 1e9, "GB/s"),
        ("mesh of the global buffer", mesh_bytes_per_cycle(datapath) * clock / 1e9, "GB/s"),
        ("on chip for tiles", on_chip_bytes(datapath)[0] / MIB, "MiB"),
    )
    rows = [[name, unit, number(value), number(value * cores)] for name, value, unit in of_core]
    ridge = number(ridge_flops_per_byte(datapath))
    rows.append(["ridge: intensity from which on compute is the limit", "FLOP/byte", ridge, ridge])
    for model in POWER_AREA_MODELS:
        watts, mm2 = chip_power(dict(spec), model).total, chip_area(dict(spec), model).total
        rows.append([f"thermal design power, power model {model}", "W", "-", number(watts)])
        rows.append([f"area, power model {model}", "mm2", "-", number(mm2)])
    return Table(
        "At most", ["quantity", "unit", "a core", f"the chip ({cores} core{'s' * (cores > 1)})"], rows,
        f"A multiply-accumulate is two FLOPs; {spec['number_format']}. Power and area are modelled.",
    )  # fmt: skip


def datapath_table(spec: Mapping[str, Any]) -> Table:
    """Every field as the study writes it, with what it means."""
    written = study_entry(dict(spec))["datapath"]
    rows = []
    for key in DATAPATH_KEYS.values():
        unit = UNITS.get(key, "bytes" if key in SIZES else "")
        rows.append([key, _field(spec, written, key), unit, DatapathEntry.model_fields[key].description or ""])
    return Table(
        "Datapath", ["field", "value", "unit of the CSV file", "meaning"], rows,
        "As it can stand under hardware: in a study. PEs and buffers are those of one core.",
    )  # fmt: skip


def variants_table(variants: Mapping[str, Mapping[str, Any]]) -> Table | None:
    """All variants with a datapath side by side, in the fields that are not the same in all; None of fewer than two."""
    written = {
        id: study_entry(dict(entry["datapath"]))["datapath"] for id, entry in variants.items() if entry["datapath"]
    }
    if len(written) < 2:
        return None
    keys = [key for key in DATAPATH_KEYS.values() if len({str(entry[key]) for entry in written.values()}) > 1]
    rows = [[id, *(_field(variants[id]["datapath"], written[id], key) for key in keys)] for id in written]
    return Table(
        "Hardware variants", ["variant", *keys], rows,
        "Fields that differ. In the CSV file: clock in Hz, bandwidth in bytes/s, sizes in bytes.",
        folded=len(rows) > FOLDED_ROWS,
    )  # fmt: skip


def _field(spec: Mapping[str, Any], written: Mapping[str, Any], key: str) -> str:
    """The field as the study writes it, with the number behind it."""
    value = spec[next(name for name, one in DATAPATH_KEYS.items() if one == key)]
    return str(written[key]) if isinstance(value, str) else Number(str(written[key]), float(value))


def _power_table(spec: Mapping[str, Any]) -> Table:
    """Area and power by component, under both models."""
    rows = []
    areas = [chip_area(dict(spec), model)._asdict() for model in POWER_AREA_MODELS]
    powers = [chip_power(dict(spec), model)._asdict() for model in POWER_AREA_MODELS]
    for part in dict.fromkeys([*areas[0], *powers[0]]):
        cells = [number(values.get(part)) for values in (*areas, *powers)]
        rows.append([part.replace("_", " "), *cells])
    heads = [f"{unit}, model {model}" for unit in ("mm2", "W") for model in POWER_AREA_MODELS]
    return Table("Area and power-virus power by component", ["component", *heads], rows, folded=True)


def program_points(data: ReportData, id: str, datapath: Datapath) -> pd.DataFrame:
    """Columns workload, flops_per_byte, flops_per_s, runtime_s: the study's programs on one core of the variant; none
    where no dataset has it."""
    columns = ["workload", "flops_per_byte", "flops_per_s", "runtime_s"]
    kernels = next((one["kernels.parquet"] for (_, name), one in data.differences.items() if name == id), None)
    if kernels is None or "gflop" not in data.programs:
        return pd.DataFrame(columns=columns)
    gflop = data.programs.set_index("workload")["gflop"]
    rows = []
    for workload, of_program in kernels.groupby("workload"):
        if workload not in gflop.index:
            continue
        runs, flops = of_program["executions"], 1e9 * float(gflop[workload])
        moving_s = (runs * (of_program["analytical_load_s"] + of_program["analytical_store_s"])).sum()
        runtime_s = float((runs * of_program["simulator_total_s"]).sum())
        if moving_s > 0 and runtime_s > 0 and flops > 0:
            intensity = flops / (float(moving_s) * datapath.dram_bytes_per_s)
            rows.append((workload, intensity, flops / runtime_s, runtime_s))
    return pd.DataFrame(rows, columns=columns)


def _points_table(points: pd.DataFrame) -> Table:
    rows = [
        [row.workload, number(row.runtime_s * 1e6), number(row.flops_per_byte), number(row.flops_per_s / 1e12)]
        for row in points.itertuples(index=False)
    ]
    return Table(
        "Programs on one core", ["program", "runtime, us", "intensity, FLOP/byte", "reached, TFLOP/s"], rows,
        "Simulated; each program's default fusion under default tiles, one step of its batch.",
    )  # fmt: skip


def _add_uses(page: Page, data: ReportData, id: str) -> None:
    """Datasets in a table, then links to all that learns, is scored, tuned or starts from it."""
    shards = data.shards[data.shards["hardware"] == id] if len(data.shards) else data.shards
    if len(shards):
        sums = shards.groupby(["dataset", "task"], sort=False)[["kernels", "rows"]].sum().reset_index()
        rows = [[row.dataset, row.task, f"{row.kernels:,}", f"{row.rows:,}"] for row in sums.itertuples(index=False)]
        page.table(Table("Datasets", ["dataset", "task", "kernels", "labelled rows"], rows))
    uses = {
        "Models that learned it:": {
            f"model-{name}": name for name in data.models if id in (data.trained_on(name) or [])
        },
        "Evaluations that score on it:": {
            f"accuracy-{name}": name
            for name, artifact in data.evaluations.items()
            if id in set(artifact["overall.parquet"]["hardware"])
        },
        "Tuned for it:": {
            f"autotune-{name}": name
            for name, artifacts in data.autotunes.items()
            if artifacts[0]["summary.json"].hardware == id
        },
        "Searches that start from it:": {
            f"search-{name}": name for name in data.search_summaries if _baseline(data.spec["searches"][name]) == id
        },
    }
    for words, targets in uses.items():
        if targets:
            page.links(words, targets)
    if not len(shards) and not any(uses.values()):
        page.text("Nothing: no dataset, autotune entry or search names it.")


def _baseline(search: Mapping[str, Any]) -> str:
    return str(search["baseline"]["id"])
