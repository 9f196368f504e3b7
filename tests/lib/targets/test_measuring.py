"""Measuring: on its cores, in passes, past modules that fail, crash and hang, and never twice."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from lib.cost.cost_model import Reason
from lib.job import REPOSITORY
from lib.targets.measurement_cache import FILE, Failure, MeasurementCache, MeasurementCacheError, Visit
from lib.targets.measuring import Measuring, noise_floor_pct, settings_from_spec
from lib.targets.measuring_passes import FURTHER_PASSES, MeasuringSettings, passes_of, visits_needed
from lib.targets.measuring_process import MeasuringError
from lib.targets.measuring_worker import CLOCKS, clock_of, fastest_run_s
from lib.targets.module import Module
from schemas.measure import Measure
from tests.lib.targets.fake_device import LOADS

FAKE = "tests.lib.targets.fake_device"
CORE = min(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
QUICK = MeasuringSettings(
    "cpu", (CORE,), 1, batches=2, batch_s=0.001, visits=1, passes=2, timeout_s=60.0, noise_limit_pct=1e6
)


def measured(texts: list[str], settings: MeasuringSettings = QUICK, cache: Path | None = None):
    with Measuring("xla", settings, cache, device_module=FAKE) as measuring:
        return measuring.measure([Module("xla", text) for text in texts])


@pytest.fixture
def loads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """File with a line for each module that was loaded."""
    file = tmp_path / "loads"
    file.touch()
    monkeypatch.setenv(LOADS, str(file))
    return file


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines()


class Timed:
    """A device whose runs take what `seconds` says, batch after batch, and its clock."""

    def __init__(self, *seconds: float):
        self.now, self.seconds, self.runs = 0.0, seconds, []

    def clock(self) -> float:
        return self.now

    def run(self, times: int) -> None:
        self.runs.append(times)
        self.now += times * self.seconds[min(len(self.runs), len(self.seconds)) - 1]


def test_the_fastest_of_batches_that_are_long_enough_counts():
    """1 ms runs in batches of 5 ms: after the warm-up of 1 and 1 runs, batches of 6 runs; the third is the fastest."""
    device = Timed(0.002, 0.001, 0.003, 0.002, 0.0009, 0.002)
    assert fastest_run_s(device.run, 4, 0.005, device.clock) == pytest.approx(0.0009)
    assert device.runs == [1, 1, 6, 6, 6, 6]


def test_a_batch_that_is_too_short_counts_for_nothing():
    """The machine gets faster after the warm-up: 6 runs then take 3 ms."""
    device = Timed(0.001, 0.001, 0.0005)
    assert fastest_run_s(device.run, 2, 0.005, device.clock) == pytest.approx(0.0005)
    assert device.runs == [1, 1, 6, 12, 12]


def test_time_that_others_have_the_core_does_not_count_where_one_thread_works():
    assert [clock_of("cpu", 1), clock_of("cpu", 2), clock_of("gpu", 1)] == ["process", "wall", "wall"]
    seconds = fastest_run_s(lambda runs: time.sleep(0.001 * runs) or spin(0.002 * runs), 3, 0.004, CLOCKS["process"])
    assert seconds == pytest.approx(0.002, rel=0.4)


def spin(cpu_s: float) -> None:
    until = time.process_time() + cpu_s
    while time.process_time() < until:
        pass


def test_passes_are_repeated_as_long_as_the_fastest_two_differ():
    def needed(*seconds: float) -> int:
        return visits_needed(visits(*seconds), QUICK._replace(noise_limit_pct=3.0))

    assert [needed(), needed(1.0), needed(1.0, 1.05), needed(1.0, 1.07)] == [2, 2, 2, 3]
    assert [needed(1.0, 1.2, 1.05), needed(1.2, 1.0, 1.1), needed(1.2, 1.0, 1.1, 0.99)] == [3, 4, 4]
    assert needed(1.0, 2.0, 3.0, 4.0, 5.0, 6.0) == 2 + FURTHER_PASSES


def visits(*seconds: float) -> list[Visit]:
    return [Visit(s, 0, 0, 0, None, None) for s in seconds]


def test_a_pass_is_the_median_of_its_visits_and_the_usual_ones_take_turns():
    """Two passes of three visits: 1, 3, 8 and 2, 7, 5; a third one of 9, 4, 6 once it is complete. Passes of 3 and 5
    differ too much at first."""
    settings = QUICK._replace(visits=3, batches=20, noise_limit_pct=3.0)
    assert settings.batches_a_visit == 7
    taken = visits(1.0, 2.0, 3.0, 7.0, 8.0, 5.0, 9.0, 4.0, 6.0)
    assert [passes_of(taken[:number], settings) for number in (5, 6, 8, 9)] == [[], [3, 5], [3, 5], [3, 5, 6]]
    assert [visits_needed(taken[:number], settings) for number in (0, 5, 6, 8, 9)] == [6, 6, 9, 9, 12]
    assert visits_needed(visits(*[1.0] * 6), settings) == 6


def test_the_noise_floor_is_the_median_difference_between_two_passes():
    """|1 - 1.02| / 1.01 = 1.98 %, 0, and 10 / 105 = 9.52 %; further passes and failures don't count."""
    passes = np.array([[1.0, 1.02, 5.0], [2.0, 2.0, 2.0], [100.0, 110.0, 100.0], [np.nan, np.nan, np.nan]])
    assert noise_floor_pct(passes) == pytest.approx(100 * 0.02 / 1.01)
    assert np.isnan(noise_floor_pct(passes[3:]))


