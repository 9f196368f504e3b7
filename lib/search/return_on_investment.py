"""Whether a searched design is worth making: FAST's model of return on investment (section 5.1, table 4, figure 6).

A design that does S times the work for each dollar of total cost of ownership (Perf/TDP stands for it) needs S times
fewer accelerators' worth of money for the same work. Of what n accelerators would have cost it saves (S - 1) / S, and
making it costs a fixed amount:

    ROI(n) = n x cost of an accelerator x (S - 1) / (design cost x S)
"""

from collections.abc import Mapping
from typing import TypeVar

import numpy as np

Volume = TypeVar("Volume", float, np.ndarray)

HOURS_PER_YEAR = 8760.0
W_PER_KW = 1000.0
TABLE_4_RETURNS = (1, 2, 4, 8)
"""Returns on investment of which FAST's table 4 prints volumes."""


def accelerator_usd(costs: Mapping[str, float]) -> float:
    """Total cost of ownership of one accelerator of today: its share of a server's price and of its electricity.

    `costs`: fields of `schemas.return_on_investment.ReturnOnInvestment`.
    """
    energy_kwh = costs["server_power_w"] / W_PER_KW * HOURS_PER_YEAR * costs["years"]
    server = costs["server_price_usd"] + energy_kwh * costs["electricity_usd_per_kwh"]
    return server / costs["accelerators_per_server"]


def engineering_usd(costs: Mapping[str, float]) -> float:
    """What the engineers who make the design cost."""
    return costs["engineer_years"] * costs["engineer_usd_per_year"] * costs["engineer_overhead"]


def design_usd(costs: Mapping[str, float]) -> float:
    """What making a design costs once, whatever the volume: engineers, masks, IP."""
    return engineering_usd(costs) + costs["masks_usd"] + costs["ip_usd"]


def return_on_investment(volume: Volume, gain: float, costs: Mapping[str, float]) -> Volume:
    """Savings over the design's cost if it does the work of `volume` of today's accelerators.

    `gain`: Perf/TDP of the design over theirs. Negative where it is below 1.
    """
    return volume * accelerator_usd(costs) * (gain - 1.0) / (gain * design_usd(costs))


def volume_for(returns: float, gain: float, costs: Mapping[str, float]) -> float:
    """Accelerators at which the return on investment reaches `returns`; infinite where the gain is at most 1."""
    if gain <= 1.0:
        return float("inf")
    return returns * design_usd(costs) / accelerator_usd(costs) * gain / (gain - 1.0)
