"""Which parameters make a found design better than a reference such as FAST-Large.

Between the two lie hybrids: some groups of parameters as in the design, the others as in the reference. All of them are
priced, so that a group's share is known whatever was changed before it: its share is the mean, over all orders in which
the groups can be changed, of what changing it adds (the Shapley value; Shapley 1953). Shares add up to the whole
difference; a single ladder in one order stands beside them.
"""

import copy
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from lib.search.evaluate import LIMIT_MODEL, Evaluator
from lib.search.space import BESIDE_THE_DATAPATH, Point, datapath_of
from schemas.hardware import HARDWARE_PRESETS, merged_datapath
from schemas.quantity import BANDWIDTH, SIZE

Setting = Mapping[str, Any]
"""A resolved datapath with `softmax` and `dataflows`."""

GROUPS: dict[str, tuple[str, ...]] = {
    "arrays": ("pes_x", "pes_y", "systolic_rows", "systolic_columns"),
    "L1 and L2": (
        "l1_config", "l1_input_bytes", "l1_weight_bytes", "l1_output_bytes",
        "l2_config", "l2_input_multiplier", "l2_weight_multiplier", "l2_output_multiplier",
    ),
    "vector units": ("vector_lanes", "register_sublanes", "register_lanes"),
    "global buffer": ("global_buffer_bytes",),
    "DRAM": ("dram_kind", "dram_channels", "dram_bytes_per_s"),
    "batch": ("native_batch",),
    "softmax": ("softmax",),
    "dataflows": ("dataflows",),
    "template": ("clock_hz", "cores", "number_format", "depthwise_mapping", "vector_path", "array_efficiency"),
}  # fmt: skip
"""Keys of a setting by group, in the order of the ladder."""
JOINED_FIRST = ("arrays", "L1 and L2", "vector units", "global buffer", "batch", "DRAM")
"""Where a hybrid can't be built (L1 feeds the arrays) or can't run a kernel, these are changed together: the first two,
then three, and so on."""


def explained(evaluator: Evaluator, reference: Setting, design: Setting) -> pd.DataFrame:
    """One row a group of parameters that differ, in the order of the ladder.

    Columns: `group`; `reference` and `design`, the values in words; log2 of the ratio in Perf/TDP, performance (queries
    a second) and 1/TDP that the change of the group adds: `ladder_gain`, `ladder_performance`, `ladder_power` after the
    groups above it, `share_gain`, `share_performance`, `share_power` in the mean over all orders. Schedules are a
    trial's, not a final design's. Raises ValueError where one of the two can't run the workloads.
    """
    worth = _worth(evaluator)
    groups = [group for group, keys in GROUPS.items() if any(reference[key] != design[key] for key in keys)]
    for joined in range(1, len(JOINED_FIRST) + 1):
        table = _priced(_joined(groups, JOINED_FIRST[:joined]), reference, design, worth)
        if table is not None:
            return table
    raise ValueError(f"the workloads don't run on {dict(reference)} or {dict(design)}")


def against_fast_large(evaluator: Evaluator, point: Point | None) -> pd.DataFrame:
    """:func:`explained` of a point of the space against FAST-Large; no rows without a point, or where one of the two
    can't run the workloads."""
    fast_large = merged_datapath([HARDWARE_PRESETS["fast-large"]]) | {"softmax": "three-pass", "dataflows": "any"}
    try:
        design = (
            fast_large if point is None else datapath_of(point) | {name: point[name] for name in BESIDE_THE_DATAPATH}
        )
        return explained(evaluator, fast_large, design)
    except ValueError:
        return explained(evaluator, fast_large, fast_large)


