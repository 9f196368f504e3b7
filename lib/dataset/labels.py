"""Labelled rows: what the label's cost model and the analytical model say about schedules."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lib.cost.cost_model import CostModel, Costs, Reason
from lib.hardware.datapath import Datapath
from lib.program.kernels import Kernels
from lib.schedule.schedules import Schedules
from schemas.dataset_artifact import TILE_COLUMNS


def labelled_rows(
    kernels: Kernels,
    schedules: Schedules,
    is_default: np.ndarray,
    datapath: Datapath,
    label: CostModel,
    analytical: CostModel,
) -> pd.DataFrame:
    """One row a schedule, in the order given, with the columns of the dataset's `rows.parquet`.

    `is_default`: bool[r], where the tile is the compiler's. The label's seconds become `runtime_s`; the
    analytical model's total and parts become `analytical_s` and `analytical_<part>`. Raises ValueError where
    one of the two cannot price a row: both must accept every tile of the tile space.
    """
    runtime_s = _priced(label, kernels, schedules, datapath).value
    estimate = _priced(analytical, kernels, schedules, datapath, parts=True)
    return rows_of(schedules, is_default, runtime_s, estimate, analytical.part_names)


def rows_of(
    schedules: Schedules,
    is_default: np.ndarray,
    runtime_s: np.ndarray,
    estimate: Costs | None,
    part_names: Sequence[str] = (),
) -> pd.DataFrame:
    """The columns of the dataset's `rows.parquet`: `runtime_s` float64[r] the label, `estimate` the analytical model's
    with its parts, which must have all rows; None where there is no datapath to estimate with."""
    columns = {"kernel": schedules.kernel.astype(np.int32)}
    for slot, name in enumerate(TILE_COLUMNS):
        columns[name] = schedules.tile[:, slot].astype(np.int32)
    columns["is_default"] = is_default
    columns["runtime_s"] = runtime_s
    if estimate is None:
        return pd.DataFrame(columns)
    assert estimate.parts is not None
    columns["analytical_s"] = estimate.value
    for part, name in enumerate(part_names):
        columns[f"analytical_{name}"] = np.ascontiguousarray(estimate.parts[:, part])
    return pd.DataFrame(columns)


def _priced(
    model: CostModel, kernels: Kernels, schedules: Schedules, datapath: Datapath, *, parts: bool = False
) -> Costs:
    costs = model.cost(kernels, schedules, datapath, parts=parts)
    refused = costs.reason != Reason.OK
    if refused.any():
        row = int(refused.argmax())
        kernel, tile, reason = schedules.kernel[row], schedules.tile[row].tolist(), Reason(costs.reason[row])
        raise ValueError(
            f"cost model {model.name!r} refuses {int(refused.sum())} of {len(refused)} rows of the tile space; the"
            f" first is kernel {kernel} ({kernels.fingerprint[kernel]}) with tile {tile}: {reason.name}"
        )
    return costs
