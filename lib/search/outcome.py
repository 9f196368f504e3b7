"""What a trial is worth to an optimiser."""

from typing import Any, NamedTuple


class Outcome(NamedTuple):
    """What a point of the space is worth."""

    value: float
    """To be made large; ignored where a violation is positive. With `bound` only an upper bound, below the best."""
    violations: dict[str, float]
    """By how much each limit is exceeded; <= 0: kept. Infeasible trials rank by the sum of what is above 0."""
    detail: Any = None
    """Anything else the caller wants to keep."""
    objectives: tuple[float, ...] = ()
    """Several values to be made large, for optimisers that look for a Pareto front; empty: `value` alone."""
    bound: bool = False
    """Whether the trial stopped early, as its bound can't beat the best value so far."""

    @property
    def violation(self) -> float:
        """Sum of what is above 0; 0: feasible."""
        return sum(max(0.0, violation) for violation in self.violations.values())

    @property
    def feasible(self) -> bool:
        """Whether every limit is kept."""
        return self.violation <= 0.0
