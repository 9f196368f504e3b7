"""Labelled rows from fake cost models."""

import numpy as np
import pytest

from lib.cost.cost_model import Costs, Reason
from lib.dataset.labels import labelled_rows
from lib.hardware.datapath import datapath_from_spec
from lib.schedule.schedules import schedules_for_tiles
from tests.kernel_examples import example_kernels
from tests.shard_examples import DATAPATH_SPEC


class FakeModel:
    """Charges a second for each element of the batch in the tile; refuses batch 3."""

    name, scale, accepts, part_names = "fake", "seconds", frozenset({"tile"}), ("first_s", "steps")

    def cost(self, kernels, schedules, datapath, *, parts=False):
        value = schedules.tile[:, 0].astype(np.float64)
        reason = np.where(value == 3, Reason.TILE_TOO_LARGE, Reason.OK).astype(np.uint8)
        table = np.stack([10 * value, 100 * value], axis=1) if parts else None
        return Costs(np.where(reason, np.nan, value), reason, np.zeros((len(value), 3)), None, table)


def rows_for(batches):
    tile = np.ones((len(batches), 8), dtype=np.int32)
    tile[:, 0] = batches
    schedules = schedules_for_tiles(np.array([0] * len(batches)), tile)
    is_default = np.arange(len(batches)) == 1
    datapath = datapath_from_spec(DATAPATH_SPEC)
    return labelled_rows(example_kernels(), schedules, is_default, datapath, FakeModel(), FakeModel())


def test_rows_hold_label_estimate_and_parts():
    rows = rows_for([2, 4])
    assert rows["kernel"].tolist() == [0, 0]
    assert rows["tile_batch"].tolist() == [2, 4]
    assert rows["tile_out_h"].tolist() == [1, 1]
    assert rows["is_default"].tolist() == [False, True]
    assert rows["runtime_s"].tolist() == rows["analytical_s"].tolist() == [2, 4]
    assert rows["analytical_first_s"].tolist() == [20, 40]
    assert rows["analytical_steps"].tolist() == [200, 400]


def test_a_refused_row_is_an_error_that_names_it():
    with pytest.raises(ValueError, match=r"'fake' refuses 1 of 2 rows.*kernel 0.*\[3, 1, 1.*TILE_TOO_LARGE"):
        rows_for([2, 3])