def test_modules_are_measured_in_order_equal_ones_once(loads: Path):
    found = measured(["take 0.004", "take 0.002", "print", "take 0.004"])
    assert lines(loads) == ["take 0.004", "take 0.002", "print"] * 2
    assert found.seconds[0] == found.seconds[3] == found.passes[0].min()
    np.testing.assert_allclose(found.seconds[:2], [0.004, 0.002], rtol=0.3)
    assert found.passes.shape == (4, 2)
    assert found.reason.tolist() == [Reason.OK] * 4
    assert found.messages == [""] * 4
    np.testing.assert_array_equal(found.flops, [20, 20, 10, 20])
    np.testing.assert_array_equal(found.bytes, [3.0] * 4)
    assert (found.spent_s > found.compile_s).all()


def test_rounds_visit_all_modules(loads: Path):
    """Two passes of two visits are four rounds; what the first pass took is both its visits."""
    found = measured(["take 0.004", "take 0.002"], QUICK._replace(visits=2))
    assert lines(loads) == ["take 0.004", "take 0.002"] * 4
    assert (found.device["visits"], found.device["passes"], found.device["batches_a_visit"]) == (2, 2, 1)
    assert found.spent_s[0] > 2 * 0.004


def test_the_process_is_pinned_and_says_so():
    device = measured(["take 0.001"]).device
    assert device["affinity"] == f"[{CORE}]"
    assert (device["clock"], device["pinned"]) == ("process", hasattr(os, "sched_setaffinity"))
    assert (device["threads_told"], device["cores"], device["threads"]) == ("1", [CORE], 1)
    assert (device["modules"], device["failed"], device["timed_out"], device["passes"]) == (1, 0, 0, 2)
    assert device["noise_floor_pct"] >= 0
    assert device["load_average"] >= 0
    json.dumps(device, allow_nan=False)


def test_modules_that_fail_crash_or_hang_are_told_and_skipped(loads: Path):
    settings = QUICK._replace(timeout_s=4.0)
    texts = ["fail compile", "crash", "hang", "fail run", "take 0.001"]
    found = measured(texts, settings)
    assert found.reason.tolist() == [Reason.FAILED, Reason.FAILED, Reason.TIMED_OUT, Reason.FAILED, Reason.OK]
    assert found.messages == [
        "compiler: this text is no program",
        "crashed (SIGSEGV): Check failed: something is odd",
        "no answer within 4 s",
        "run: out of memory",
        "",
    ]
    assert np.isnan(found.seconds).tolist() == [True] * 4 + [False]
    assert np.isnan(found.passes[:4]).all()
    assert found.spent_s[2] >= 4.0
    assert (found.device["failed"], found.device["timed_out"]) == (3, 1)
    assert sorted(lines(loads)) == sorted(["fail compile", *["crash", "hang"] * 2, "fail run", *["take 0.001"] * 2])


