"""Where compiled code is kept between processes.

Numba keeps a function's machine code until the function's own file changes; it does not notice a change in
another file whose code was compiled into it. So each state of the compiled packages gets a folder of its own.
"""

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

LIBRARY = Path(__file__).parent
COMPILED_PACKAGES = ("program", "schedule", "hardware", "cost", "residency", "dataset", "evaluation", "gnn", "search")
KEPT_STATES = 4
"""Folders of older states that are kept, e.g. for a branch that one comes back to."""
CACHE_FILES = "lib.compiled_code_files.CompiledCodeFiles"


def keep_compiled_code(cache: Path) -> None:
    """Point Numba at a folder for this state of the code, before Numba is imported.

    The folder lies below `cache`, or where that can't be written (a read-only checkout) below the user's cache folder
    (`XDG_CACHE_HOME`, else `~/.cache`), or below the system's temporary one. A choice already made (`NUMBA_CACHE_DIR`)
    stands.
    """
    if "NUMBA_CACHE_DIR" not in os.environ:
        state = _state_of_code()
        places = (cache, _user_cache(), Path(tempfile.gettempdir()) / f"tilewright-{os.getuid()}")
        folders = (_writable_folder(place, state) for place in places)
        folder = next((folder for folder in folders if folder is not None), None)
        if folder is None:
            return
        os.environ["NUMBA_CACHE_DIR"] = str(folder)
    os.environ.setdefault("NUMBA_CACHE_LOCATOR_CLASSES", f"{CACHE_FILES},UserWideCacheLocator")


def _state_of_code() -> str:
    digest = hashlib.sha256()
    for package in COMPILED_PACKAGES:
        for file in sorted((LIBRARY / package).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _user_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tilewright"


def _writable_folder(place: Path, state: str) -> Path | None:
    folder = place / state
    try:
        if not folder.is_dir():
            _forget_old_states(place)
            folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return None
    return folder


def _forget_old_states(cache: Path) -> None:
    if cache.is_dir():
        states = sorted((entry for entry in cache.iterdir() if entry.is_dir()), key=lambda entry: entry.stat().st_mtime)
        for state in states[:-KEPT_STATES]:
            shutil.rmtree(state, ignore_errors=True)
