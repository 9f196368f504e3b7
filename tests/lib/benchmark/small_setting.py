"""A setting in which every benchmark takes moments: a small program, few rows, few repetitions."""

from pathlib import Path

from lib.benchmark.setting import Setting
from lib.program.program import DotDimensions, Instruction, Program
from lib.program.program_table import program_to_arrays
from schemas.program_artifact import ProgramArtifact


def product() -> Program:
    """[batch, 256] x [256, 256]."""

    def instructions(rows: int, columns: int) -> tuple[Instruction, ...]:
        layout = (1, 0)
        return (
            Instruction("input", "parameter", "bf16", (rows, columns), layout, role="input"),
            Instruction("weight", "parameter", "bf16", (columns, columns), layout, role="weight"),
            Instruction("dot", "dot", "bf16", (rows, columns), layout, operands=(0, 1), dot=DotDimensions((1,), (0,))),
        )

    return Program("product", 1, instructions(1, 256), (2,), slopes=instructions(1, 0))


def small_setting(folder: Path) -> Setting:
    """One product of matrices, of any batch."""
    program_folder = folder / "program"
    contents = {"program.npz": program_to_arrays(product())}
    ProgramArtifact.write(program_folder, id="small", origin="none", code="c", spec={}, contents=contents)
    return Setting(
        folder, program_folder, cores=1, autotuned_folder=program_folder, repetitions=2, least_s=0.01, budget_s=1.0,
        tiles_per_kernel=4, dataset_rows=8, dataset_budget_s=30.0, search_trials=3, peer_layers=1, peer_budget_s=5.0,
    )  # fmt: skip
