"""The measuring process as its parent sees it: started, asked, ended when it hangs; and one at a time on a machine."""

import contextlib
import fcntl
import json
import logging
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lib.job import REPOSITORY
from lib.targets import measuring_worker

LOG = logging.getLogger("tilewright")

START_TIMEOUT_S = 300.0
"""Longest time until a device's packages are loaded."""
LOCK_FILE = "tilewright-measuring.lock"
"""In the machine's folder of temporary files."""


class MeasuringError(RuntimeError):
    """Nothing can be measured on this machine; the message says why and what to do."""


class WorkerCrashedError(RuntimeError):
    """The process ended while it measured a module."""


class WorkerHangsError(RuntimeError):
    """The process did not answer in time and was ended."""


class MeasuringProcess:
    """One process, pinned to `cores`, that measures modules on the device that `device_module` names."""

    def __init__(self, device_module: str, platform: str, cores: tuple[int, ...], threads: int):
        """Starts it. Raises MeasuringError where it can't be: cores that are not there, packages that are missing."""
        _check_cores(cores)
        setting = {"device_module": device_module, "platform": platform, "cores": list(cores)}
        paths = [str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {"PYTHONPATH": os.pathsep.join(paths), "NPROC": str(threads), "OMP_NUM_THREADS": str(threads)}
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115 (until the process ends)
        self._process = subprocess.Popen(
            [sys.executable, "-m", measuring_worker.__name__, json.dumps(setting)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._printed, bufsize=0,
            env=os.environ | environment, start_new_session=True,
        )  # fmt: skip
        try:
            hello = self._answer(START_TIMEOUT_S)
        except (WorkerCrashedError, WorkerHangsError) as error:
            raise MeasuringError(f"the device {device_module} ({platform}) can't be loaded: {error}") from None
        if "error" in hello:
            self.end()
            if "missing" in hello:
                text = (
                    f"{hello['missing']} is not installed, so nothing can be measured; `make devices` installs what is"
                )
                raise MeasuringError(f"{text} missing (requirements-devices.lock)")
            raise MeasuringError(f"the device {device_module} ({platform}) can't be used: {hello['error']}")
        self.device: dict[str, str] = hello["device"]

    def ask(self, request: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        """The answer to a request. Raises WorkerCrashedError or WorkerHangsError, and then the process is gone."""
        line = json.dumps({**request, "timeout_s": timeout_s}).encode() + b"\n"
        stdin = self._process.stdin
        assert stdin is not None
        try:
            while line:
                line = line[stdin.write(line) or 0 :]
        except BrokenPipeError:
            raise self._crashed() from None
        return self._answer(timeout_s)

    def end(self) -> None:
        """End the process, and whatever it started."""
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._printed.close()

    def _answer(self, timeout_s: float) -> dict[str, Any]:
        stdout = self._process.stdout
        assert stdout is not None
        content, until = b"", time.monotonic() + timeout_s
        while not content.endswith(b"\n"):
            ready, _, _ = select.select([stdout], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                self.end()
                raise WorkerHangsError(f"no answer within {timeout_s:g} s")
            part = os.read(stdout.fileno(), 1 << 16)
            if not part:
                raise self._crashed()
            content += part
        answer: dict[str, Any] = json.loads(content)
        return answer

    def _crashed(self) -> WorkerCrashedError:
        """How the process ended, and the last line that it printed."""
        status = self._process.wait()
        how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        size = self._printed.seek(0, os.SEEK_END)
        self._printed.seek(max(0, size - 4096))
        lines = self._printed.read().decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        self.end()
        return WorkerCrashedError(
            f"crashed ({how})" + (f": {last[: measuring_worker.LONGEST_MESSAGE]}" if last else "")
        )


def _check_cores(cores: tuple[int, ...]) -> None:
    there = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    absent = sorted(set(cores) - there)
    if absent:
        raise MeasuringError(
            f"measure.cores: got {', '.join(map(str, absent))}, which this job can't use; allowed here: "
            f"{', '.join(map(str, sorted(there)))}"
        )


@contextmanager
def sole_measuring() -> Iterator[None]:
    """Wait until no other process of this machine measures, then keep others waiting.

    The operating system frees the lock with the process, however that ends.
    """
    lock = _lock_file()
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            text = "another process measures on this machine; waiting until it has ended"
            LOG.warning(text)
            print(text, file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _lock_file() -> int:
    """Descriptor of the machine's lock file, which belongs to whoever measured first."""
    path = Path(tempfile.gettempdir()) / LOCK_FILE
    with contextlib.suppress(FileNotFoundError):
        return os.open(path, os.O_RDONLY)
    return os.open(path, os.O_RDONLY | os.O_CREAT, 0o644)
