"""The simulator and the analytical model know nothing of each other; otherwise one could not judge the other."""

from lib.code_fingerprint import ROOT, imported_files

COST = ROOT / "lib" / "cost"
SHARED = {"__init__", "cost_model"}
"""The face that both have, which prices nothing."""


def cost_modules(model: str) -> set[str]:
    """Modules of lib/cost that a model imports, itself included, directly or through any other package."""
    return {file.stem for file in imported_files(COST / f"{model}.py") if file.parent == COST}


def test_simulator_and_analytical_model_share_no_pricing():
    assert cost_modules("simulator") & cost_modules("analytical") == SHARED


def test_the_walk_sees_what_each_is_made_of():
    assert {"matrix_unit", "pipeline", "vector_plan", "dma", "simulator_constants"} <= cost_modules("simulator")
    assert {"analytical", "vector_work"} <= cost_modules("analytical")
    assert {"simulator", "analytical"} <= cost_modules("explain")
