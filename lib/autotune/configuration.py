"""A configuration of a program: which kernels it has and with which tile each runs."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.program.extraction import ProgramKernels
from lib.program.kernels import ABSENT, KERNEL_CLASSES
from lib.program.program import Program
from lib.schedule.loop_nest import loop_names
from schemas.autotune_configuration import ChosenConfiguration, ChosenKernel
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


def changed_kernels(default: Configuration, chosen: Configuration) -> tuple[int, int]:
    """Kernels of the chosen configuration, by place, that hold the same instructions as in the default but have another
    tile, and those that hold other instructions."""
    other = _roots_of_other_kernels(default, chosen)
    before = dict(zip(default.found.occurrence_root.tolist(), default.found.occurrence_kernel.tolist(), strict=True))
    other_tile = 0
    for root, k in zip(chosen.found.occurrence_root.tolist(), chosen.found.occurrence_kernel.tolist(), strict=True):
        other_tile += root not in other and bool((chosen.tile[k] != default.tile[before[root]]).any())
    return other_tile, len(other)


def _roots_of_other_kernels(default: Configuration, chosen: Configuration) -> set[int]:
    """Roots of the chosen configuration's kernels that the default one does not have of the same instructions."""
    moved = default.groups != chosen.groups
    return set(chosen.found.occurrence_root.tolist()) & {
        *chosen.groups[moved].tolist(),
        *default.groups[moved].tolist(),
    }


def configuration_file(
    program: Program, chosen: Configuration, default: Configuration, workload: str, hardware: str
) -> ChosenConfiguration:
    """Every kernel at every place, in program order."""
    found, other = chosen.found, _roots_of_other_kernels(default, chosen)
    names = [instruction.name for instruction in program.instructions]
    row = chosen_table(chosen, default).set_index("fingerprint")["kernel"]
    kernels = []
    for place, (root, k) in enumerate(
        zip(found.occurrence_root.tolist(), found.occurrence_kernel.tolist(), strict=True)
    ):
        there = found.kernels.loop_kind[k] != ABSENT
        loops = [name for name, one in zip(loop_names(found.kernels, k), there, strict=True) if one]
        extents, tile, default_tile = (
            dict(zip(loops, of_each[k][there].tolist(), strict=True))
            for of_each in (found.kernels.loops, chosen.tile, chosen.default_tile)
        )
        kernels.append(
            ChosenKernel(
                name=kernel_name(names[root]),
                instructions=[names[index] for index in np.flatnonzero(chosen.groups == root)],
                kernel_class=KERNEL_CLASSES[found.kernels.kernel_class[k]],
                fingerprint=found.kernels.fingerprint[k],
                kernel=int(row[found.kernels.fingerprint[k]]),
                executions=int(found.occurrence_executions[place]),
                loops=extents,
                tile=tile,
                seconds=float(chosen.seconds[k]),
                default_tile=default_tile,
                default_s=float(chosen.default_s[k]),
                in_default_configuration=root not in other,
            )
        )
    return ChosenConfiguration(
        workload=workload,
        batch=program.batch,
        hardware=hardware,
        runtime_s=chosen.runtime_s,
        default_s=default.runtime_s,
        kernels=kernels,
    )


def _kernel_of_each(names: list[str], groups: np.ndarray) -> list[str]:
    return ["" if root < 0 else kernel_name(names[root]) for root in groups.tolist()]
