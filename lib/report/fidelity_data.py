"""The outside figures of a study in one table."""

import pandas as pd

from lib.report.report_data import ReportData

SOURCES = {
    "scalesim": "SCALE-Sim 3.0.0: compute cycles of its systolic arrays",
    "zigzag": "ZigZag: cycles of its mappings",
    "accelforge": "AccelForge: cycles of its mappings",
    "tpu-tiles": "Real TPU tiles (TpuGraphs): order and choice of tiles",
}
"""Sources other than the papers' tables and figures, in words."""


def fidelity_figures(data: ReportData) -> pd.DataFrame:
    """The figures of all entries, each once."""
    tables = [artifact["figures.parquet"] for artifact in data.fidelity.values()]
    if not tables:
        return pd.DataFrame(
            columns=["source", "subject", "quantity", "role", "ours", "theirs", "error_pct", "relation"]
        )
    figures = pd.concat(tables, ignore_index=True).drop_duplicates(["source", "subject", "quantity"])
    return figures.sort_values("source", key=lambda column: column.map(_rank), kind="stable", ignore_index=True)


def _rank(source: str) -> tuple[int, float]:
    """Tools and chips in their order above, then the paper's tables, figures and sections by number."""
    if source in SOURCES:
        return 0, float(list(SOURCES).index(source))
    _, kind, place = source.split("-")
    return 1 + ("table", "figure", "section").index(kind), float(place)
