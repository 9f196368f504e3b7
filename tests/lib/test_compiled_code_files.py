"""A folder of compiled code that unlike machines and several processes share."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FUNCTION = """
from numba import njit

@njit(cache=True)
def twice(x):
    return 2 * x
"""
CALL = "import lib, double; print(double.twice(21), sum(double.twice.stats.cache_hits.values()))"
SAVE = """
import sys, time
from pathlib import Path
import lib
from numba.core.caching import IndexDataCacheFile
import lib.compiled_code_files

folder, first = Path(sys.argv[1]), int(sys.argv[2])
files = IndexDataCacheFile(str(folder), "function", "stamp")
(folder / f"ready {first}").touch()
while len(list(folder.glob("ready *"))) < 2:
    time.sleep(0.001)
for number in range(first, 200, 2):
    files.save(number, number)
"""


def environment(folder, **more) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    return {**kept, "NUMBA_CACHE_DIR": str(folder / "code"), "PYTHONPATH": f"{ROOT}:{folder}", **more}


@pytest.fixture
def call(tmp_path):
    (tmp_path / "double.py").write_text(FUNCTION)

    def run(**more) -> str:
        command = [sys.executable, "-c", CALL]
        return subprocess.run(
            command, env=environment(tmp_path, **more), check=True, capture_output=True, text=True
        ).stdout

    return run


def test_machines_with_other_cpus_keep_their_own_code(call, tmp_path):
    generic = {"NUMBA_CPU_NAME": "generic"}
    assert call() == "42 0\n"
    assert call(**generic) == "42 0\n"  # code of the first machine is not taken
    assert call() == "42 1\n"  # nor has it been overwritten
    assert call(**generic) == "42 1\n"
    assert len(list((tmp_path / "code").rglob("*.nbi"))) == 2


def test_processes_that_compile_at_once_do_not_mix_up_their_code(tmp_path):
    commands = [[sys.executable, "-c", SAVE, str(tmp_path), str(first)] for first in range(2)]
    writers = [subprocess.Popen(command, env=environment(tmp_path)) for command in commands]
    assert [writer.wait() for writer in writers] == [0, 0]
    from numba.core.caching import IndexDataCacheFile

    files = IndexDataCacheFile(str(tmp_path), "function", "stamp")
    assert [files.load(number) for number in range(200)] == list(range(200))
