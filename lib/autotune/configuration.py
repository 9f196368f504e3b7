"""A configuration of a program: which kernels it has and with which tile each runs."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.fusion.space import default_fusion, group
from lib.program.extraction import ProgramKernels, extract
from lib.program.kernels import KERNEL_CLASSES
from lib.program.program import Program
from schemas.dataset_artifact import TILE_COLUMNS


class Configuration(NamedTuple):
    """The kernels of a fusion configuration, each with its tile."""

    groups: np.ndarray
    """int32[n] the root instruction of each instruction's kernel; -1: none computes it."""
    found: ProgramKernels
    """k distinct kernels."""
    tile: np.ndarray
    """int32[k, 8]"""
    seconds: np.ndarray
    """float64[k] of one execution on the target."""
    default_tile: np.ndarray
    """int32[k, 8]"""
    default_s: np.ndarray
    """float64[k] of one execution with the default tile on the target."""
    tiles: np.ndarray
    """int64[k] tiles of each kernel that fit."""

    @property
    def runtime_s(self) -> float:
        """Of the program."""
        return program_s(self.seconds, self.found.executions)


def program_s(seconds: np.ndarray, executions: np.ndarray) -> float:
    """Runtime of a program from its kernels' seconds (float64[k]) and executions (int[k])."""
    return float((seconds * executions).sum())


def default_groups(program: Program) -> tuple[np.ndarray, ProgramKernels]:
    """The default fusion's groups, int32[n], and its kernels."""
    groups = group(program, default_fusion(program))
    return groups, extract(program, groups)


def kernel_name(root: str) -> str:
    """Of the kernel whose root instruction has this name."""
    return f"kernel.{root}"


def chosen_table(chosen: Configuration, default: Configuration) -> pd.DataFrame:
    """One row a distinct kernel, the columns of `chosen.parquet`; those that take the most time come first."""
    found = chosen.found
    of_default = set(default.found.kernels.fingerprint)
    columns = {
        "name": [kernel_name(root) for root in found.roots],
        "root": found.roots,
        "kernel_class": [KERNEL_CLASSES[number] for number in found.kernels.kernel_class],
        "fingerprint": found.kernels.fingerprint,
        "executions": found.executions.astype(np.int32),
        "tiles": chosen.tiles.astype(np.int64),
        "in_default_fusion": np.array([one in of_default for one in found.kernels.fingerprint], dtype=bool),
    }
    for prefix, tile in (("default", chosen.default_tile), ("chosen", chosen.tile)):
        columns |= {f"{prefix}_{name}": tile[:, slot].astype(np.int32) for slot, name in enumerate(TILE_COLUMNS)}
    columns |= {"default_s": chosen.default_s, "chosen_s": chosen.seconds}
    table = pd.DataFrame(columns)
    order = np.argsort(-(chosen.seconds * found.executions), kind="stable")
    table = table.iloc[order].reset_index(drop=True)
    table.insert(0, "kernel", np.arange(len(table), dtype=np.int32))
    return table


def instruction_table(program: Program, chosen: Configuration, default: Configuration) -> pd.DataFrame:
    """One row an instruction, the columns of `instructions.parquet`."""
    names = [instruction.name for instruction in program.instructions]
    return pd.DataFrame(
        {
            "instruction": np.arange(len(names), dtype=np.int32),
            "name": names,
            "opcode": [instruction.opcode for instruction in program.instructions],
            "kernel": _kernel_of_each(names, chosen.groups),
            "default_kernel": _kernel_of_each(names, default.groups),
        }
    )


def _kernel_of_each(names: list[str], groups: np.ndarray) -> list[str]:
    return ["" if root < 0 else kernel_name(names[root]) for root in groups.tolist()]
