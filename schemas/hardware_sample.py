"""`sample:` of a hardware entry: many variants from ranges, count and seed."""

import math
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field

from schemas.problem import Problem, not_allowed
from schemas.quantity import BANDWIDTH, FREQUENCY, SIZE, Bandwidth, Frequency, Size
from schemas.study_base import PositiveInt, StudyModel

Group = Literal["train", "inside", "outside"]
GROUPS: tuple[Group, ...] = ("train", "inside", "outside")
"""Variants to learn from; held out within the ranges; held out beyond them."""


def _checked_pair(written: Any) -> Any:
    if not isinstance(written, list) or len(written) != 2:
        raise not_allowed("[smallest, largest]")
    return written


_Pair = BeforeValidator(_checked_pair)
_Two = Field(min_length=2, max_length=2)
TwoInts = Annotated[list[PositiveInt], _Two, _Pair]
TwoSizes = Annotated[list[Size], _Two, _Pair]
TwoFrequencies = Annotated[list[Frequency], _Two, _Pair]
TwoBandwidths = Annotated[list[Bandwidth], _Two, _Pair]

CONTINUOUS = {"clock": FREQUENCY, "dram_bandwidth": BANDWIDTH}
"""Keys that take any value, drawn evenly on a logarithmic scale; all others are powers of two."""
FEWEST_BEYOND, MOST_BEYOND = 1.2, 2.0
"""How far beyond the largest value of its range a continuous key of an outside variant lies; a power of two is twice
the largest."""
MARGIN = 0.1
"""Share of a continuous range, on a logarithmic scale, that held-out variants leave free at either end."""
SIGNIFICANT_DIGITS = 4
"""Of continuous values."""
DRAWS_PER_VARIANT = 200
"""Draws, most of them refused, after which ranges are given up as too narrow."""


class SampleRanges(StudyModel):
    """Smallest and largest value by key of the datapath. Powers of two, but for clock and bandwidth."""

    clock: TwoFrequencies | None = None
    """Clock frequency (Hz)."""
    cores: TwoInts | None = None
    """Cores of the chip."""
    pes_x: TwoInts | None = None
    """Columns of the mesh of PEs."""
    pes_y: TwoInts | None = None
    """Rows of the mesh of PEs."""
    systolic_rows: TwoInts | None = None
    """Rows of a PE's systolic array."""
    systolic_columns: TwoInts | None = None
    """Columns of a PE's systolic array."""
    vector_lanes: TwoInts | None = None
    """Lanes of a PE's vector unit."""
    l1_input: TwoSizes | None = None
    """L1 for inputs, of a PE (bytes)."""
    l1_weight: TwoSizes | None = None
    """L1 for weights, of a PE (bytes)."""
    l1_output: TwoSizes | None = None
    """L1 for outputs, of a PE (bytes)."""
    l2_input_multiplier: TwoInts | None = None
    """Size of the L2 for inputs as a multiple of `l1_input`."""
    l2_weight_multiplier: TwoInts | None = None
    """Size of the L2 for weights as a multiple of `l1_weight`."""
    l2_output_multiplier: TwoInts | None = None
    """Size of the L2 for outputs as a multiple of `l1_output`."""
    global_buffer: TwoSizes | None = None
    """Global buffer of a core (bytes)."""
    dram_channels: TwoInts | None = None
    """Channels of off-chip memory, of the chip."""
    dram_bandwidth: TwoBandwidths | None = None
    """Bandwidth of off-chip memory, of the whole chip (bytes per second)."""
    native_batch: TwoInts | None = None
    """Samples that a core works on at once."""

    def given(self) -> dict[str, tuple[float, float]]:
        """(smallest, largest) of the keys that vary, in base units."""
        values = {key: getattr(self, key) for key in type(self).model_fields}
        return {key: (pair[0], pair[1]) for key, pair in values.items() if pair is not None}

    def inconsistencies(self) -> list[Problem]:
        """Each range ascends, and its ends are powers of two where the key wants them."""
        ranges = self.given()
        problems = [] if ranges else [Problem((), "nothing varies; give at least one key with [smallest, largest]")]
        for key, (low, high) in ranges.items():
            if low >= high:
                problems.append(Problem((key,), "allowed: [smallest, largest], the second larger than the first"))
            elif key not in CONTINUOUS:
                write = SIZE.write if key.startswith(("l1_", "global_")) else str
                for place, value in enumerate((low, high)):
                    if value < 1 or int(value).bit_count() != 1:
                        problems.append(Problem((key, place), f"got {write(value)}; allowed: a power of two"))
            elif low <= 0:
                problems.append(Problem((key, 0), "allowed: more than 0"))
        return problems


class HardwareSample(StudyModel):
    """Variants drawn from ranges, called by the entry's id and a number: `variants-01`, `variants-02` and so on."""

    count: Annotated[int, Field(ge=2, le=9999)]
    """Variants to learn from. They surround the ranges: corners first, then points spread evenly between."""
    held_out: Annotated[int, Field(ge=0, le=9999)] = 0
    """Variants strictly inside the ranges that no model learns."""
    outside: Annotated[int, Field(ge=0, le=9999)] = 0
    """Variants with one value or more beyond the ranges (1.2 to 2 times the largest) that no model learns."""
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 1
    """Seed of the draw."""
    ranges: SampleRanges
    """What varies, and between which values; everything else is as in the entry."""

    def groups(self) -> list[Group]:
        """The group of each variant in order of its number."""
        numbers = zip(GROUPS, (self.count, self.held_out, self.outside), strict=True)
        return [group for group, number in numbers for _ in range(number)]


