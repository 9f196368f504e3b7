"""Where compiled code is kept between processes.

Numba keeps a function's machine code until the function's own file changes; it does not notice a change in
another file whose code was compiled into it. So each state of the compiled packages gets a folder of its own.
"""

import hashlib
import os
import shutil
from pathlib import Path

LIBRARY = Path(__file__).parent
COMPILED_PACKAGES = ("program", "schedule", "hardware", "cost", "dataset", "evaluation", "gnn", "search", "residency")
KEPT_STATES = 4
"""Folders of older states that are kept, e.g. for a branch that one comes back to."""


def keep_compiled_code(cache: Path) -> None:
    """Point Numba at a folder below `cache` for this state of the code, before Numba is imported.

    A choice already made (`NUMBA_CACHE_DIR`) is left alone, and so is Numba's own, a folder in the user's home,
    where `cache` can't be written.
    """
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    digest = hashlib.sha256()
    for package in COMPILED_PACKAGES:
        for file in sorted((LIBRARY / package).rglob("*.py")):
            digest.update(file.read_bytes())
    folder = cache / digest.hexdigest()[:16]
    try:
        if not folder.is_dir():
            _forget_old_states(cache)
            folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    if os.access(folder, os.W_OK):
        os.environ["NUMBA_CACHE_DIR"] = str(folder)


def _forget_old_states(cache: Path) -> None:
    if cache.is_dir():
        states = sorted((entry for entry in cache.iterdir() if entry.is_dir()), key=lambda entry: entry.stat().st_mtime)
        for state in states[:-KEPT_STATES]:
            shutil.rmtree(state, ignore_errors=True)
