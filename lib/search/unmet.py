"""Why no design was found: which limit nothing met, and how far the nearest design was."""

from collections.abc import Mapping, Sequence

from lib.search.optimise import Trial
from schemas.quantity import TIME
from schemas.search_artifact import UnmetLimit

LIMITS = {"area": "area_ratio", "tdp": "tdp_ratio", "latency": "latency_s"}
"""Name of a violation, which is in doublings, to the limit's in the study."""
KERNELS = "kernels"
"""Name of the violation that is the share of kernels which fit nowhere."""
TOGETHER = "together"
"""Stands for limits that can't be met at the same time, though each can."""


def unmet_limits(trials: Sequence[Trial], limits: Mapping[str, float | None]) -> list[UnmetLimit]:
    """Limits that no trial met, the nearest trial to each; `together` if each is met by some; none if one is feasible.

    A limit counts only over the trials that were taken far enough to look at it: those over the limit on area or power
    are not run.
    """
    if any(trial.outcome.feasible for trial in trials) or not trials:
        return []
    unmet = [
        _unmet(violation, trials, limits)
        for violation in (*LIMITS, KERNELS)
        if all(trial.outcome.violations[violation] > 0 for trial in _looked_at(violation, trials))
        and _looked_at(violation, trials)
    ]
    return unmet or [_together(trials)]


def _looked_at(violation: str, trials: Sequence[Trial]) -> list[Trial]:
    """Trials of which it is known whether they keep a limit."""
    within = [t for t in trials if all(t.outcome.violations.get(name, 0.0) <= 0 for name in ("area", "tdp"))]
    known = within if violation in (KERNELS, "latency") else trials
    return [trial for trial in known if violation in trial.outcome.violations]


def _unmet(violation: str, trials: Sequence[Trial], limits: Mapping[str, float | None]) -> UnmetLimit:
    known = _looked_at(violation, trials)
    nearest = min(known, key=lambda trial: trial.outcome.violations[violation])
    over = nearest.outcome.violations[violation]
    if violation == KERNELS:
        reason = nearest.outcome.detail["reason"]
        text = (
            f"none of {len(known)} designs within the limits runs every kernel; trial {nearest.number}, the nearest: "
        )
        return UnmetLimit(limit=KERNELS, allowed=0.0, nearest=over, trial=nearest.number, text=text + reason)
    allowed = limits[LIMITS[violation]]
    assert allowed is not None  # a limit that isn't there is not violated
    reached = allowed * 2.0**over
    written = [
        TIME.write(float(f"{value:.3g}")) if violation == "latency" else f"{value:.3g}" for value in (allowed, reached)
    ]
    limit = f"{LIMITS[violation]} {written[0]}"
    text = f"none of {len(known)} designs keeps {limit}; trial {nearest.number}, the nearest, has "
    return UnmetLimit(
        limit=LIMITS[violation], allowed=allowed, nearest=reached, trial=nearest.number, text=text + written[1]
    )


def _together(trials: Sequence[Trial]) -> UnmetLimit:
    nearest = min(trials, key=lambda trial: trial.outcome.violation)
    over = {name: value for name, value in nearest.outcome.violations.items() if value > 0}
    text = (
        f"each limit is met by some of {len(trials)} designs, but all of them by none; trial {nearest.number}, the "
        f"nearest, fails by {', '.join(over)}: {nearest.outcome.detail['reason']}"
    )
    return UnmetLimit(limit=TOGETHER, allowed=0.0, nearest=nearest.outcome.violation, trial=nearest.number, text=text)


def unmet_by_all(islands: Sequence[Sequence[UnmetLimit]]) -> list[UnmetLimit]:
    """Of several searches in the same space, what none of them met, each with the nearest trial of all."""
    if not islands or not all(islands):
        return []
    names = [unmet.limit for unmet in islands[0] if all(unmet.limit in {u.limit for u in own} for own in islands)]
    everything = [
        unmet.model_copy(update={"text": f"island {number}: {unmet.text}"})
        for number, own in enumerate(islands, start=1)
        for unmet in own
    ]
    if not names:
        return [min(everything, key=lambda unmet: unmet.nearest)]
    return [min((u for u in everything if u.limit == name), key=lambda unmet: unmet.nearest) for name in names]
