"""Searches: what a study may write, what the rule gets of it, and what is refused in which words."""

from pathlib import Path

import pytest

from schemas.search_space import DEFAULT_SPACE, NAMES, TABLE_3, WIDEST
from tests.schemas.study_examples import SOUND, messages_of, study_of

PLACE = "study.yaml:16: searches.mobile"


def with_search(keys: str) -> str:
    """The sound study with more keys in its search."""
    return SOUND.replace("baseline: tpu-v3", f"baseline: tpu-v3, {keys}")


def test_every_parameter_has_names_or_bounds_which_hold_table_3():
    assert set(NAMES) | set(WIDEST) == set(DEFAULT_SPACE)
    assert not set(NAMES) & set(WIDEST)
    for parameter, values in TABLE_3.items():
        if parameter in NAMES:
            assert set(values) <= set(NAMES[parameter])
        else:
            smallest, largest = WIDEST[parameter]
            assert all(smallest <= value <= largest for value in values if value)


def test_everything_that_a_search_may_say(tmp_path: Path):
    keys = (
        "weights: {mobilenet-v2: 2}, baseline_schedule: best, objective: energy, optimiser: swarm, trials: 5000, "
        "islands: 5, residency: lifetime, limits: {latency_s: 15 ms}, surrogate: regression, "
        "space: {dram_kind: [hbm2, gddr6], softmax: [two-pass, three-pass], dataflows: [output-stationary, any]}"
    )
    spec = study_of(tmp_path, with_search(keys)).resolved_search("mobile", 3)
    assert spec.pop("baseline")["id"] == "tpu-v3"
    space = spec.pop("space")
    assert spec == {
        "id": "mobile", "workloads": ["mobilenet-v2"], "weights": {"mobilenet-v2": 2.0}, "baseline_schedule": "best",
        "objective": "energy", "optimiser": "swarm", "trials": 5000, "island": 3, "residency": "lifetime",
        "limits": {"tdp_ratio": 2.0, "area_ratio": 1.67, "latency_s": pytest.approx(0.015)}, "surrogate": "regression",
        "seed": 1,
    }  # fmt: skip
    assert space["dram_kind"] == ["gddr6", "hbm2"]
    assert space["softmax"] == ["three-pass", "two-pass"]
    assert space["dataflows"] == ["any", "output-stationary"]


def test_a_space_may_go_beyond_table_3(tmp_path: Path):
    text = with_search("space: {systolic_rows: [96, 512], global_buffer_bytes: [24 MiB, 0], native_batch: [3]}")
    space = study_of(tmp_path, text).resolved_search("mobile", 1)["space"]
    assert (space["systolic_rows"], space["native_batch"]) == ([96, 512], [3])
    assert space["global_buffer_bytes"] == [0, 24 * 2**20]


def test_what_a_chip_costs_reruns_no_search(tmp_path: Path):
    text = with_search("return_on_investment: {server_price_usd: 1000}")
    assert study_of(tmp_path, text).resolved_search("mobile", 1) == study_of(tmp_path, SOUND).resolved_search(
        "mobile", 1
    )


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("space: {dram_kind: []}", ".space.dram_kind: got []; allowed: a list of at least one value: gddr6, hbm2"),
        ("space: {pes_x: [2048]}", ".space.pes_x.0: got 2048; allowed: a whole number from 1 to 1024"),
        ("space: {pes_x: [4, 4]}", ".space.pes_x.1: got 4 is listed already; allowed: each value once"),
        ("space: {softmax: [two-pas]}", ".space.softmax.0: got 'two-pas'; allowed: three-pass, two-pass; did you mean"),
        ("space: {pex: [4]}", ".space.pex: unknown key; allowed: pes_x, "),
        (
            "space: {l1_input_bytes: [1 KiB], systolic_rows: [512], l1_config: [private]}",
            ".space: no design can be built, not even with the largest L1: with l1_config private l1_input_bytes is "
            "1024 B, a 512 x 1 array needs 2048 B; allowed: larger L1 buffers or smaller arrays",
        ),
        ("limits: {latency_s: 15}", ".limits.latency_s: got 15; allowed: a time such as 5 us"),
        ("limits: {tdp_ratio: 0}", ".limits.tdp_ratio: got 0; allowed: more than 0"),
        ("optimiser: swam", ".optimiser: got 'swam'; allowed: random, tpe, nsga2, cma-es, swarm; did you mean 'swarm'"),
        ("surrogate: tmer", ".surrogate: got 'tmer'; allowed: none, regression, ranker, timer; did you mean 'timer'?"),
        ("weights: {mobilenet: 1}", ".weights.mobilenet: got 'mobilenet'; allowed: mobilenet-v2; did you mean 'mob"),
        ("weights: {vgg: 1}", ".weights.vgg: got 'vgg'; allowed: mobilenet-v2"),
        ("weights: {mobilenet-v2: -1}", ".weights.mobilenet-v2: got -1; allowed: more than 0"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, keys: str, message: str):
    messages = messages_of(tmp_path, with_search(keys))
    assert messages[0].startswith(PLACE + message)
    assert len(messages) == 1


def test_all_that_is_wrong_with_a_search_is_said_at_once(tmp_path: Path):
    keys = "optimiser: swam, surrogate: tmer, weights: {mobilenet: 1}, trials: 0, space: {pes_x: [0], pes_y: []}"
    places = {message.split(": ")[1] for message in messages_of(tmp_path, with_search(keys))}
    wrong = ("optimiser", "surrogate", "weights.mobilenet", "trials", "space.pes_x.0", "space.pes_y")
    assert places == {f"searches.mobile.{key}" for key in wrong}