def test_a_crash_that_is_not_repeated_is_forgiven(tmp_path: Path):
    found = measured([f"crash once {tmp_path / 'crashed'}", "take 0.001"])
    assert found.reason.tolist() == [Reason.OK, Reason.OK]


def test_outliers_are_measured_again(tmp_path: Path):
    """Passes of 5, 0.5, 5, 0.5 ms: the fastest two agree after the fourth."""
    settings = QUICK._replace(batch_s=0.01, noise_limit_pct=100.0)
    found = measured([f"alternate {tmp_path / 'state'}", "take 0.02"], settings)
    assert found.device["measured_again"] == 1
    assert found.passes[0, 0] > 3 * found.passes[0, 1]
    assert found.seconds[0] <= found.passes[0, 1]


def test_nothing_is_measured_twice(tmp_path: Path, loads: Path):
    first = measured(["take 0.001", "fail compile"], cache=tmp_path / "kept")
    again = measured(["fail compile", "take 0.001", "take 0.002"], cache=tmp_path / "kept")
    assert lines(loads) == ["take 0.001", "fail compile", "take 0.001", *["take 0.002"] * 2]
    assert again.seconds[1] == first.seconds[0]
    assert again.messages[0] == first.messages[1]
    np.testing.assert_array_equal(again.passes[1], first.passes[0])
    assert (again.spent_s[1], again.compile_s[1]) == (first.spent_s[0], first.compile_s[0])
    equal = measured(["take 0.001", "fail compile"], cache=tmp_path / "kept").device
    assert equal == first.device


def test_other_settings_are_another_measurement(tmp_path: Path, loads: Path):
    measured(["take 0.001"], cache=tmp_path)
    measured(["take 0.001"], QUICK._replace(batches=3), tmp_path)
    assert len(lines(loads)) == 4
    measured(["take 0.001"], QUICK._replace(passes=3, timeout_s=9.0), tmp_path)
    assert len(lines(loads)) == 5


def test_a_longer_timeout_gives_another_try(tmp_path: Path, loads: Path):
    measured(["hang"], QUICK._replace(timeout_s=0.5), tmp_path)
    measured(["hang"], QUICK._replace(timeout_s=0.4), tmp_path)
    assert len(lines(loads)) == 2
    assert measured(["hang"], QUICK._replace(timeout_s=0.6), tmp_path).messages == ["no answer within 0.6 s"]
    assert len(lines(loads)) == 4


MEASURE = """
import sys
from pathlib import Path
from tests.lib.targets.test_measuring import measured
measured(sys.argv[2:], cache=Path(sys.argv[1]))
"""
MANY = [f"take 0.00{number}" for number in range(10, 22)]


def measuring_of_its_own(cache: Path, texts: list[str]) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", MEASURE, str(cache), *texts], cwd=REPOSITORY)


def test_a_kill_loses_one_module_at_most(tmp_path: Path, loads: Path):
    process = measuring_of_its_own(tmp_path, MANY)
    while len(lines(loads)) < 5:
        time.sleep(0.01)
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    found = measured(MANY, cache=tmp_path)
    assert (found.reason == Reason.OK).all()
    assert len(lines(loads)) in (24, 25)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the process ends by its alarm")
def test_a_kill_ends_what_is_measured(tmp_path: Path):
    """At once, and not when the module's time is up: its process would disturb the next one."""
    process = measuring_of_its_own(tmp_path, [f"hang {tmp_path / 'number'}"])
    while not (tmp_path / "number").is_file() or not (tmp_path / "number").read_text():
        time.sleep(0.01)
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    number, until = int((tmp_path / "number").read_text()), time.monotonic() + 20
    while is_running(number):
        assert time.monotonic() < until
        time.sleep(0.01)


