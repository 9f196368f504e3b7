"""What makes a resolved datapath one that can be built."""

from collections.abc import Mapping
from typing import Any

ELEMENT_BYTES = {"bfloat16": 2, "int8": 1, "float32": 4}
"""Of an element of a number format."""
PARTIAL_SUM_BYTES = 4
"""float32 accumulation."""


def datapath_problem(datapath: Mapping[str, Any]) -> str | None:
    """Why a resolved datapath can't be built, or None.

    The L1 of a PE has to hold two cycles' worth of what the array takes and gives (double buffering): an input
    a row, a weight and a float32 partial sum a column. In a shared L1 the sum of the three has to fit.
    """
    element = ELEMENT_BYTES[datapath["number_format"]]
    rows, columns = datapath["systolic_rows"], datapath["systolic_columns"]
    needed = {
        "l1_input_bytes": 2 * rows * element,
        "l1_weight_bytes": 2 * columns * element,
        "l1_output_bytes": 2 * columns * PARTIAL_SUM_BYTES,
    }
    if datapath["l1_config"] == "shared":
        capacity = sum(datapath[name] for name in needed)
        if capacity < sum(needed.values()):
            return f"shared L1 has {capacity} B, a {rows} x {columns} array needs {sum(needed.values())} B"
        return None
    for name, size in needed.items():
        if datapath[name] < size:
            return f"{name} is {datapath[name]} B, a {rows} x {columns} array needs {size} B"
    return None
