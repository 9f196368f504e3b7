"""A device for tests of measuring: what a module does stands in its text.

`take 0.001` (CPU seconds), `fail compile`, `fail run`, `crash`, `print`, `hang`, `hang FILE` (which gets the process's
number), `crash once FILE`, `alternate FILE` (every other load is ten times slower). Each load adds a line to the file
that TILEWRIGHT_TEST_LOADS names.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

LOADS = "TILEWRIGHT_TEST_LOADS"


def device(platform: str) -> dict[str, str]:
    if platform != "cpu":
        raise ValueError(f"there is no {platform}")
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else {0}
    return {"device": "fake", "affinity": str(sorted(cores)), "threads_told": os.environ["NPROC"]}


def load(text: str, platform: str, threads: int) -> Callable[[int], None]:
    if LOADS in os.environ:
        with Path(os.environ[LOADS]).open("a") as stream:
            stream.write(text + "\n")
    word, _, rest = text.partition(" ")
    if text == "fail compile":
        raise ValueError("this   text\nis no program")
    if word == "crash" and not (rest.startswith("once") and Path(rest.removeprefix("once ")).exists()):
        if rest.startswith("once"):
            Path(rest.removeprefix("once ")).touch()
        print("Check failed: something is odd", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    if word == "hang":
        if rest:
            Path(rest).write_text(str(os.getpid()))
        time.sleep(600)
    if word == "print":
        print("a library says something")
    seconds = float(rest) if word == "take" else 0.0005
    if word == "alternate":
        file = Path(rest)
        seconds = 0.0005 if file.exists() else 0.005
        file.unlink() if file.exists() else file.touch()

    def run(times: int) -> None:
        if text == "fail run":
            raise RuntimeError("out of memory")
        until = time.process_time() + seconds * times
        while time.process_time() < until:
            pass

    return run


def cost_analysis(text: str) -> dict[str, float]:
    return {"flops": 2.0 * len(text), "bytes": 3.0}
