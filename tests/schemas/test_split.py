"""Drawn splits: whole families or architectures, no empty part, about the asked shares, the same on every machine."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.split import chosen_programs, drawn_split, families_on_both_sides

families = st.dictionaries(
    st.text("abcdefgh", min_size=1, max_size=4), st.sampled_from([f"family-{n}" for n in range(8)]), min_size=3
).filter(lambda programs: len(set(programs.values())) >= 3)
shares = st.floats(0.05, 0.45)


@settings(deadline=None)  # a busy machine is no failure
@given(families, shares, shares, st.integers(0, 1000))
def test_every_program_has_one_place_and_no_family_is_divided(programs, test, validation, seed):
    split = drawn_split(programs, "family", test, validation, seed)
    assert sorted(name for names in split.values() for name in names) == sorted(programs)
    places = {part: {programs[name] for name in names} for part, names in split.items()}
    assert all(places.values())
    assert sum(len(place) for place in places.values()) == len(set(programs.values()))


@settings(deadline=None)  # a busy machine is no failure
@given(families, shares, shares, st.integers(0, 1000), st.randoms())
def test_the_order_of_programs_does_not_matter(programs, test, validation, seed, order: random.Random):
    shuffled = list(programs.items())
    order.shuffle(shuffled)
    assert drawn_split(dict(shuffled), "family", test, validation, seed) == drawn_split(
        programs, "family", test, validation, seed
    )


@settings(deadline=None)  # a busy machine is no failure
@given(st.integers(0, 1000))
def test_shares_are_met_where_families_are_small(seed):
    programs = {f"program-{n}": f"family-{n // 2}" for n in range(40)}
    split = drawn_split(programs, "family", 0.3, 0.2, seed)
    assert {part: len(names) for part, names in split.items()} == {"train": 20, "validation": 8, "test": 12}


def test_a_family_larger_than_the_share_stays_in_training():
    programs = {f"large-{n}": "large" for n in range(10)} | {"a": "small-a", "b": "small-b"}
    for seed in range(10):
        split = drawn_split(programs, "family", 0.1, 0.1, seed)
        assert [len(split[part]) for part in ("train", "validation", "test")] == [10, 1, 1]


def test_seeds_differ():
    programs = {f"program-{n}": f"family-{n}" for n in range(20)}
    assert len({tuple(drawn_split(programs, "family", 0.3, 0.2, seed)["test"]) for seed in range(20)}) > 10


def test_the_draw_is_written_down():
    """`printf 1:a | sha256sum` and so on sort as d a f e b c: two for test, one for validation. A change of the
    rule would change every study without a word."""
    split = drawn_split({name: name for name in "abcdef"}, "family", 0.34, 0.17, 1)
    assert split == {"train": ["b", "c", "e"], "validation": ["f"], "test": ["a", "d"]}


def test_two_families_are_too_few():
    with pytest.raises(ValueError, match="at least 3 families, there are 2: a, b"):
        drawn_split({"x": "a", "y": "b", "z": "b"}, "family", 0.3, 0.2, 1)


def test_two_architectures_are_too_few():
    with pytest.raises(ValueError, match="split by program needs at least 3 architectures, there are 2: a, b"):
        drawn_split({"x": "a", "y": "b", "z": "b"}, "program", 0.3, 0.2, 1)


def test_families_on_both_sides_of_a_named_split():
    split = {"train": ["a"], "validation": ["b"], "test": ["c", "d", "e"]}
    families = {"a": "x", "b": "y", "c": "y", "d": "x", "e": "z"}
    assert families_on_both_sides(split, families) == ["x", "y"]
    assert families_on_both_sides(split, families | {"c": "z", "d": "z"}) == []


@pytest.mark.parametrize("seed", range(5))
def test_programs_are_chosen_one_family_after_the_other(seed):
    families = {"a1": "a", "a2": "a", "a3": "a", "b1": "b", "c1": "c", "c2": "c"}

    def chosen(count: int) -> list[str]:
        return chosen_programs(list(families), families, count, seed)

    assert sorted(families[name] for name in chosen(3)) == ["a", "b", "c"]
    assert sorted(families[name] for name in chosen(5)) == ["a", "a", "b", "c", "c"]
    assert chosen(6) == chosen(7) == sorted(families)
    for count in range(1, 6):
        assert set(chosen(count)) < set(chosen(count + 1))