def sampled_ids(id: str, variants: int) -> list[str]:
    """Ids of an entry's variants: its own and a number, as wide as the largest."""
    return [f"{id}-{number:0{len(str(variants))}d}" for number in range(1, variants + 1)]


class _Range(NamedTuple):
    key: str
    low: float
    high: float


def sampled_values(
    sample: HardwareSample, is_valid: Callable[[dict[str, float]], bool] | None = None
) -> list[dict[str, float]]:
    """What each variant of the sample has, by key in base units, in order of :meth:`HardwareSample.groups`.

    No two variants are alike. `is_valid` says of such values whether they make a datapath that can be built (None: all
    do); others are passed over. Raises ValueError where the ranges do not hold enough variants.
    """
    ranges = [_Range(key, *ends) for key, ends in sample.ranges.given().items()]
    taken: list[dict[str, float]] = []
    seen: set[tuple[float, ...]] = set()
    chance = random.Random(f"{sample.seed}:beyond")
    points = _spread(len(ranges), sample.seed)
    corners = iter(_corners(len(ranges), sample.count // 2))
    for number, group in enumerate(sample.groups()):
        for _ in range(DRAWS_PER_VARIANT):
            corner = next(corners, None) if group == "train" else None
            if corner is not None:
                values = {r.key: r.high if up else r.low for r, up in zip(ranges, corner, strict=True)}
            else:
                values = _drawn(group, ranges, next(points), chance)
            if tuple(values.values()) not in seen and (is_valid is None or is_valid(values)):
                seen.add(tuple(values.values()))
                taken.append(values)
                break
        else:
            raise ValueError(
                f"the ranges hold no more than {len(taken)} different variants that can be built, {number + 1} are "
                "asked for; widen a range, or ask for fewer"
            )
    return taken


def _drawn(group: Group, ranges: list[_Range], point: list[float], chance: random.Random) -> dict[str, float]:
    """The variant at a point of [0, 1)^n; of an outside one each key lies beyond with a chance of a half, one at least
    does."""
    beyond: set[str] = set()
    if group == "outside":
        beyond = {r.key for r in ranges if chance.random() < 0.5} or {chance.choice(ranges).key}
    return {
        r.key: _beyond(r, u) if r.key in beyond else _within(r, u, group != "train")
        for r, u in zip(ranges, point, strict=True)
    }


def _within(range_: _Range, u: float, inner: bool) -> float:
    """The value at `u` of [0, 1); `inner`: away from both ends, where there is something between."""
    key, low, high = range_
    if key in CONTINUOUS:
        share = MARGIN + (1 - 2 * MARGIN) * u if inner else u
        return min(max(_rounded(low * (high / low) ** share), low), high)
    first, last = int(low).bit_length() - 1, int(high).bit_length() - 1
    if inner and last - first >= 2:
        first, last = first + 1, last - 1
    return 2 ** (first + int(u * (last - first + 1)))


def _beyond(range_: _Range, u: float) -> float:
    if range_.key in CONTINUOUS:
        return _rounded(range_.high * FEWEST_BEYOND * (MOST_BEYOND / FEWEST_BEYOND) ** u)
    return int(range_.high * MOST_BEYOND)


def _rounded(value: float) -> float:
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}")


def _corners(parameters: int, most: int) -> list[list[bool]]:
    """Corners of the ranges, True where a parameter is at its largest: the lowest, the highest, then others.

    Rows of a Hadamard matrix of Sylvester's kind and their mirror images, a two-level orthogonal array: any two
    parameters meet in all four combinations equally often. Where these are more than `most`, the first two.
    """
    size = 1 << parameters.bit_length()
    rows = [[(row & column).bit_count() % 2 == 1 for column in range(1, parameters + 1)] for row in range(size)]
    pairs = [corner for row in rows for corner in (row, [not up for up in row])]
    corners = [corner for place, corner in enumerate(pairs) if corner not in pairs[:place]]
    return corners if len(corners) <= most else corners[: min(2, most)]


def _spread(dimensions: int, seed: int) -> Iterator[list[float]]:
    """Points of [0, 1)^dimensions that fill it evenly: an additive recurrence with powers of a generalised golden
    ratio (Roberts, The unreasonable effectiveness of quasirandom sequences, 2018), shifted by the seed."""
    ratio = 2.0
    for _ in range(64):  # the root of x^(d + 1) = x + 1
        ratio = (1.0 + ratio) ** (1.0 / (dimensions + 1))
    steps = [ratio ** -(place + 1) for place in range(dimensions)]
    shift = random.Random(f"{seed}:shift")
    start = [shift.random() for _ in range(dimensions)]
    number = 0
    while True:
        number += 1
        yield [math.fmod(begin + number * step, 1.0) for begin, step in zip(start, steps, strict=True)]


def sample_problem(sample: HardwareSample, given: Mapping[str, Any]) -> Problem | None:
    """A key that the entry's own datapath gives although it varies; path relative to the entry."""
    both = [key for key in sample.ranges.given() if key in given]
    if not both:
        return None
    return Problem(("datapath", both[0]), f"varies under sample.ranges.{both[0]} too; keep one of the two")
