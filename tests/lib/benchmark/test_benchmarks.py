"""Every benchmark on tiny inputs: its figures come out with their names, units and sensible sizes."""

import pytest

from lib.benchmark import autotune, dataset, dry_run, learned, mapper, tile_rows, traced_program, trial
from lib.benchmark.__main__ import main
from lib.benchmark.registry import BENCHMARKS
from lib.program.program_table import program_to_arrays
from schemas.program_artifact import ProgramArtifact
from tests.lib.benchmark.small_setting import product, small_setting


@pytest.fixture(scope="module")
def setting(tmp_path_factory):
    return small_setting(tmp_path_factory.mktemp("bench"))


def units(measurements) -> dict[str, str]:
    assert all(value > 0 for measurement in measurements for value in measurement.values)
    assert all(measurement.values for measurement in measurements)
    return {measurement.name: measurement.unit for measurement in measurements}


def test_cost_models(setting):
    assert units(tile_rows.simulator_rates(setting)) == {
        "bench.simulator.tile.rows_per_s": "1/s",
        "bench.simulator.tile.rows_per_s_per_core": "1/s",
    }
    assert units(tile_rows.analytical_rates(setting)) == {"bench.analytical.argmin.tiles_per_s": "1/s"}


def test_mapper(setting):
    disposed, priced = mapper.mapper_rates(setting)
    assert units([disposed, priced]) == {
        "bench.mapper.schedules_per_s": "1/s",
        "bench.mapper.priced_per_s": "1/s",
    }
    assert priced.value <= disposed.value


def test_trial_and_search(setting):
    (measured,) = trial.trial_seconds(setting._replace(budget_s=0.05))
    assert units([measured]) == {"bench.trial.efficientnet-b7.median_s": "s"}
    (measured,) = trial.search_rate(setting)
    assert units([measured]) == {"bench.search.efficientnet-b7.trials_per_s": "1/s"}
    assert "first 3 trials" in measured.title


def test_fusion_moves(setting, monkeypatch):
    monkeypatch.setattr(autotune, "CHAINS", {2: 2, 1: 2})
    assert units(autotune.fusion_moves(setting)) == {
        "bench.autotune.fusion.moves_per_s": "1/s",
        "bench.autotune.fusion.moves_per_s_one_chain": "1/s",
    }


def test_dataset(setting):
    rate, seconds, memory = dataset.dataset_rate(setting)
    assert units([rate, seconds, memory]) == {
        "bench.dataset.tile.rows_per_s": "1/s",
        "bench.dataset.tile.8e-06m_rows_s": "s",
        "bench.dataset.tile.peak_memory_bytes": "bytes",
    }
    assert seconds.value == pytest.approx(8 / rate.value)
    assert memory.value > 50 * 2**20  # an interpreter with its libraries
    assert sorted(entry.name for entry in setting.folder.iterdir()) == ["program"]  # nothing is left behind


def test_an_extrapolated_dataset_says_so(setting):
    _, seconds, _ = dataset.dataset_rate(setting._replace(dataset_rows=25_000_000, dataset_budget_s=0.0))
    assert seconds.name == "bench.dataset.tile.25m_rows_extrapolated_s"
    assert seconds.note.startswith("extrapolated from")


def test_learned(setting):
    assert units(learned.learned_rates(setting)) == {
        "bench.learned.late.rows_per_s": "1/s",
        "bench.learned.middle.rows_per_s": "1/s",
    }


def test_dry_run(setting, monkeypatch):
    monkeypatch.setattr(dry_run, "STUDY", "workflow/studies/tiny.yaml")
    (measured,) = dry_run.dry_run_seconds(setting)
    assert units([measured]) == {"bench.snakemake.dry_run.paper_s": "s"}


def test_a_dry_run_that_fails_is_no_time(setting, monkeypatch):
    monkeypatch.setattr(dry_run, "STUDY", "no-such-study.yaml")
    with pytest.raises(RuntimeError, match="no-such-study"):
        dry_run.dry_run_seconds(setting)


def test_the_traced_program_is_kept_until_its_code_changes(setting, monkeypatch):
    traced = []

    def trace(folder, spec, code):
        traced.append(code)
        contents = {"program.npz": program_to_arrays(product())}
        ProgramArtifact.write(folder, id="small", origin="none", code=code, spec=spec, contents=contents)

    monkeypatch.setattr(traced_program, "_trace_apart", trace)
    folder = traced_program.traced_program(setting.folder / "programs")
    assert traced_program.traced_program(setting.folder / "programs") == folder
    assert len(traced) == 1
    monkeypatch.setattr(traced_program, "code_fingerprint", lambda *arguments: "changed")
    traced_program.traced_program(setting.folder / "programs")
    assert traced[1:] == ["changed"]


def test_an_unknown_benchmark_is_answered_with_the_known(capsys):
    with pytest.raises(SystemExit):
        main(["--only", "simulatr"])
    error = capsys.readouterr().err
    assert "did you mean 'simulator'?" in error
    assert all(name in error for name in BENCHMARKS)
