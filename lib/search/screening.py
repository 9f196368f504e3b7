"""The pre-screening that a search entry asks for."""

from collections.abc import Callable
from typing import Any

from lib.search.evaluate import Evaluator
from lib.search.first_guess import FirstGuess, Roofline
from lib.search.free_limits import free_limits
from lib.search.optimiser import Optimiser
from lib.search.prescreen import PreScreened
from lib.search.space import Space


def screening(
    spec: dict[str, Any], space: Space, evaluator: Evaluator, learned: FirstGuess | None
) -> Callable[[Optimiser], PreScreened] | None:
    """What goes around the optimiser of a resolved search entry; None without a surrogate.

    `learned`: the guess of the learned model where `surrogate` names one.
    """
    if spec["surrogate"] == "none":
        return None
    guess = learned or Roofline(
        evaluator.workloads, evaluator.weights, spec["objective"], evaluator.residency, evaluator.model.constants
    )
    limits = free_limits(spec["baseline"]["datapath"], spec["limits"])
    return lambda optimiser: PreScreened(optimiser, space, guess, limits, [spec["seed"], spec["island"]])