def _worth(evaluator: Evaluator) -> Callable[[Setting], np.ndarray | None]:
    """log2 of (queries a second, 1/W) of a setting whatever the limits; None where it can't be built or run."""
    unlimited = copy.copy(evaluator)
    unlimited.limits = {"area_ratio": math.inf, "tdp_ratio": math.inf}

    def worth(setting: Setting) -> np.ndarray | None:
        datapath = dict(setting)
        choices = {name: datapath.pop(name) for name in ("softmax", "dataflows")}
        found = unlimited.evaluate(datapath, **choices)
        if found.state != "ok":
            return None
        return np.log2([found.queries_per_s, 1.0 / found.design.power[LIMIT_MODEL].total])

    return worth


def _joined(groups: list[str], names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Those of `names` as one group at the place of the first."""
    together = tuple(name for name in groups if name in names)
    apart: list[tuple[str, ...]] = [(name,) for name in groups if name not in names]
    return [together, *apart] if together else apart


def _priced(
    groups: list[tuple[str, ...]], reference: Setting, design: Setting,
    worth: Callable[[Setting], np.ndarray | None],
) -> pd.DataFrame | None:  # fmt: skip
    """The table; None where a hybrid is worth nothing."""
    keys = [tuple(key for group in joined for key in GROUPS[group]) for joined in groups]
    values: dict[int, np.ndarray] = {}
    for changed in range(2 ** len(groups) if groups else 0):
        taken = {key for place, names in enumerate(keys) if changed >> place & 1 for key in names}
        value = worth({key: (design if key in taken else reference)[key] for key in reference})
        if value is None:
            return None
        values[changed] = value
    share = np.array([_share(place, len(groups), values) for place in range(len(groups))]).reshape(-1, 2)
    ladder = np.array([values[(2 << place) - 1] - values[(1 << place) - 1] for place in range(len(groups))])
    return pd.DataFrame(
        {
            "group": [", ".join(joined) for joined in groups],
            "reference": [_in_words(joined, reference) for joined in groups],
            "design": [_in_words(joined, design) for joined in groups],
        }
        | {
            f"{name}_{column}": values
            for name, steps in (("ladder", ladder.reshape(-1, 2)), ("share", share))
            for column, values in zip(
                ("gain", "performance", "power"), (steps.sum(axis=1), steps[:, 0], steps[:, 1]), strict=True
            )
        }
    )


def _share(place: int, number: int, values: Mapping[int, np.ndarray]) -> np.ndarray:
    """float64[2]: the Shapley value of one of `number` groups; `values` by the bits of the groups that are changed."""
    share = np.zeros(2)
    for changed, value in values.items():
        if not changed >> place & 1:
            before = changed.bit_count()
            orders = math.factorial(before) * math.factorial(number - before - 1) / math.factorial(number)
            share += orders * (values[changed | 1 << place] - value)
    return share


def _in_words(groups: tuple[str, ...], of: Setting) -> str:
    """What a setting has in some groups."""
    sizes = {key: SIZE.write(of[key]) for key in of if key.endswith("_bytes")}
    l1 = f"L1 {of['l1_config']} {sizes['l1_input_bytes']}, {sizes['l1_weight_bytes']}, {sizes['l1_output_bytes']}"
    multipliers = ", ".join(str(of[f"l2_{role}_multiplier"]) for role in ("input", "weight", "output"))
    l2 = "no L2" if of["l2_config"] == "disabled" else f"L2 {of['l2_config']} x {multipliers}"
    words = {
        "arrays": f"{of['pes_x']} x {of['pes_y']} PEs of {of['systolic_rows']} x {of['systolic_columns']}",
        "L1 and L2": f"{l1}; {l2}",
        "vector units": f"{of['vector_lanes']} lanes a PE",
        "global buffer": sizes["global_buffer_bytes"] if of["global_buffer_bytes"] else "none",
        "DRAM": f"{of['dram_channels']} x {of['dram_kind']}, {BANDWIDTH.write(of['dram_bytes_per_s'])}",
        "batch": str(of["native_batch"]),
        "softmax": of["softmax"],
        "dataflows": of["dataflows"],
        "template": ", ".join(str(of[key]) for key in GROUPS["template"]),
    }
    return "; ".join(words[group] for group in groups)
