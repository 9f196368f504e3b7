"""The house's arrows: schemas <- lib <- workflow/scripts, and TensorFlow only where it belongs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def imported_modules(file: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def violations(folder: str, forbidden: tuple[str, ...]) -> list[str]:
    return [
        f"{file.relative_to(ROOT)} imports {module}"
        for file in sorted((ROOT / folder).rglob("*.py"))
        for module in sorted(imported_modules(file))
        if module.startswith(forbidden)
    ]


def test_schemas_import_neither_lib_nor_workflow():
    assert violations("schemas", ("lib", "workflow", "tensorflow", "snakemake")) == []


def test_lib_does_not_import_workflow_or_snakemake():
    assert violations("lib", ("workflow", "snakemake")) == []


def test_gnn_does_not_see_the_cost_models():
    assert violations("lib/gnn", ("lib.cost",)) == []


def test_tensorflow_is_imported_only_by_frontends_and_gnn():
    outside = [
        v
        for v in violations("lib", ("tensorflow", "keras", "spektral"))
        if not v.startswith(("lib/gnn", "lib/frontends"))
    ]
    assert outside == []


@pytest.mark.parametrize(
    "module",
    ["lib.cost.simulator", "lib.dataset.shards", "lib.search.optimise", "lib.evaluation.tables", "schemas.study_file",
     "lib.program.program_table"],
)  # fmt: skip
def test_most_jobs_start_without_tensorflow(module):
    code = f"import sys, {module}; sys.exit('tensorflow' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_reading_the_study_is_light():
    code = "import sys, schemas.study_file; sys.exit(any(m in sys.modules for m in ('numpy', 'pandas', 'numba')))"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
