"""What every benchmark is given."""

from pathlib import Path
from typing import NamedTuple

from lib.hardware.datapath import Datapath, datapath_from_spec
from lib.program.program import Program
from lib.program.program_table import program_from_arrays
from schemas.hardware import HARDWARE_PRESETS, merged_datapath
from schemas.program_artifact import ProgramArtifact


class Setting(NamedTuple):
    """Sizes are those of `make bench`; tests make them small."""

    folder: Path
    """For what is kept between runs: the traced program."""
    program_folder: Path
    """Artifact of the program whose kernels are priced."""
    cores: int
    autotuned_folder: Path | None = None
    """The same of the program whose fusion is tuned; None: EfficientNet-B0, traced by the benchmark that needs it."""
    repetitions: int = 5
    least_s: float = 1.0
    """Seconds that a repetition of a rate lasts at least."""
    budget_s: float = 20.0
    """Seconds after which a benchmark stops repeating."""
    tiles_per_kernel: int = 256
    """Of the tile rows that are priced; the default study's number."""
    dataset_rows: int = 25_000_000
    dataset_budget_s: float = 240.0
    """Seconds after which no more rows of the dataset are made."""
    search_trials: int = 100
    peer_layers: int = 11
    peer_budget_s: float = 120.0
    """Seconds after which a peer begins no further layer."""


def read_program(folder: Path) -> Program:
    """The program of an artifact, at the batch that it was written for."""
    return program_from_arrays(ProgramArtifact.read(folder)["program.npz"])


def preset_datapath(name: str, **changes: object) -> Datapath:
    """A hardware preset as one core's datapath, with entries of its `datapath:` replaced."""
    return datapath_from_spec(merged_datapath([HARDWARE_PRESETS[name]]) | changes)
