"""Shares of a difference between two designs, on evaluators that can be reckoned by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from lib.search.evaluate import design_of
from lib.search.explained import against_fast_large, explained
from schemas.datapath_limits import datapath_problem
from schemas.hardware import HARDWARE_PRESETS, merged_datapath
from schemas.search_space import DEFAULT_SPACE

REFERENCE = merged_datapath([HARDWARE_PRESETS["fast-large"]]) | {"softmax": "three-pass", "dataflows": "any"}


class ByHand:
    """Queries a second = PEs x lower of (rows, 64 lanes) x batch; a hybrid must be one that can be built."""

    limits = {"area_ratio": 0.0, "tdp_ratio": 0.0}

    def evaluate(self, datapath, *, softmax, dataflows):
        """Limits of the search itself don't count."""
        assert min(self.limits.values()) == math.inf
        queries = (
            datapath["pes_x"] * min(datapath["systolic_rows"], datapath["vector_lanes"]) * datapath["native_batch"]
        )
        state = "infeasible" if datapath_problem(datapath) else "ok"
        return SimpleNamespace(state=state, queries_per_s=float(queries), design=design_of(datapath))


def rows(table):
    return {row.group: row for row in table.itertuples()}


def test_shares_are_means_over_the_orders():
    design = REFERENCE | {"systolic_rows": 64, "vector_lanes": 64, "native_batch": 32}
    found = rows(explained(ByHand(), REFERENCE, design))
    assert list(found) == ["arrays", "vector units", "batch"]
    # Rows and lanes help only together: half of one doubling each; the ladder gives it to the last of them.
    performance = {group: row.share_performance for group, row in found.items()}
    assert performance == pytest.approx({"arrays": 0.5, "vector units": 0.5, "batch": 2.0})
    ladder = {group: row.ladder_performance for group, row in found.items()}
    assert ladder == pytest.approx({"arrays": 0.0, "vector units": 1.0, "batch": 2.0})
    assert found["arrays"].reference == "8 x 8 PEs of 32 x 32"
    assert found["arrays"].design == "8 x 8 PEs of 64 x 32"


def test_shares_and_ladder_sum_to_the_whole():
    design = REFERENCE | {
        "systolic_rows": 64, "pes_x": 2, "vector_lanes": 64, "native_batch": 4, "global_buffer_bytes": 2**24,
        "dram_channels": 4, "dram_bytes_per_s": 224e9, "l2_config": "private", "softmax": "two-pass",
    }  # fmt: skip
    table = explained(ByHand(), REFERENCE, design)
    watts = [
        design_of({k: v for k, v in of.items() if k not in ("softmax", "dataflows")}) for of in (REFERENCE, design)
    ]
    power = math.log2(watts[0].power["fast-fitted"].total / watts[1].power["fast-fitted"].total)
    for kind in ("ladder", "share"):
        assert table[f"{kind}_performance"].sum() == pytest.approx(
            -2.0
        )  # a quarter of the PEs, half the batch, 2 x rows
        assert table[f"{kind}_power"].sum() == pytest.approx(power)
        assert np.allclose(table[f"{kind}_gain"], table[f"{kind}_performance"] + table[f"{kind}_power"])
    assert table.set_index("group").loc["softmax", "share_gain"] == 0.0


def test_hybrids_that_cannot_be_built_are_passed_by_changing_groups_together():
    """1024 rows need more L1 than the reference has."""
    design = REFERENCE | {
        "systolic_rows": 1024, "systolic_columns": 1024, "l1_input_bytes": 2**14, "l1_weight_bytes": 2**14,
        "l1_output_bytes": 2**14, "l1_config": "private", "native_batch": 16,
    }  # fmt: skip
    hybrid = REFERENCE | {name: design[name] for name in ("systolic_rows", "systolic_columns", "l1_config")}
    assert datapath_problem(hybrid)
    assert list(rows(explained(ByHand(), REFERENCE, design))) == ["arrays, L1 and L2", "batch"]


def test_nothing_differs():
    assert explained(ByHand(), REFERENCE, dict(REFERENCE)).empty


def test_a_design_that_cannot_be_built():
    with pytest.raises(ValueError, match="the workloads don't run on"):
        explained(ByHand(), REFERENCE, REFERENCE | {"l1_config": "private", "l1_input_bytes": 16})


def test_against_fast_large():
    point = {name: REFERENCE[name] for name in DEFAULT_SPACE if name in REFERENCE} | {"vector_multiplier": 1}
    assert against_fast_large(ByHand(), None).empty
    assert against_fast_large(ByHand(), point).empty  # FAST-Large is a point of table 3
    table = against_fast_large(ByHand(), point | {"native_batch": 16})
    assert table["group"].tolist() == ["batch"]
    assert table["share_performance"].tolist() == [1.0]
    assert against_fast_large(ByHand(), point | {"l1_config": "private", "systolic_rows": 1024}).empty
