"""Recorded measurements: files of TpuGraphs' tile collection as kernels, schedules and runtimes.

A file (npz, never a pickle) holds one kernel: its graph, c tile configurations and their runtimes.
"""

import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lib.program.dataflow import Dataflow, UnsupportedInstruction
from lib.program.extraction import extract
from lib.program.kernels import Kernels, concatenate, empty_kernels
from lib.program.program import Program
from lib.schedule.schedules import Schedules, schedules_for_tiles
from lib.targets.tpugraphs_columns import COLUMNS, CONFIG_COLUMNS, OPCODES
from lib.targets.tpugraphs_graph import program_of_graph
from lib.targets.tpugraphs_instructions import NotRepresentable
from lib.targets.tpugraphs_tiles import tiles_of_configurations

ARRAYS = {
    "node_feat": ("f", ("n", COLUMNS)),
    "node_opcode": ("iu", ("n",)),
    "edge_index": ("iu", ("m", 2)),
    "config_feat": ("f", ("c", CONFIG_COLUMNS)),
    "config_runtime": ("iu", ("c",)),
    "config_runtime_normalizers": ("iu", ("c",)),
}
"""Kind of number (numpy's letter) and shape of each array of a file."""


class RecordedFileError(ValueError):
    """A file that can't be used, with its path and the reason."""


class RecordedTiles(NamedTuple):
    """k kernels and r measured rows, sorted by kernel."""

    kernels: Kernels
    schedules: Schedules
    runtime_s: np.ndarray
    """float64[r]"""
    default_runtime_s: np.ndarray
    """float64[r]: the compiler's own pick in the same run."""
    names: list[str]
    """One a kernel: the file's name without its ending."""
    notes: list[str]
    """One a kernel: what was left out, or empty."""
    refused: list[str]
    """One message a file that can't be represented."""


def read_recorded_file(path: Path) -> RecordedTiles:
    """The one kernel of a file. Raises RecordedFileError naming the file and what is wrong or can't be represented."""
    arrays = _arrays(path)
    graph = arrays["node_feat"], arrays["node_opcode"], arrays["edge_index"]
    try:
        program, dropped_bytes = program_of_graph(path.stem, *graph)
        kernels = _one_kernel(program)
        tile = tiles_of_configurations(program, kernels, arrays["config_feat"])
    except (NotRepresentable, UnsupportedInstruction) as error:
        raise RecordedFileError(f"{path}: {error}") from error
    schedules = schedules_for_tiles(np.zeros(len(tile), dtype=np.int32), tile)
    note = f"outputs of {dropped_bytes} bytes beside the largest are left out" if dropped_bytes else ""
    seconds = arrays["config_runtime"] * 1e-9
    default = arrays["config_runtime_normalizers"] * 1e-9
    return RecordedTiles(kernels, schedules, seconds, default, [path.stem], [note], [])


def read_recorded_folder(folder: Path) -> RecordedTiles:
    """All kernels of the npz files of a folder, by name; files that can't be represented are listed in `refused`.

    Raises RecordedFileError for a folder without npz files.
    """
    paths = sorted(folder.glob("*.npz"))
    if not paths:
        raise RecordedFileError(f"{folder}: there is no npz file in it")
    return read_recorded_files(paths)


def read_recorded_files(paths: Iterable[Path]) -> RecordedTiles:
    """The kernels of the files, in order; those that can't be represented are listed in `refused`."""
    read: list[RecordedTiles] = []
    refused: list[str] = []
    for path in paths:
        try:
            read.append(read_recorded_file(path))
        except RecordedFileError as error:
            refused.append(str(error))
    return _joined(read, refused)


