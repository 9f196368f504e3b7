"""Rows on disk, memory-mapped: a dataset larger than memory is read as its rows are drawn."""

import mmap
from pathlib import Path

import numpy as np

TILE = ("tile", np.dtype(np.int32))
ANALYTICAL = ("analytical", np.dtype(np.float64))
RUNTIME = ("runtime_s", np.dtype(np.float64))


class RowFiles:
    """Three files that grow by :meth:`append` and are then read as arrays.

    Arrays of mapped files are ordinary NumPy arrays; what is read of them comes from disk and stays in
    memory only until :meth:`forget`, or until the system needs the memory.
    """

    def __init__(self, folder: Path):
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._maps: list[mmap.mmap] = []
        for name, _ in (TILE, ANALYTICAL, RUNTIME):
            (folder / name).write_bytes(b"")

    def append(self, tile: np.ndarray, analytical: np.ndarray, runtime_s: np.ndarray) -> None:
        """Add r rows: tile [r, 8], analytical [r, parts], runtime_s [r]."""
        for (name, dtype), values in ((TILE, tile), (ANALYTICAL, analytical), (RUNTIME, runtime_s)):
            with (self._folder / name).open("ab") as file:
                np.ascontiguousarray(values, dtype).tofile(file)

    def arrays(self, parts: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """tile int32[r, 8], analytical float64[r, parts], runtime_s float64[r] of all rows, read-only."""
        tile, runtime_s = self._mapped(*TILE, 8), self._mapped(*RUNTIME, 1)[:, 0]
        analytical = self._mapped(*ANALYTICAL, parts) if parts else np.zeros((len(tile), 0))
        return tile, analytical, runtime_s

    def _mapped(self, name: str, dtype: np.dtype, columns: int) -> np.ndarray:
        file = self._folder / name
        if not file.stat().st_size:
            return np.zeros((0, columns), dtype)
        with file.open("rb") as stream:
            mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        mapped.madvise(mmap.MADV_RANDOM)  # no reading ahead: rows are drawn at random
        self._maps.append(mapped)
        return np.frombuffer(mapped, dtype).reshape(-1, columns)

    def forget(self) -> None:
        """Give back the memory of what was read; reading it again brings it back."""
        for mapped in self._maps:
            mapped.madvise(mmap.MADV_DONTNEED)
