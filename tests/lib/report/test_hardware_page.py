"""The page of one hardware variant; TPU-v3's figures by hand from its preset."""

import pandas as pd
import pytest

from lib.hardware.datapath import datapath_from_spec
from lib.report.hardware_charts import roofline
from lib.report.hardware_page import datapath_table, hardware_page, peak_table, program_points, variants_table
from schemas.dataset_artifact import TILE_COLUMNS
from schemas.hardware import DATAPATH_KEYS
from tests.lib.report.report_examples import TPU_V3, Stub, report_data
from tests.lib.report.whole_report import whole_data

SPEC = TPU_V3["datapath"]
CORE = datapath_from_spec(SPEC)


def test_peak_figures_of_tpu_v3():
    """Two cores of two 128 x 128 arrays at 0.94 GHz, 900 GB/s (TPU-v3; Norrie et al., IEEE Micro 2021): 123 TFLOP/s."""
    rows = {row[0]: row[1:] for row in peak_table(SPEC, CORE).rows}
    assert rows["matrix units, peak"] == ["TFLOP/s", "61.6", "123"]
    assert rows["DRAM bandwidth"] == ["GB/s", "450", "900"]
    assert rows["on chip for tiles"] == ["MiB", "16", "32"]
    assert rows["ridge: intensity from which on compute is the limit"][1] == "137"  # 61.6 TFLOP/s / 450 GB/s


def test_every_field_with_its_unit_and_meaning():
    rows = {row[0]: row[1:] for row in datapath_table(SPEC).rows}
    assert list(rows) == list(DATAPATH_KEYS.values())
    assert rows["clock"][:2] == ["940 MHz", "Hz"]
    assert rows["clock"][0].value == 940e6
    assert rows["global_buffer"][:2] == ["16 MiB", "bytes"]
    assert all(row[2] for row in rows.values())


def test_variants_stand_side_by_side_in_what_differs():
    slower = {"datapath": SPEC | {"clock_hz": 470e6}}
    table = variants_table({"tpu-v3": TPU_V3, "slower": slower, "local-xla": {"datapath": None}})
    assert table.columns == ["variant", "clock"]
    assert table.rows == [["tpu-v3", "940 MHz"], ["slower", "470 MHz"]]
    assert table.rows[1][1].value == 470e6
    assert variants_table({"tpu-v3": TPU_V3}) is None


def test_the_roofline_bends_at_the_ridge():
    figure = roofline(CORE, pd.DataFrame(columns=["workload", "flops_per_byte", "flops_per_s"]), "title")
    (line,) = figure.data
    assert line.x[1] == pytest.approx(136.9, abs=0.1)
    assert line.y[1] == line.y[2] == pytest.approx(61.6, abs=0.1)
    assert line.y[0] == pytest.approx(line.x[0] * 450e9 / 1e12)


def test_programs_lie_where_their_bytes_and_seconds_put_them():
    """1.5 GFLOP that move for 1 ms at 450 GB/s and take 2 ms: 3.33 FLOP/byte, 0.75 TFLOP/s."""
    kernels = pd.DataFrame(
        {"workload": ["net", "net"], "executions": [1, 3], "simulator_total_s": [0.5e-3, 0.5e-3],
         "analytical_load_s": [1e-4, 2e-4], "analytical_store_s": [0.0, 1e-4], **dict.fromkeys(TILE_COLUMNS, 1)}
    )  # fmt: skip
    data = report_data(differences={("default", "tpu-v3"): Stub({}, {"kernels.parquet": kernels})})
    (point,) = program_points(data, "tpu-v3", CORE).itertuples(index=False)
    assert point.flops_per_byte == pytest.approx(1.5e9 / (1e-3 * 450e9))
    assert point.flops_per_s == pytest.approx(0.75e12)
    assert len(program_points(data, "other", CORE)) == 0


def test_what_uses_it_is_linked():
    links = {part["text"]: part["targets"] for part in hardware_page(whole_data(), "tpu-v3").parts
             if part["kind"] == "links"}  # fmt: skip
    assert links["Models that learned it:"] == {f"model-{id}": id for id in ("ranker", "half", "runtime")}
    assert links["Evaluations that score on it:"] == {"accuracy-accuracy": "accuracy"}
    assert links["Tuned for it:"] == {"autotune-tiles": "tiles", "autotune-fusion": "fusion"}
    assert "search-efficientnet-b7" in links["Searches that start from it:"]


def test_a_device_without_a_datapath_has_no_estimates():
    page = hardware_page(whole_data(), "local-xla")
    assert [part["kind"] for part in page.parts] == ["text", "text", "heading", "text"]
