"""Sampled hardware: ranges surrounded by what is trained on, held-out variants inside and beyond them."""

import itertools
import math
from pathlib import Path

import pytest

from schemas.hardware_sample import HardwareSample, sampled_values
from tests.schemas.study_examples import SOUND, messages_of, study_of

RANGES = {
    "systolic_rows": [32, 256],
    "systolic_columns": [32, 256],
    "vector_lanes": [256, 2048],
    "pes_x": [1, 4],
    "global_buffer": ["8 MiB", "32 MiB"],
    "dram_bandwidth": ["200 GB/s", "1000 GB/s"],
    "clock": ["0.5 GHz", "1 GHz"],
}
MIB, GB_PER_S = 2**20, 1e9


def sample_of(**changes) -> HardwareSample:
    return HardwareSample.model_validate(
        {"count": 64, "held_out": 8, "outside": 4, "seed": 1, "ranges": RANGES} | changes
    )


def by_group(sample: HardwareSample) -> dict[str, list[dict]]:
    groups: dict[str, list[dict]] = {"train": [], "inside": [], "outside": []}
    for group, values in zip(sample.groups(), sampled_values(sample), strict=True):
        groups[group].append(values)
    return groups


def test_training_variants_surround_the_ranges():
    """Any two keys meet at all four pairs of ends; each of the four row counts has about a quarter of the variants."""
    train = by_group(sample_of())["train"]
    ends = {key: (values[0], values[1]) for key, values in sample_of().ranges.given().items()}
    assert len(train) == 64
    for first, second in itertools.combinations(ends, 2):
        pairs = {(one[first], one[second]) for one in train}
        assert pairs >= set(itertools.product(ends[first], ends[second]))
    counts = [sum(one["systolic_rows"] == rows for one in train) for rows in (32, 64, 128, 256)]
    assert sum(counts) == 64
    assert min(counts) >= 10
    low = [one["dram_bandwidth"] < math.sqrt(200 * 1000) * GB_PER_S for one in train]
    assert 24 <= sum(low) <= 40


def test_held_out_variants_are_strictly_inside():
    """A tenth of the logarithm from either end: 200 x 5^0.1 = 234.9 GB/s to 200 x 5^0.9 = 851.3 GB/s. `pes_x` has 2
    alone between 1 and 4, the buffer 16 MiB between 8 and 32."""
    for values in by_group(sample_of())["inside"]:
        assert values["systolic_rows"] in (64, 128)
        assert values["vector_lanes"] in (512, 1024)
        assert values["pes_x"] == 2
        assert values["global_buffer"] == 16 * MIB
        assert 234.9 * GB_PER_S <= values["dram_bandwidth"] <= 851.4 * GB_PER_S


def test_outside_variants_lie_beyond_in_one_key_or_more():
    largest = {key: high for key, (_, high) in sample_of().ranges.given().items()}
    for values in by_group(sample_of())["outside"]:
        beyond = {key: values[key] / largest[key] for key in values if values[key] > largest[key]}
        assert beyond
        for key, factor in beyond.items():
            assert 1.2 <= factor <= 2 if key in ("clock", "dram_bandwidth") else factor == 2


def test_variants_differ_and_are_drawn_by_the_seed():
    values = sampled_values(sample_of())
    assert all(values[i] != values[j] for i, j in itertools.combinations(range(len(values)), 2))
    assert values == sampled_values(sample_of())
    assert values != sampled_values(sample_of(seed=2))


def test_variants_that_can_not_be_built_are_passed_over():
    values = sampled_values(sample_of(), lambda one: one["systolic_rows"] * one["systolic_columns"] <= 128 * 128)
    assert len(values) == 76
    assert max(one["systolic_rows"] * one["systolic_columns"] for one in values) <= 128 * 128


def test_ranges_that_hold_too_few_are_refused():
    """Two row counts and three buffers make six variants."""
    ranges = {"systolic_rows": [32, 64], "global_buffer": ["8 MiB", "32 MiB"]}
    assert len(sampled_values(sample_of(count=6, held_out=0, outside=0, ranges=ranges))) == 6
    with pytest.raises(ValueError, match="hold no more than 6 different variants that can be built, 7 are asked for"):
        sampled_values(sample_of(count=7, held_out=0, outside=0, ranges=ranges))


