"""What a chart's file holds: plain numbers of few digits, no colours of a theme, no points that cover each other."""

import base64
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

DIGITS = 6
"""Significant digits of a chart's numbers: more than a screen or a comparison needs; tables have all digits."""
CELLS = 150
"""Of a scatter chart, along each axis: a cell is some 4 pixels wide, about a point's size."""


def plain_figure(figure: go.Figure) -> dict[str, Any]:
    """The figure's traces and layout as JSON-ready lists and dicts; the page has title, theme and fonts of its own."""
    whole = _plain(figure.to_plotly_json())
    layout = whole["layout"]
    for name in ("template", "title", "font"):
        layout.pop(name, None)
    return {"data": whole["data"], "layout": layout}


def _plain(value: Any) -> Any:
    if isinstance(value, dict) and "bdata" in value:
        return _plain(_unpacked(value))
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, pd.Series | pd.Index):
        value = value.to_numpy()
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value


def _unpacked(array: dict[str, str]) -> np.ndarray:
    """An array as Plotly writes it: bytes in base64, dtype and, of several dimensions, shape."""
    flat = np.frombuffer(base64.b64decode(array["bdata"]), dtype=array["dtype"])
    return flat.reshape([int(extent) for extent in array["shape"].split(",")]) if "shape" in array else flat


def one_a_cell(table: pd.DataFrame, x: str, y: str, by: str) -> pd.DataFrame:
    """The rows that a log-log scatter chart needs: of the points of one `by` that would cover each other, in the same
    cell of CELLS x CELLS over the range of all, the first. Points of their own stay, outliers above all."""
    if not len(table):
        return table
    with np.errstate(divide="ignore", invalid="ignore"):
        places = [np.log10(table[column].to_numpy(np.float64)) for column in (x, y)]
    cells = [_cell(place) for place in places]
    keys = pd.DataFrame({"x": cells[0], "y": cells[1], "by": table[by].to_numpy()})
    return table[~keys.duplicated().to_numpy()]


def _cell(place: np.ndarray) -> np.ndarray:
    """int64[n] cell of each place; those without one (of values that are not positive) share cell -1."""
    finite = np.isfinite(place)
    if not finite.any():
        return np.full(len(place), -1)
    low, high = place[finite].min(), place[finite].max()
    cells = (np.where(finite, place, low) - low) / max(high - low, 1e-12) * (CELLS - 1)
    return np.where(finite, np.rint(cells).astype(np.int64), -1)
