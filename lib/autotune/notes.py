"""What a person must know of an entry's result, in words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lib.autotune.strategies import TrainedModels
from lib.hardware.datapath import Datapath
from lib.prediction.asked_hardware import AskedHardware, training_note


def model_notes(
    entries: Sequence[Mapping[str, Any]], trained: TrainedModels, workload: str, hardware: str, datapath: Datapath
) -> list[str]:
    """In words: hardware unlike that of a model's training, and programs that a model was trained on."""
    asked = AskedHardware(hardware, datapath)
    members = dict.fromkeys(member for entry in entries for member in entry["members"])
    notes = [note for id in members if (note := training_note(trained[id][min(trained[id])], asked))]
    seen = [entry["id"] for entry in entries if workload in entry["trained_on"]]
    if seen:
        notes.append(f"{workload} is one of the programs that {', '.join(seen)} learned, so it is not held out")
    return notes


def result_notes(
    spec: Mapping[str, Any], tiles: np.ndarray, sampled: int, skipped: pd.DataFrame, results: pd.DataFrame
) -> Iterator[str]:
    """In words: kernels and programs with nothing to choose, sampled tile spaces, budgets that paid for nothing, and
    configurations that were skipped.

    `tiles`: int64[k] of each kernel of the default fusion; `sampled`: kernels with more than are ranked.
    """
    one_tile = int((tiles == 1).sum())
    if one_tile:
        yield f"{one_tile} of {len(tiles)} kernels have a single tile, so there is nothing to choose"
    if sampled:
        text = f"{sampled} kernels have more than {spec['tiles_per_kernel']:,} tiles: a sample of that size was ranked"
        yield text + (", and 'exhaustive' is the best of the sample" if spec["exhaustive"] else "")
    fusion = results[results["stage"] == "fusion"]
    if len(fusion) and not fusion["moves"].any():
        yield "no instruction can be fused otherwise, so the default fusion configuration is the only one"
    elif spec["task"] != "tiles" or one_tile < len(tiles):
        yield from _empty_budgets(spec, results)
    if len(skipped):
        reasons = skipped["reason"].value_counts()
        counted = ", ".join(f"{count} {reason}" for reason, count in reasons.items())
        yield f"the target skipped {len(skipped)} configurations: {counted}"


def _empty_budgets(spec: Mapping[str, Any], results: pd.DataFrame) -> Iterator[str]:
    """Budgets that ended before any strategy had run a single new configuration, at the first compile cost."""
    cost_s = spec["compile_costs_s"][0]
    limited = results[(results["compile_cost_s"] == cost_s) & results["budget_s"].notna()]
    for (stage, budget_s), most in limited.groupby(["stage", "budget_s"])["configurations"].max().items():
        if most == 0:
            yield (
                f"{budget_s:g} target seconds did not pay for one new configuration of stage {stage} ({cost_s:g} s to "
                f"compile it and {spec['repeats']} runs), so what such a budget shows is the default configuration"
            )