SAMPLED = """\
  variants:
    base: tpu-v3
    sample: {count: 8, held_out: 2, outside: 1, ranges: {systolic_rows: [32, 256], dram_bandwidth: [200 GB/s, 1 TB/s]}}
"""
STUDY = SOUND.replace("  edge:", SAMPLED + "  edge:")


def test_an_entry_means_all_of_its_variants_and_a_model_learns_those_to_train_on(tmp_path: Path):
    study = study_of(tmp_path, STUDY)
    ids = [f"variants-{number:02d}" for number in range(1, 12)]
    assert study.hardware_ids("default") == ["edge", "tpu-v3", *ids]
    assert study.resolved_model("ranker")["hardware"] == ["edge", "tpu-v3", *ids[:8]]
    assert study.hardware_groups(["edge", *ids[7:]]) == {
        "variants-08": "train", "variants-09": "inside", "variants-10": "inside", "variants-11": "outside",
    }  # fmt: skip
    (scored, _) = study.resolved_evaluation("accuracy")["models"]
    assert scored["scored_on"] == ["edge", "tpu-v3", *ids]
    assert scored["hardware_groups"] == study.hardware_groups(ids)
    assert study.shard_hardware(study.hardware_ids("default")) == ["edge", "tpu-v3", "variants"]


def test_a_sampled_entry_is_one_shard_with_what_each_variant_has_of_its_own(tmp_path: Path):
    study = study_of(tmp_path, STUDY)
    entry = study.resolved_shard("default", "fusion", "variants", "vgg")["hardware"]
    assert list(entry["variants"]) == [f"variants-{number:02d}" for number in range(1, 12)]
    assert entry["variants"]["variants-01"] == {"systolic_rows": 32, "dram_bytes_per_s": 200e9}
    assert entry["variants"]["variants-02"] == {"systolic_rows": 256, "dram_bytes_per_s": 1000e9}
    whole = entry["datapath"] | entry["variants"]["variants-02"]
    assert study.resolved_hardware("variants-02")["datapath"] == whole
    plain = study_of(tmp_path, SOUND)
    for hardware in ("edge", "tpu-v3"):
        shards = [one.resolved_shard("default", "tile", hardware, "vgg") for one in (study, plain)]
        assert shards[0] == shards[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("[32, 256]", "[48, 256]"), "variants.sample.ranges.systolic_rows.0: got 48; allowed: a power of two"),
        (("[32, 256]", "[256, 32]"), "ranges.systolic_rows: allowed: [smallest, largest], the second larger than"),
        (("[32, 256]", "32"), "ranges.systolic_rows: got 32; allowed: [smallest, largest]"),
        (("systolic_rows: [", "systolic_rowz: ["), "did you mean 'systolic_rows'?"),
        (("count: 8", "count: 8, seeed: 2"), "did you mean 'seed'?"),
        (("    base: tpu-v3\n    sample", "    base: tpu-v3\n    datapath: {systolic_rows: 64}\n    sample"),
         "hardware.variants.datapath.systolic_rows: varies under sample.ranges.systolic_rows too; keep one"),
        (("edge: {base: tpu-v3", "edge: {base: variants"), "hardware.edge.base: got 'variants' means many variants"),
        (("  edge:", "  variants-02:"), "hardware.variants-02: one of the variants of 'variants' has this id"),
        (("{task: tile, dataset: default}", "{task: tile, dataset: default, hardware: [variants-09]}"),
         "models.ranker.hardware.0: got 'variants-09' is held out; allowed: variants to train on"),
        (("{task: tile, dataset: default}", "{task: tile, dataset: default, hardware: [variants-12]}"),
         "models.ranker.hardware.0: got 'variants-12'; allowed: tpu-v3, variants, edge"),
        (("{workloads: all}", "{hardware: [edge]}"), None),
        (("baseline: tpu-v3", "baseline: variants"), "searches.mobile.baseline: got 'variants' means many variants"),
        (("baseline: tpu-v3", "baseline: variants-11"), None),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_said(tmp_path: Path, change: tuple[str, str], message: str | None):
    text = STUDY.replace(*change, 1)
    assert text != STUDY
    if message is None:
        study_of(tmp_path, text)
    else:
        messages = messages_of(tmp_path, text)
        assert message in messages[0]
        assert len(messages) == 1
