"""Checks between `surrogate:` of searches and the models of the study."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from schemas.boosted_trees import Average
from schemas.problem import Problem, got
from schemas.search import SURROGATES, Search

if TYPE_CHECKING:
    from schemas.study import Study

FEWEST_VARIANTS = 8
"""Hardware variants from which a model may have learned what hardware does."""


def surrogate_problems(study: "Study") -> Iterator[Problem]:
    """Models that can't tell the runtime of kernels on a design, and an optimiser that can't be screened."""
    for id, search in study.searches.items():
        path = ("searches", id, "surrogate")
        if search.surrogate != "none" and search.optimiser == "cma-es":
            text = "cma-es learns from every point that it draws, so nothing can be picked from among them"
            yield Problem(path, f"{got(search.surrogate)}, but {text}; allowed: none, or another optimiser")
        if search.surrogate not in SURROGATES and search.surrogate in study.models:
            problem = _model_problem(search, study)
            if problem is not None:
                yield Problem(path, f"{got(search.surrogate)}, which {problem}")


def _model_problem(search: Search, study: "Study") -> str | None:
    """Why a model can't pre-screen."""
    model = study.models[search.surrogate]
    if isinstance(model, Average):
        return "is an average of models; allowed: one of them"
    if model.task != "fusion":
        return "learns the tile task and compares tiles of a kernel, not designs; allowed: models with task: fusion"
    if model.dataset not in study.datasets:
        return None
    if (origin := study.origin(model.dataset)) != "simulated":
        return f"learns {origin} runtimes, of devices that are there; allowed: models of simulated ones"
    try:
        learned = study.learned_hardware(search.surrogate)
    except (KeyError, ValueError):  # a base or a sample that has a problem of its own
        return None
    if len(learned) < FEWEST_VARIANTS:
        return (
            f"learned {len(learned)} hardware variant{'s' if len(learned) > 1 else ''}, so it can't tell what a design "
            f"changes; allowed: models of {FEWEST_VARIANTS} variants or more (`sample:` of a hardware entry makes many)"
        )
    return None
