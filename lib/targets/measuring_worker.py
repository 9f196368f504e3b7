"""The process that measures: `python -m lib.targets.measuring_worker`, started by `lib.targets.measuring_process`.

It pins itself to its cores before it imports a device's packages, as these size their thread pools when they load. It
reads requests from standard input and answers on what was its standard output, each a line of JSON; whatever libraries
print goes to standard error. A device that crashes or hangs takes this process along and no other.
"""

import ctypes
import gc
import importlib
import json
import math
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # so that fingerprints of jobs' code take them in
    from lib.targets import iree_device, xla_device  # noqa: F401

DEVICE_MODULES = {"xla": "lib.targets.xla_device", "iree": "lib.targets.iree_device"}
"""By runtime."""
CLOCKS = {"process": time.process_time, "wall": time.perf_counter}
TIMING = 2
"""Version of `fastest_run_s`."""
PR_SET_PDEATHSIG = 1
"""Of prctl(2), from linux/prctl.h."""
LONGEST_MESSAGE = 500
"""Characters of a compiler's message that are kept."""
LARGEST_GROWTH = 10
"""Times as many runs that a batch may have as one that was too short."""


def clock_of(platform: str, threads: int) -> str:
    """The clock that runs are timed by: the CPU time of this `process` where one thread does all the work, so that time
    in which other programs have the core does not count; else the `wall`."""
    return "process" if platform == "cpu" and threads == 1 else "wall"


def fastest_run_s(
    run: Callable[[int], None], batches: int, batch_s: float, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Seconds of one run in the fastest of `batches` batches of at least `batch_s` each, after a warm-up.

    `run(n)` runs n times. The warm-up is the first run and the batches that find out how many runs take `batch_s`.
    """
    run(1)
    runs, timed, fastest_s = 1, 0, math.inf
    while timed < batches:
        started = clock()
        run(runs)
        taken_s = clock() - started
        if taken_s < batch_s:
            growth = min(1.2 * batch_s / max(taken_s, 1e-9), LARGEST_GROWTH)
            runs = max(runs + 1, math.ceil(runs * growth))
            continue
        fastest_s = min(fastest_s, taken_s / runs)
        timed += 1
    return fastest_s


def measured(device: Any, request: dict[str, Any]) -> dict[str, Any]:
    """One pass of one module: seconds of a run, and what it took to get them; or `error` with a message."""
    started, stage = time.perf_counter(), "compiler"
    try:
        run = device.load(request["text"], request["platform"], request["threads"])
        compile_s, stage = time.perf_counter() - started, "run"
        clock = CLOCKS[clock_of(request["platform"], request["threads"])]
        seconds = fastest_run_s(run, request["batches"], request["batch_s"], clock)
        spent_s = time.perf_counter() - started
        stage = "cost analysis"
        wanted = request["costs"] and hasattr(device, "cost_analysis")
        costs = device.cost_analysis(request["text"]) if wanted else {}
    except Exception as error:
        words = " ".join(str(error).split()) or type(error).__name__
        return {"error": f"{stage}: {words[:LONGEST_MESSAGE]}", "spent_s": time.perf_counter() - started}
    return {
        "seconds": seconds, "compile_s": compile_s, "spent_s": spent_s, "load_average": os.getloadavg()[0],
        "flops": costs.get("flops"), "bytes": costs.get("bytes"),
    }  # fmt: skip


def end_with_parent() -> None:
    """Have the system end this process when its parent is killed. Elsewhere than on Linux it ends later, with its input
    or by its alarm."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> None:
    """Answer requests until standard input ends."""
    end_with_parent()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def answer(content: dict[str, Any]) -> None:
        print(json.dumps(content), file=answers, flush=True)

    setting = json.loads(sys.argv[1])
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, setting["cores"])
    try:
        name = setting["device_module"]
        device = importlib.import_module(DEVICE_MODULES.get(name, name))
        answer({"device": device.device(setting["platform"])})
    except ModuleNotFoundError as error:
        answer({"missing": error.name, "error": str(error)})
        return
    except Exception as error:
        answer({"error": " ".join(str(error).split()) or type(error).__name__})
        return
    gc.freeze()  # what stays is not looked through after each visit
    for line in sys.stdin:
        request = json.loads(line)
        signal.alarm(math.ceil(request["timeout_s"]) + 5)  # nobody waits for it any longer
        gc.disable()
        content = measured(device, request)
        gc.enable()
        gc.collect()
        signal.alarm(0)
        answer(content)


if __name__ == "__main__":
    main()
