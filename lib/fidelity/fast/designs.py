"""Table 5: EfficientNet-B7 on TPU-v3, FAST-Large and FAST-Small."""

from collections.abc import Callable, Iterator

from lib.cost.simulator_constants import SimulatorConstants
from lib.fidelity.fast.published import beside
from lib.fidelity.fast.runs import Run, Runs, Scheduling, chip, perf_per_tdp_gain
from lib.fidelity.fast.spread import spread
from lib.fidelity.fast.throughput import TPU_V3
from lib.fidelity.figure import Figure
from lib.hardware.datapath import datapath_from_spec, peak_flops_per_s, ridge_flops_per_byte
from schemas.power_area import PowerAreaModel
from schemas.reference import load_reference

TABLE = "fast-designs"
WORKLOAD = "efficientnet-b7"
DESIGNS = ("tpu-v3", "fast-large", "fast-small")
POWER_MODELS: tuple[PowerAreaModel, ...] = ("fast-fitted", "public")


NOTES = {
    "compute_utilisation": "FLOPs over the peak rate in the time that is not waited for DRAM",
    "fused_intensity": "of the priced kernels, whose tiles take room beside what stays",
}


def design_figures(runs: Runs) -> Iterator[Figure]:
    """Every row of the table that a model of ours has. TPU-v3 runs as it is; the others with the best schedules, before
    and after residency."""
    for design in DESIGNS:
        datapath = datapath_from_spec(chip(design))
        peak = datapath.cores * peak_flops_per_s(datapath) / 1e12
        yield beside(TABLE, design, "peak_flops", peak)
        yield beside(TABLE, design, "ridge", ridge_flops_per_byte(datapath))
    if WORKLOAD not in runs.programs:
        return
    for design in DESIGNS:
        yield from _performance(runs, design)
    for design in DESIGNS[1:]:
        for model in POWER_MODELS:
            ours = spread(_gain, runs, design, model)
            note = f"power model {model}; our own TPU-v3 as the baseline"
            quantity = "perf_per_tdp" if model == "fast-fitted" else f"perf_per_tdp_{model}"
            yield beside(TABLE, design, "perf_per_tdp", ours, note, quantity=quantity)


def before(runs: Runs, design: str, constants: SimulatorConstants) -> Run:
    """EfficientNet-B7 at the design's batch, nothing resident."""
    return _on_design(runs, design, constants, resident=False)


def after(runs: Runs, design: str, constants: SimulatorConstants) -> Run:
    """With residency; TPU-v3 as it is has none."""
    return _on_design(runs, design, constants, resident=design != "tpu-v3")


def _on_design(runs: Runs, design: str, constants: SimulatorConstants, *, resident: bool) -> Run:
    spec = chip(design)
    scheduling: Scheduling = "default" if design == "tpu-v3" else "best"
    return runs.run(WORKLOAD, spec["native_batch"], spec, scheduling, resident=resident, constants=constants)


def _performance(runs: Runs, design: str) -> Iterator[Figure]:
    quantities: dict[str, Callable[[Runs, str, SimulatorConstants], float]] = {
        "compute_utilisation": lambda *of: before(*of).compute_utilisation,
        "dram_stall_before_fusion": lambda *of: before(*of).stall_share,
        "fusion_efficiency": _fusion_efficiency,
        "fused_intensity": lambda *of: after(*of).intensity,
        "queries": lambda *of: after(*of).queries_per_s,
        "latency": lambda *of: after(*of).latency_s * 1e3,
    }
    printed = load_reference().tables[TABLE].row(design)
    for quantity, value in quantities.items():
        if printed[quantity] is not None:
            yield beside(TABLE, design, quantity, spread(value, runs, design), NOTES.get(quantity, ""))


def _fusion_efficiency(runs: Runs, design: str, constants: SimulatorConstants) -> float:
    """Share of the time waited for DRAM that residency removes."""
    return float(1 - after(runs, design, constants).stalled_s.sum() / before(runs, design, constants).stalled_s.sum())


def _gain(runs: Runs, design: str, model: PowerAreaModel, constants: SimulatorConstants) -> float:
    ours = after(runs, design, constants).queries_per_s
    baseline = after(runs, "tpu-v3", constants).queries_per_s
    return perf_per_tdp_gain(ours, chip(design), baseline, TPU_V3, model)
