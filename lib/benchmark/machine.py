"""The machine that a benchmark runs on."""

import os
import platform
from pathlib import Path

from schemas.benchmark import Machine
from schemas.software import software_versions


def this_machine() -> Machine:
    """Processor, cores, memory and software of this machine."""
    return Machine(
        processor=_processor(),
        cores=usable_cores(),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        load=round(os.getloadavg()[0], 2),
        system=f"{platform.system()} {platform.release()}",
        software=software_versions(),
    )


def usable_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processor() -> str:
    """Linux tells the model in a file; elsewhere Python knows at least the architecture."""
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