def _joined(read: list[RecordedTiles], refused: list[str]) -> RecordedTiles:
    rows = [len(one.runtime_s) for one in read]
    tile = [one.schedules.tile for one in read]
    return RecordedTiles(
        kernels=concatenate([one.kernels for one in read]) if read else empty_kernels(),
        schedules=schedules_for_tiles(
            np.repeat(np.arange(len(read)), rows), np.concatenate(tile) if tile else _NO_TILE
        ),
        runtime_s=np.concatenate([np.empty(0), *(one.runtime_s for one in read)]),
        default_runtime_s=np.concatenate([np.empty(0), *(one.default_runtime_s for one in read)]),
        names=[name for one in read for name in one.names],
        notes=[note for one in read for note in one.notes],
        refused=refused,
    )


_NO_TILE = np.empty((0, 8), dtype=np.int32)


def _one_kernel(program: Program) -> Kernels:
    """The kernel that all of the program's instructions make. Raises NotRepresentable or UnsupportedInstruction."""
    flow = Dataflow(program)
    computed = np.array([flow.live[i] and not flow.free[i] for i in range(len(program.instructions))], dtype=bool)
    if not computed.any():
        raise NotRepresentable("nothing is computed or moved in it")
    if not computed[program.outputs[0]]:
        raise NotRepresentable(
            f"its result is a {program.instructions[program.outputs[0]].opcode}, which costs nothing"
        )
    try:
        return extract(program, np.where(computed, program.outputs[0], -1).astype(np.int32)).kernels
    except UnsupportedInstruction:
        raise
    except ValueError as error:
        raise NotRepresentable(str(error)) from error


def _arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file, checked for kind, shape and range."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            missing = [name for name in ARRAYS if name not in file.files]
            if missing:
                raise RecordedFileError(f"{path}: the arrays {', '.join(missing)} are missing")
            arrays = {name: file[name] for name in ARRAYS}
    except (OSError, EOFError, zipfile.BadZipFile, AttributeError, TypeError, zlib.error) as error:
        raise RecordedFileError(f"{path}: is damaged or no npz file ({error})") from error
    except ValueError as error:
        if isinstance(error, RecordedFileError):
            raise
        raise RecordedFileError(f"{path}: holds a pickle or a damaged array, which are not read ({error})") from error
    sizes: dict[str, int] = {}
    for name, (kinds, shape) in ARRAYS.items():
        array = arrays[name]
        wanted = tuple(sizes.setdefault(s, n) if isinstance(s, str) else s for s, n in zip(shape, array.shape))  # noqa: B905
        if array.dtype.kind not in kinds or len(array.shape) != len(shape) or array.shape != wanted:
            raise RecordedFileError(
                f"{path}: {name} is {array.dtype}{list(array.shape)}; expected {kinds}{list(shape)} with {sizes}"
            )
    _check_ranges(path, arrays, sizes)
    return arrays


def _check_ranges(path: Path, arrays: dict[str, np.ndarray], sizes: dict[str, int]) -> None:
    nodes = sizes["n"]
    if nodes == 0 or sizes["c"] == 0:
        raise RecordedFileError(f"{path}: it has {nodes} nodes and {sizes['c']} configurations; both are needed")
    for name in ("node_feat", "config_feat"):
        if not np.isfinite(arrays[name]).all():
            raise RecordedFileError(f"{path}: {name} holds values that are not finite")
    edges, opcodes = arrays["edge_index"], arrays["node_opcode"]
    if edges.size and (edges.min() < 0 or edges.max() >= nodes):
        raise RecordedFileError(f"{path}: edge_index names node {edges.max()} of {nodes}")
    if opcodes.min() < 0 or opcodes.max() >= len(OPCODES):
        raise RecordedFileError(f"{path}: node_opcode {opcodes.max()} is not one of the {len(OPCODES) - 1} known")
    for name in ("config_runtime", "config_runtime_normalizers"):
        if arrays[name].min() <= 0:
            raise RecordedFileError(f"{path}: {name} has the value {arrays[name].min()}; nanoseconds are positive")


__all__ = ["RecordedFileError", "RecordedTiles", "read_recorded_file", "read_recorded_folder"]
