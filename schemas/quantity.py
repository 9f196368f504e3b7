"""Quantities with units as the study writes them: `16 MiB`, `5 us`, `0.94 GHz`, `900 GB/s`.

Each type parses to a plain number of its base unit (bytes, seconds, hertz, bytes per second). A missing or wrong
unit is answered with the allowed ones: `32` for a buffer would be 32 bytes to us and 32 MiB to who wrote it. Only 0
needs no unit.
"""

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from schemas.problem import not_allowed

_WRITTEN = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)\s*(?P<unit>[A-Za-zµ/]*)")


@dataclass(frozen=True)
class Quantity:
    """One kind of quantity: how it is called, its base unit, and its units, the smallest first."""

    name: str
    """With its article, e.g. `a size`."""
    example: str
    base: str
    """The unit in words, e.g. `bytes`."""
    units: dict[str, Decimal]
    """Unit to its value in the base unit."""
    whole: bool = False
    """Whether the value must be a whole number of the base unit."""

    def parse(self, written: Any) -> Any:
        """The value in the base unit. Raises a `not_allowed` error that names the allowed units."""
        if isinstance(written, bool) or not isinstance(written, (int, float, str)):
            raise not_allowed(self.allowed())
        if isinstance(written, float) and not math.isfinite(written):
            raise not_allowed(self.allowed())
        match = _WRITTEN.fullmatch(str(written).strip())
        if match is None:
            raise not_allowed(self.allowed())
        number, unit = Decimal(match["number"]), match["unit"]
        if number and unit not in self.units:
            raise not_allowed(self.allowed() if unit else f"{self.allowed()}; the unit is missing")
        value = number * self.units[unit] if number else number
        if not self.whole:
            return float(value)
        if value != value.to_integral_value():
            raise not_allowed(self.allowed())
        return int(value)

    def write(self, value: float) -> str:
        """`value` of the base unit, in the largest unit that keeps it short: 16777216 -> `16 MiB`."""
        exact = Decimal(str(value))
        for unit, factor in reversed(self.units.items()):
            scaled = exact / factor
            if scaled >= 1 and scaled == scaled.quantize(Decimal("0.001")):
                return f"{scaled.normalize():f} {unit}"
        return f"{exact:f}" if exact == 0 else f"{exact.normalize():f} {next(iter(self.units))}"

    def allowed(self) -> str:
        """What may be written, in words."""
        whole = f", a whole number of {self.base}" if self.whole else ""
        return f"{self.name} such as {self.example}, in {', '.join(self.units)}{whole}"

    def json_schema(self) -> dict:
        """What an editor may accept: 0 or a number with one of the units."""
        units = "|".join(self.units)
        pattern = rf"^\s*(0+(\.0*)?|[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\s*({units}))\s*$"
        return {"anyOf": [{"const": 0}, {"type": "string", "pattern": pattern}], "unit": self.base}


SIZE = Quantity(
    "a size", "16 MiB", "bytes", {u: Decimal(1024) ** i for i, u in enumerate(("B", "KiB", "MiB", "GiB"))}, whole=True
)
TIME = Quantity(
    "a time", "5 us", "seconds",
    {"ns": Decimal("1e-9"), "µs": Decimal("1e-6"), "us": Decimal("1e-6"), "ms": Decimal("1e-3"), "s": Decimal(1)},
)  # fmt: skip
FREQUENCY = Quantity(
    "a frequency", "0.94 GHz", "hertz", {u: Decimal(1000) ** i for i, u in enumerate(("Hz", "kHz", "MHz", "GHz"))}
)
BANDWIDTH = Quantity(
    "a bandwidth", "900 GB/s", "bytes per second",
    {u: Decimal(1000) ** i for i, u in enumerate(("B/s", "kB/s", "MB/s", "GB/s", "TB/s"))},
)  # fmt: skip

Size = Annotated[int, BeforeValidator(SIZE.parse), WithJsonSchema(SIZE.json_schema())]
Time = Annotated[float, BeforeValidator(TIME.parse), WithJsonSchema(TIME.json_schema())]
Frequency = Annotated[float, BeforeValidator(FREQUENCY.parse), WithJsonSchema(FREQUENCY.json_schema())]
Bandwidth = Annotated[float, BeforeValidator(BANDWIDTH.parse), WithJsonSchema(BANDWIDTH.json_schema())]

QUANTITY_OF_UNIT = {quantity.base: quantity for quantity in (SIZE, TIME, FREQUENCY, BANDWIDTH)}
