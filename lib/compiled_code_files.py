"""Files of compiled code that several processes and unlike machines may share.

Numba imports this module when it keeps the first function: `lib.compiled_code` names it in
NUMBA_CACHE_LOCATOR_CLASSES. A function has an index, a file from signatures to files of machine code. Numba reads it,
adds an entry and writes it back; two processes that do so at once for two signatures could give both the same file, and
code for one signature would run on arguments of another. So writers take turns, and each kind of CPU has its own files.
"""

import fcntl
import hashlib
from functools import cache
from pathlib import Path

from numba.core.caching import IndexDataCacheFile, UserProvidedCacheLocator
from numba.core.registry import cpu_target


@cache
def _cpu() -> str:
    """Digest of the platform, CPU name and features that Numba compiles for."""
    return hashlib.sha256(repr(cpu_target.target_context.codegen().magic_tuple()).encode()).hexdigest()[:8]


class CompiledCodeFiles(UserProvidedCacheLocator):
    """Numba's files in NUMBA_CACHE_DIR, apart for each kind of CPU that it compiles for."""

    def get_disambiguator(self) -> str:
        """Part of the names of a function's files."""
        return f"{super().get_disambiguator()}-{_cpu()}"


_save_unlocked = IndexDataCacheFile.save


def save_in_turn(self: IndexDataCacheFile, key: tuple, data: tuple) -> None:
    """Numba's `save`, one writer a folder at a time."""
    with (Path(self._cache_path) / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _save_unlocked(self, key, data)


IndexDataCacheFile.save = save_in_turn  # type: ignore[method-assign]
