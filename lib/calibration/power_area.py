"""The fit of the power and area model `fast-fitted`: `python -m lib.calibration.power_area` prints it.

Seventeen constants meet five ratios of FAST's tables 5 and 6, so the fit is under-determined: each constant is pulled
towards its value in the model `public`. Least squares in logarithms,

    sum over ratios ((log ours - log theirs) / 0.01)^2 + sum over constants ((log fitted - log public) / sd)^2,

from the public values on, so that the result is always the same. It is written by hand to
`schemas/presets/power_area.yaml`, rounded to three digits; a test compares the two.
"""

from typing import Any

import numpy as np
from scipy.optimize import least_squares

from lib.command_line import run_command
from lib.hardware.area import area_with
from lib.hardware.power import power_with
from schemas.hardware import HARDWARE_PRESETS
from schemas.power_area import power_area_constants

KIB = 2**10
RATIO_SD = 0.01
"""Of the logarithm of a ratio: the paper rounds to about as much."""
PRIOR_SD = 0.3
"""Of the logarithm of a constant: published energies of one node differ by about a third."""
FREE_SD = {"sram_energy_exponent": 2.0}
"""Table 6's 32 KiB row needs L1 energy about proportional to capacity, eight times the published slope: left nearly
free."""
LARGEST_STEP = np.log(20.0)
"""No constant may leave the public one by more than this factor; none comes near."""
NOT_FITTED = ("sram_energy_exponent_below_8kib",)
"""No design of table 5 has an L1 below 8 KiB."""

TARGETS = {
    "TDP, FAST-Large / TPU-v3": 0.86,
    "TDP, FAST-Small / TPU-v3": 0.295,
    "area, FAST-Large / TPU-v3": 0.7 / 0.6,
    "area, FAST-Small / TPU-v3": 0.3 / 0.6,
    "TDP, FAST-Large with 32 KiB / 8 KiB of L1": 1.31,
}
"""FAST (Zhang et al., ASPLOS 2022). Table 5: areas relative to its limit; TDP from queries per second over Perf/TDP,
which its roundings leave between 0.82 and 0.90, 0.29 and 0.30. Table 6: the 32 KB row's Perf/TDP falls to 0.75 to
0.77."""


def ratios(constant: dict[str, float]) -> np.ndarray:
    """float64[5]: what constants by name make of TARGETS."""
    tpu, large, small = (HARDWARE_PRESETS[name].given() for name in ("tpu-v3", "fast-large", "fast-small"))
    large_l1 = large | {"l1_input_bytes": 16 * KIB, "l1_weight_bytes": 8 * KIB, "l1_output_bytes": 8 * KIB}

    def power(datapath: dict[str, Any]) -> float:
        return power_with(datapath, constant).total

    def area(datapath: dict[str, Any]) -> float:
        return area_with(datapath, constant).total

    return np.array(
        [
            power(large) / power(tpu),
            power(small) / power(tpu),
            area(large) / area(tpu),
            area(small) / area(tpu),
            power(large_l1) / power(large),
        ]
    )


def fitted_constants() -> dict[str, float]:
    """The constants of `fast-fitted` by name, not rounded."""
    public = power_area_constants("public").values()
    names = [name for name in public if name not in NOT_FITTED]
    prior = np.log([public[name] for name in names])
    prior_sd = np.array([FREE_SD.get(name, PRIOR_SD) for name in names])
    wanted = np.log(list(TARGETS.values()))

    def constants(logarithms: np.ndarray) -> dict[str, float]:
        return public | dict(zip(names, np.exp(logarithms).tolist(), strict=True))

    def residuals(logarithms: np.ndarray) -> np.ndarray:
        missed = np.log(ratios(constants(logarithms))) - wanted
        return np.concatenate([missed / RATIO_SD, (logarithms - prior) / prior_sd])

    bounds = (prior - LARGEST_STEP, prior + LARGEST_STEP)
    found = least_squares(residuals, prior, bounds=bounds, x_scale=prior_sd, xtol=1e-12, ftol=1e-12, gtol=1e-12)
    return constants(found.x)


def rounded(value: float) -> float:
    """To three significant digits."""
    return float(f"{value:.3g}")


def report() -> str:
    """Ratios, theirs and ours, and the constants beside the public ones."""
    public, fitted = power_area_constants("public").values(), fitted_constants()
    lines = [f"{'ratio':42} {'FAST':>8} {'fitted':>8} {'public':>8}"]
    for name, theirs, ours, as_published in zip(TARGETS, TARGETS.values(), ratios(fitted), ratios(public), strict=True):
        lines.append(f"{name:42} {theirs:8.3f} {ours:8.3f} {as_published:8.3f}")
    lines += ["", f"{'constant':42} {'':>8} {'fitted':>8} {'public':>8}"]
    lines += [f"{name:42} {'':>8} {rounded(value):8.3g} {public[name]:8.3g}" for name, value in fitted.items()]
    return "\n".join(lines)


def main(_arguments: list[str]) -> int:
    """Print the report."""
    print(report())
    return 0


if __name__ == "__main__":
    run_command(main)