def is_running(number: int) -> bool:
    status = Path(f"/proc/{number}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_two_processes_share_a_cache_and_take_turns(tmp_path: Path, loads: Path):
    processes = [measuring_of_its_own(tmp_path, MANY) for _ in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    assert len(lines(loads)) == 24


def test_two_writers_do_not_disturb_one_another(tmp_path: Path):
    caches = [MeasurementCache(tmp_path, {"device": device}) for device in ("a", "a", "b")]
    one, other = Visit(1.0, 0.1, 0.2, 0.5, None, 7.0), Visit(2.0, 0.1, 0.2, 0.5, None, None)
    caches[0].add_visit("m", 0, one)
    caches[1].add_visit("m", 0, other)
    caches[1].add_visit("m", 1, other)
    caches[1].add_failure("n", Failure(5, "why", 3.0, 0.1))
    assert caches[0].visits("m") == [one, other]
    assert caches[0].failure("n", 3.0) == Failure(5, "why", 3.0, 0.1)
    assert (caches[0].failure("n", 3.1), caches[2].visits("m"), caches[2].failure("n", 1.0)) == (None, [], None)


def test_a_damaged_cache_is_told_with_its_remedy(tmp_path: Path):
    (tmp_path / FILE).write_bytes(b"no database, whatever it is called\n" * 99)
    with pytest.raises(MeasurementCacheError, match=r"measurements.sqlite: is damaged: .* delete the file"):
        measured(["take 0.001"], cache=tmp_path)


def test_a_cache_of_another_version_is_told_with_its_remedy(tmp_path: Path):
    MeasurementCache(tmp_path, {}).close()
    with sqlite3.connect(tmp_path / FILE) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(MeasurementCacheError, match=r"its version is 99, this program reads 2. What to do: delete"):
        MeasurementCache(tmp_path, {})


def test_a_folder_that_can_not_be_written_is_told(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(MeasurementCacheError, match="`measurements:` of the study names a folder"):
        MeasurementCache(tmp_path / "file", {})


def test_what_hinders_measuring_is_told_in_words(tmp_path: Path):
    with pytest.raises(MeasuringError, match=r"measure.cores: got 4000, which this job can't use; allowed here: "):
        measured(["take 0.001"], QUICK._replace(cores=(4000,)))
    with pytest.raises(MeasuringError, match=r"can't be used: there is no gpu"):
        measured(["take 0.001"], QUICK._replace(platform="gpu"))
    with pytest.raises(MeasuringError, match=r"is not installed, so nothing can be measured; `make devices` installs"):
        Measuring("xla", QUICK, device_module="tests.lib.targets.no_such_device")


def test_a_module_of_another_runtime_is_a_mistake():
    with Measuring("xla", QUICK, device_module=FAKE) as measuring, pytest.raises(ValueError, match="takes 'xla'"):
        measuring.measure([Module("iree", "take 0.001")])


def test_a_noisy_machine_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    texts = [f"alternate {tmp_path / str(number)}" for number in range(8)]
    measured(texts, QUICK._replace(batch_s=0.004, noise_limit_pct=100.0))
    told = capsys.readouterr().err
    assert "This machine is too noisy: half of 8 modules differ by more than" in told
    assert "the limit is 100 %. What to do: end other programs, or take other cores" in told
    measured(texts[:7], QUICK._replace(batch_s=0.004, noise_limit_pct=100.0))
    assert "noisy" not in capsys.readouterr().err


def test_settings_are_those_of_the_study():
    assert settings_from_spec(Measure(cores=[1, 0]).resolved()) == MeasuringSettings(
        "cpu", (0, 1), 2, batches=20, batch_s=0.005, visits=4, passes=2, timeout_s=30.0, noise_limit_pct=3.0
    )
