"""Checks of the study's hardware: bases, sampled variants, and the variants that other entries name."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from schemas.dataset import Dataset
from schemas.hardware import (
    DATAPATH_KEYS,
    HARDWARE_PRESETS,
    BaseCircleError,
    Hardware,
    base_chain,
    entry_variants,
    merged_datapath,
    variants_of,
)
from schemas.hardware_sample import Group, sampled_ids
from schemas.measure import Runtime
from schemas.problem import Path, Problem, allowed_names, got
from schemas.study_base import select

if TYPE_CHECKING:
    from schemas.study import Study


def hardware_problems(study: "Study") -> Iterator[Problem]:
    """Bases that go in circles, keys that are missing, ranges that hold too little."""
    for id in study.hardware:
        try:
            chain = base_chain(study.hardware, id)
        except KeyError:  # a base that is unknown or broken
            continue
        except BaseCircleError as circle:
            text = f"the bases go in a circle: {circle}; allowed: a chain that ends at a preset ({_presets()})"
            yield Problem(("hardware", id, "base"), text)
            continue
        extended = study.hardware.get(study.hardware[id].base or "")
        if extended and extended.sample and study.hardware[id].base != id:
            text = f"{got(study.hardware[id].base)} means many variants; allowed: an entry without sample, or a preset"
            yield Problem(("hardware", id, "base"), text)
            continue
        varies = sample.ranges.given() if (sample := study.hardware[id].sample) else {}
        absent = [k for name, k in DATAPATH_KEYS.items() if name not in merged_datapath(chain) and k not in varies]
        if study.hardware[id].is_measured and len(absent) == len(DATAPATH_KEYS):
            continue
        if absent:
            text = f"missing {', '.join(absent)}; give every key, or a base (allowed: {_presets()})"
            text += ", or no key and no base" if study.hardware[id].is_measured else ""
            yield Problem(("hardware", id, "datapath"), text)
        elif sample:
            yield from _sample_problems(study, id)


def _sample_problems(study: "Study", id: str) -> Iterator[Problem]:
    try:
        variants = entry_variants(study.hardware, id)
    except ValueError as error:
        yield Problem(("hardware", id, "sample", "ranges"), str(error))
        return
    for variant in variants:
        if variant in study.hardware:
            text = f"one of the variants of '{id}' has this id; allowed: another one"
            yield Problem(("hardware", variant), text)


def _presets() -> str:
    return ", ".join(HARDWARE_PRESETS)


def hardware_of_dataset(
    path: Path, written: list[str], dataset: str, study: "Study", known: Mapping[str, list[str]]
) -> Iterator[Problem]:
    """Variants `written` at `path` that exist, but not in the dataset."""
    of_dataset = study.datasets[dataset].hardware
    runtimes = (None, study.runtime_of_dataset(dataset))
    variants = {variant for variant in _variants(of_dataset, study, known) if runtime_of(variant, study) in runtimes}
    for place, variant in enumerate(written):
        exists = variant in known["hardware"] or sample_group(variant, study) is not None
        if exists and not set(_variants([variant], study, known)) <= variants:
            entries = select(of_dataset, known["hardware"])
            yield Problem(
                (*path, place), f"{got(variant)} is not in dataset '{dataset}'; {allowed_names(variant, entries)}"
            )


def _variants(selection: list[str] | Literal["all"], study: "Study", known: Mapping[str, list[str]]) -> list[str]:
    """The variants that a selection means, among them ids of broken entries and those that don't exist."""
    return variants_of(known["hardware"] if selection == "all" else selection, study.hardware)


def is_sampled(id: str, hardware: Mapping[str, Any]) -> bool:
    """Whether `id` is an entry's with a number, `variants-07`, and that entry samples variants, as far as written."""
    entry, _, number = id.rpartition("-")
    written = hardware.get(entry)
    sample = written.get("sample") if isinstance(written, Mapping) else None
    if not isinstance(sample, Mapping) or not number.isdecimal():
        return False
    counts = [sample.get(key) or 0 for key in ("count", "held_out", "outside")]
    if not all(isinstance(count, int) for count in counts):
        return True  # another message says so
    return id in sampled_ids(entry, sum(counts))


def sample_group(variant: str, study: "Study") -> Group | None:
    """The group of a variant that is called as an entry samples it; None for any other id."""
    id = variant.rpartition("-")[0]
    entry = study.hardware.get(id)
    if variant in study.hardware or entry is None or entry.sample is None:
        return None
    return dict(zip(entry.variant_ids(id), entry.sample.groups(), strict=True)).get(variant)


def runtime_of(variant: str, study: "Study") -> Runtime | None:
    """Where the runtimes of a variant come from; None where it is broken or does not exist."""
    entry = study.hardware.get(variant) or study.hardware.get(variant.rpartition("-")[0])
    return None if entry is None else entry.runtime


def runtime_of_dataset(dataset: Dataset, hardware: Mapping[str, Hardware]) -> Runtime:
    """Where the labels of a dataset come from: its files, or what its first variant that makes labels says."""
    if dataset.source is not None:
        return "recorded"
    written = dataset.hardware if dataset.hardware != "all" else []
    runtimes = [hardware[id].runtime for id in written if id in hardware]
    return next((runtime for runtime in runtimes if runtime != "recorded"), "simulated")
