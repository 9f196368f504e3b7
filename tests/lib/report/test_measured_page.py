"""The page of what was measured: noise told, whole programs beside sums, measured and simulated apart."""

import numpy as np
import pandas as pd
import pytest

from lib.report.measured_data import BESIDE_COLUMNS, FAILURE_COLUMNS, SHARD_COLUMNS, MeasuredData, read_measured
from lib.report.measured_goals import measured_goal_results, measured_headlines
from lib.report.measured_page import beside_table, measured_page, noise_warnings, whole_table
from lib.report.report_data import ReportData
from schemas.dataset_artifact import DatasetArtifact
from tests.lib.report.report_examples import Stub
from tests.shard_examples import hand_made_shard, write_shard


def shards(floor_pct: float = 2.0) -> pd.DataFrame:
    """Kernels of 30 us together that take 20 us in one module; and tiles."""
    rows = [
        ("d", "fusion", "local-xla", "net", 10, 10, 1, floor_pct, 3.0, 0.1, 30e-6, 20e-6, ""),
        ("d", "fusion", "local-xla", "other", 10, 10, 0, floor_pct, 3.0, 0.1, None, None, "no such op"),
        ("t", "tile", "local-iree", "net", 3, 30, 0, 1.0, 3.0, 0.1, 9e-6, None, ""),
    ]
    return pd.DataFrame(rows, columns=list(SHARD_COLUMNS))


def data(floor_pct: float = 2.0, **parts) -> ReportData:
    failures = pd.DataFrame([("local-xla", "net", "dot.3", "", "too large")], columns=list(FAILURE_COLUMNS))
    rows = [("local-xla", "simulated", "net", f"op.{k}", "dot", 1, 10e-6, 20e-6 if k < 3 else 10e-6) for k in range(5)]
    measured = MeasuredData(
        shards=shards(floor_pct),
        failures=failures,
        devices={"local-xla": {"processor": "a processor", "cores": [0], "jaxlib": "0.10.2"}},
        beside=pd.DataFrame(rows, columns=list(BESIDE_COLUMNS)),
    )
    empty = pd.DataFrame()
    return ReportData(spec={"models": {}}, programs=empty, shards=empty, measured=measured, **parts)


def evaluation() -> Stub:
    overall = pd.DataFrame(
        [("fusion", "local-xla", "time", "mape_pct", 12.0), ("fusion", "local-xla", "time", "kendall_tau", 0.95)],
        columns=["task", "hardware", "model", "metric", "value"],
    )
    of_time = ("fusion", "local-xla", "mape_pct", "time")
    comparisons = pd.DataFrame(
        [(*of_time, "roofline", 0.4), (*of_time, "boosted-trees", 1.1)],
        columns=["task", "hardware", "metric", "model", "baseline", "difference"],
    )
    stub = Stub(
        {"models": [{"id": "time", "task": "fusion"}]}, {"overall.parquet": overall, "comparisons.parquet": comparisons}
    )
    stub.manifest = stub.manifest.model_copy(update={"origin": "measured"})
    return stub


def test_a_study_that_measures_nothing_has_no_page():
    empty = pd.DataFrame()
    assert measured_page(ReportData(spec={}, programs=empty, shards=empty)).parts == []
    assert measured_headlines(ReportData(spec={}, programs=empty, shards=empty)) == []


def test_the_page_has_device_noise_failures_and_the_simulated_beside():
    page = measured_page(data())
    titles = [part["table"].title for part in page.parts if part["kind"] == "table"]
    assert "Seconds simulated on simulated over seconds measured" in titles
    assert "Sum of the default fusion's kernels and the program compiled whole, measured" in titles
    text = str(page.parts)
    assert "a processor" in text
    assert "too large" in text


def test_a_noisy_machine_is_told():
    assert noise_warnings(shards()) == []
    (warning,) = noise_warnings(shards(5.0))
    assert warning.startswith("WARNING: local-xla was too noisy: half of the kernels differ by more than 5 %")


def test_the_sum_is_set_beside_the_program_compiled_whole():
    whole = shards().dropna(subset=["default_sum_s", "whole_program_s"])
    table = whole_table(whole)
    assert table.rows == [["local-xla", "net", "30", "20", "1.5"]]
    assert "Geometric mean of the ratio: 1.5" in table.note


def test_how_far_the_simulator_is_off_by_class():
    """Three of five kernels take twice as long simulated: a median ratio of 2 and a mean error of 60 %."""
    table = beside_table(data().measured.beside, "simulated")
    assert [row[:3] for row in table.rows] == [["5 us and more", "5", "2"], ["dot", "5", "2"]]
    assert table.rows[0][-1] == "60"


def test_goals_are_those_of_measured_evaluations():
    results = {result.goal.id: result for result in measured_goal_results(data(evaluations={"accuracy": evaluation()}))}
    assert (results["fusion-noise"].value, results["fusion-noise"].met) == (2.0, True)
    assert (results["fusion-mape"].value, results["fusion-mape"].met) == (12.0, True)
    assert results["fusion-mape"].name == "evaluation.accuracy.fusion.local-xla.mape_pct.learned"
    assert (results["fusion-below-baselines"].value, results["fusion-below-baselines"].met) == (1.1, False)
    assert results["tile-pick"].met is None
    simulated = evaluation()
    simulated.manifest = simulated.manifest.model_copy(update={"origin": "simulated"})
    assert measured_goal_results(data(evaluations={"accuracy": simulated}))[2].met is None


def test_measured_and_simulated_kernels_are_joined_by_fingerprint(tmp_path):
    """Of two measured kernels the simulated shard has one."""
    paths = []
    for folder, times, origin in (("measured", [[10.0], [20.0]], "measured"), ("simulated", [[15.0]], "simulated")):
        shard = hand_made_shard(times, [[1.0]] * len(times), task="fusion", hardware=f"local-{origin}")
        path = write_shard(tmp_path / "dataset" / "d" / "fusion" / folder / "net", shard)
        manifest = DatasetArtifact.read_manifest(path.parent)
        paths.append((path.parent, manifest.model_copy(update={"origin": origin})))
    beside = read_measured(dict(paths)).beside
    assert beside["runtime_s"].tolist() == pytest.approx([10e-6])
    assert beside["predicted_s"].tolist() == pytest.approx([15e-6])
    assert np.array_equal(beside["simulated_on"].to_numpy(), ["local-simulated"])
