"""A whole island: its artifact, a search that a kill interrupts, more trials, limits that nothing meets."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from lib.cost.simulator import Simulator
from lib.journal import Journal, fingerprint
from lib.search.search import RAISABLE, run_search
from lib.search.space import datapath_of
from lib.search.trial_journal import TrialJournal
from schemas.hardware import Hardware
from schemas.search_artifact import SearchArtifact
from schemas.search_space import DEFAULT_SPACE
from tests.lib.hardware.designs import TPU_V3
from tests.lib.search.toy_workload import toy_kernels

FILES = tuple(SearchArtifact.files)
REPOSITORY = Path(__file__).parents[3]
SPEC = {
    "id": "toy", "workloads": ["toy"], "weights": {"toy": 1.0},
    "baseline": {"id": "tpu-v3", "runtime": "simulated", "datapath": TPU_V3}, "baseline_schedule": "default",
    "objective": "perf-per-tdp", "optimiser": "tpe", "trials": 25, "island": 1, "residency": "none",
    "limits": {"area_ratio": 1.67, "tdp_ratio": 2.0, "latency_s": None}, "surrogate": "none", "space": DEFAULT_SPACE,
    "seed": 1,
}  # fmt: skip


def run(spec, journal=None):
    return run_search(spec, {"toy": toy_kernels}, Simulator(), journal)


def write(folder, spec, journal=None):
    SearchArtifact.write(
        folder, id="toy/island-1", origin="simulated", code="c", spec=spec, contents=run(spec, journal)
    )
    return SearchArtifact.read(folder)


def test_a_search_makes_a_valid_artifact(tmp_path):
    artifact = write(tmp_path / "a", SPEC)
    trials = artifact["trials.parquet"]
    ok = trials[trials.state == "ok"]
    best = ok.loc[ok.perf_per_tdp_gain.idxmax()]
    assert trials.best_so_far.iloc[-1] == best.value == best.perf_per_tdp_gain
    assert (trials.reason == "").equals(trials.state == "ok")
    assert trials.pareto[ok.index].any()
    assert not trials.pareto[trials.state != "ok"].any()

    explained = artifact["explained.parquet"]
    assert explained["share_gain"].sum() == pytest.approx(explained["ladder_gain"].sum())

    entry = yaml.safe_load(artifact["best.yaml"])["toy-best"]
    design = artifact["designs.json"].best
    assert Hardware.model_validate(entry).datapath.given() == design.hardware
    three = ok.nlargest(3, "value")
    points = [{name: row[name] for name in DEFAULT_SPACE} for _, row in three.iterrows()]
    assert design.hardware in [datapath_of(point) for point in points]

    kernels = artifact["kernels.parquet"]
    assert kernels.executions @ kernels.baseline_s == pytest.approx(
        1 / artifact["designs.json"].baseline.queries_per_s["toy"]
    )
    assert kernels.executions @ kernels.best_s == pytest.approx(1 / design.queries_per_s["toy"])
    assert (kernels.best_s > 0).all()


def interrupted(folder, spec, *, stop=None):
    """Runs a search in a process of its own with a journal in `folder`; killed once there are `stop` records."""
    code = f"from tests.lib.search.killed_search import main; main({spec!r})"
    with subprocess.Popen([sys.executable, "-c", code, str(folder)], cwd=REPOSITORY) as process:
        while stop is not None and len(Journal(folder / "journal").records) < stop and process.poll() is None:
            time.sleep(0.01)
        if stop is not None:
            process.kill()
    assert process.returncode == (0 if stop is None else -signal.SIGKILL)


def same_bytes(one, other):
    return all((one / name).read_bytes() == (other / name).read_bytes() for name in ["manifest.json", *FILES])


@pytest.mark.parametrize("optimiser", ["swarm", "cma-es"])
def test_a_killed_search_continues_to_the_same_bytes(tmp_path, optimiser):
    spec = SPEC | {"optimiser": optimiser, "trials": 300}
    write(tmp_path / "whole", spec)
    interrupted(tmp_path / "killed", spec, stop=20)
    left = len(TrialJournal(Journal(tmp_path / "killed" / "journal")).history())
    assert 20 <= left < 300
    interrupted(tmp_path / "killed", spec)
    assert same_bytes(tmp_path / "killed" / "artifact", tmp_path / "whole")


def test_more_trials_continue_and_fewer_are_the_first(tmp_path):
    journal = Journal(tmp_path / "journal")
    write(tmp_path / "whole", SPEC | {"trials": 30})
    write(tmp_path / "first", SPEC | {"trials": 20}, journal)
    write(tmp_path / "continued", SPEC | {"trials": 30}, journal)
    assert len(TrialJournal(journal).history()) == 30
    assert same_bytes(tmp_path / "continued", tmp_path / "whole")
    write(tmp_path / "again", SPEC | {"trials": 20}, journal)
    assert same_bytes(tmp_path / "again", tmp_path / "first")


def test_the_fingerprint_of_a_search_leaves_out_the_trials_alone():
    def of(**changes):
        return fingerprint(SPEC | changes, "code", raisable=RAISABLE)

    assert of(trials=5000) == of()
    assert of(space=DEFAULT_SPACE | {"pes_x": [1, 2]}) != of()
    assert of(seed=2) != of()
    assert of(island=2) != of()
    assert of(limits={"area_ratio": 1.0, "tdp_ratio": 2.0, "latency_s": None}) != of()


def test_a_search_without_a_design_says_which_limits_were_too_tight(caplog):
    spec = SPEC | {"optimiser": "random", "trials": 20, "limits": SPEC["limits"] | {"area_ratio": 0.001}}
    contents = run(spec)
    designs = contents["designs.json"]
    assert designs.best is None
    (unmet,) = designs.unmet
    smallest = contents["trials.parquet"].area_ratio.min()
    assert (unmet.limit, unmet.allowed) == ("area_ratio", 0.001)
    assert unmet.nearest == pytest.approx(smallest)
    assert contents["trials.parquet"].area_ratio[unmet.trial] == smallest
    assert contents["best.yaml"].startswith("# None of 20 trials")
    assert f"# none of 20 designs keeps area_ratio 0.001; trial {unmet.trial}, the nearest" in contents["best.yaml"]
    assert "none of 20 designs keeps area_ratio 0.001" in caplog.text
    for name, content in contents.items():
        assert SearchArtifact.files[name].problem(content) is None
    assert SearchArtifact.check(contents) is None


def test_a_screened_search_continues_too():
    spec = SPEC | {"surrogate": "regression", "optimiser": "swarm", "trials": 45}
    whole = run(spec)["trials.parquet"]
    assert not whole.equals(run(spec | {"surrogate": "none"})["trials.parquet"])
    assert not whole.state.isin(["area", "tdp"]).any()
    assert (
        run(spec | {"trials": 30})["trials.parquet"]
        .drop(columns="pareto")
        .equals(whole.iloc[:30].drop(columns="pareto"))
    )
