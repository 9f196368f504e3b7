"""The `return_on_investment:` of a search: what making a designed chip costs, and the accelerators that it replaces."""

from typing import Annotated

from pydantic import Field

from schemas.study_base import PositiveInt, StudyModel

Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]


class ReturnOnInvestment(StudyModel):
    """Costs behind the volume at which a design pays back (FAST, section 5.1); US dollars of 2021.

    The defaults are those that the paper prints, but for the power of the server and for masks and IP, which it does
    not print. For masks and IP together, table 4's volumes leave 18.05 million dollars; the two shares of it are ours.
    """

    server_price_usd: Positive = 199_000
    """Price of a server of the accelerators that the design replaces (FAST: an NVIDIA DGX A100 with 320 GB)."""
    accelerators_per_server: PositiveInt = 8
    """Accelerators of such a server."""
    server_power_w: NotNegative = 6_500
    """Power that a server draws (W; ours: the most that a DGX A100 draws, by its data sheet)."""
    electricity_usd_per_kwh: NotNegative = 0.1084
    """Price of a kilowatt-hour (FAST)."""
    years: Positive = 3
    """Years that an accelerator is used (FAST)."""
    engineer_usd_per_year: NotNegative = 240_000
    """Pay of an engineer (FAST: median)."""
    engineer_overhead: Positive = 1.65
    """What an engineer costs, as a multiple of the pay (FAST)."""
    engineer_years: NotNegative = 65
    """Work on the design (FAST: the mean of Simba's 12.5 and Tesla FSD's 117, rounded)."""
    masks_usd: NotNegative = 15e6
    """Price of the masks (ours; the paper extrapolates it and prints no number)."""
    ip_usd: NotNegative = 3.05e6
    """Price of bought blocks such as memory interfaces (ours; the paper extrapolates it and prints no number)."""
