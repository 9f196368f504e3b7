"""Drawn splits: whole architecture families, or whole architectures, go to training, validation or test."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

PARTS = ("train", "validation", "test")


def drawn_split(
    units: Mapping[str, str], by: Literal["family", "program"], test: float, validation: float, seed: int
) -> dict[str, list[str]]:
    """Assign programs to the three parts, unit by unit.

    `units` maps program to the unit that is never divided: its family, or its architecture where `by` is program.
    `test` and `validation` are the asked shares of programs. Units are shuffled by a hash of the seed and their name,
    so a unit that is added later leaves the order of the others alone. Test, then validation, takes units in that
    order as long as each brings the part's share closer to the asked one; each part gets at least one unit, the
    smallest if all of them overshoot. Returns sorted program names by part.

    Raises ValueError if there are fewer than three units.
    """
    sizes = Counter(units.values())
    if len(sizes) < len(PARTS):
        names = ", ".join(sorted(sizes))
        wanted = "families" if by == "family" else "architectures"
        raise ValueError(f"a split by {by} needs at least 3 {wanted}, there are {len(sizes)}: {names}")
    left = shuffled_units(sizes, seed)
    part_of: dict[str, str] = {}
    for part, share, kept_back in (("test", test, 2), ("validation", validation, 1)):
        for unit in closest_units(left, sizes, share * len(units), len(left) - kept_back):
            part_of[unit] = part
            left.remove(unit)
    return {part: sorted(name for name, unit in units.items() if part_of.get(unit, "train") == part) for part in PARTS}


def chosen_programs(programs: Sequence[str], families: Mapping[str, str], count: int, seed: int) -> list[str]:
    """`count` of the programs, sorted: one of each family, then a second of each that has one, and so on.

    Families, and the programs of each, are shuffled by a hash of the seed and their name, so a smaller count's are
    among a larger one's. All programs where there are no more than `count`.
    """

    def place(name: str) -> str:
        return hashlib.sha256(f"{seed}:{name}".encode()).hexdigest()

    round_of: dict[str, int] = {}
    seen: Counter[str] = Counter()
    for program in sorted(programs, key=place):
        round_of[program] = seen[families[program]]
        seen[families[program]] += 1
    order = sorted(programs, key=lambda program: (round_of[program], place(families[program])))
    return sorted(order[:count])


def families_on_both_sides(split: Mapping[str, Sequence[str]], families: Mapping[str, str]) -> list[str]:
    """Families, sorted, with programs both in test and in training or validation, which a split by name allows.

    `split`: programs by part; `families` maps program to family.
    """
    sides = [{families[program] for part in side for program in split[part]} for side in (PARTS[:2], PARTS[2:])]
    return sorted(sides[0] & sides[1])


def shuffled_units(units: Iterable[str], seed: int) -> list[str]:
    """The units in the order of a hash of the seed and their name."""
    return sorted(units, key=lambda unit: hashlib.sha256(f"{seed}:{unit}".encode()).hexdigest())


def closest_units(order: list[str], sizes: Mapping[str, int], target: float, most: int) -> list[str]:
    """The units, in order and at most `most`, that bring the number of programs close to `target`."""
    chosen: list[str] = []
    programs = 0
    for unit in order:
        if len(chosen) < most and abs(programs + sizes[unit] - target) < abs(programs - target):
            chosen.append(unit)
            programs += sizes[unit]
    return chosen or [min(order, key=lambda unit: sizes[unit])]
