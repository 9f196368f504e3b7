"""Writes artifacts and is killed at each step: `python -m tests.schemas.killed_writes FOLDER`, which holds `old`.

For every step that changes the disk there is FOLDER/killed/N/a afterwards, as a kill before step N left it.
"""

import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from tests.schemas.test_artifact import write

STEPS = [(os, "replace"), (os, "unlink"), (tempfile, "mkdtemp"), (shutil, "rmtree"), (Path, "unlink"), (Path, "mkdir"),
         (Path, "write_text")]  # fmt: skip


def die_before(step: int) -> None:
    """Kill this process when it is about to change the disk for the time number `step`, counted from 0."""
    done = 0

    def counted(function):
        def call(*given, **named):
            nonlocal done
            if done == step:
                os.kill(os.getpid(), signal.SIGKILL)
            done += 1
            return function(*given, **named)

        return call

    for module, name in STEPS:
        setattr(module, name, counted(getattr(module, name)))


def main(folder: Path) -> int:
    for step in range(100):
        target = folder / "killed" / f"{step:02}" / "a"
        shutil.copytree(folder / "old", target)
        child = os.fork()
        if child == 0:
            die_before(step)
            write(target, **{"note.txt": "new"})
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            shutil.rmtree(target.parent)
            return os.waitstatus_to_exitcode(status)
    return 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
