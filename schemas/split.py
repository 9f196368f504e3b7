"""The split by family: whole architecture families go to training, validation or test."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence

PARTS = ("train", "validation", "test")


def family_split(families: dict[str, str], test: float, validation: float, seed: int) -> dict[str, list[str]]:
    """Assign programs to the three parts, family by family.

    `families` maps program to family; `test` and `validation` are the asked shares of programs. Families
    are shuffled by a hash of the seed and their name, so a family that is added later leaves the order of
    the others alone. Test, then validation, takes families in that order as long as each brings the
    part's share closer to the asked one; each part gets at least one family, the smallest if all of them
    overshoot. Returns sorted program names by part.

    Raises ValueError if there are fewer than three families.
    """
    sizes = Counter(families.values())
    if len(sizes) < len(PARTS):
        names = ", ".join(sorted(sizes))
        raise ValueError(f"a split by family needs at least 3 families, there are {len(sizes)}: {names}")
    left = sorted(sizes, key=lambda family: hashlib.sha256(f"{seed}:{family}".encode()).hexdigest())
    part_of: dict[str, str] = {}
    for part, share, kept_back in (("test", test, 2), ("validation", validation, 1)):
        for family in _closest(left, sizes, share * len(families), len(left) - kept_back):
            part_of[family] = part
            left.remove(family)
    return {
        part: sorted(name for name, family in families.items() if part_of.get(family, "train") == part)
        for part in PARTS
    }


def families_on_both_sides(split: Mapping[str, Sequence[str]], families: Mapping[str, str]) -> list[str]:
    """Families, sorted, with programs both in test and in training or validation, which a split by name allows.

    `split`: programs by part; `families` maps program to family.
    """
    sides = [{families[program] for part in side for program in split[part]} for side in (PARTS[:2], PARTS[2:])]
    return sorted(sides[0] & sides[1])


def _closest(order: list[str], sizes: Counter[str], target: float, most: int) -> list[str]:
    """The families, in order and at most `most`, that bring the number of programs close to `target`."""
    chosen: list[str] = []
    programs = 0
    for family in order:
        if len(chosen) < most and abs(programs + sizes[family] - target) < abs(programs - target):
            chosen.append(family)
            programs += sizes[family]
    return chosen or [min(order, key=lambda family: sizes[family])]
