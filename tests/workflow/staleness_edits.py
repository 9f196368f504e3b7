"""Edits, and which jobs each runs again: the rows of docs/staleness.md."""

import re
from pathlib import Path
from typing import NamedTuple

EXAMPLE = Path(__file__).with_name("staleness")


class Edit(NamedTuple):
    """`changes` are (file, old text, new text), without an old one at the end of the file; `runs` are patterns of the
    folders of the jobs that run again."""

    what: str
    changes: list[tuple[str, str, str]]
    runs: list[str]


def study(*changes: tuple[str, str]) -> list[tuple[str, str, str]]:
    return [("study.yaml", old, new) for old, new in changes]


REPORT = "report"
AFTER_KERNELS_TILES = ["model/ranker/*", "model/trees/*", "evaluation/tiles", "autotune/tuned/*"]
AFTER_KERNELS = ["difference/kernels/*", *AFTER_KERNELS_TILES, "model/timer/*", "evaluation/fusions"]
SEARCHES = ["search/*", "search_summary/*"]

STUDY_EDITS = [
    Edit(
        "a workload more, in no dataset",
        study(("workloads:\n  perceptron", "workloads:\n  more: {keras: MobileNetV2}\n  perceptron")),
        ["program/more", REPORT],
    ),
    Edit(
        "a workload more, to train on in `kernels`",
        study(
            ("workloads:\n  perceptron", "workloads:\n  more: {keras: MobileNetV2}\n  perceptron"),
            ("own, module]\n    hardware", "own, module, more]\n    hardware"),
            ("{train: [perceptron], validation: [convolutions], test: [own, module]}",
             "{train: [perceptron, more], validation: [convolutions], test: [own, module]}"),
        ),
        ["program/more", "dataset/kernels/*/more", *AFTER_KERNELS, REPORT],
    ),
    Edit(
        "another batch of the workload `convolutions`",
        study(("convolution_network\", batch: 64", "convolution_network\", batch: 32")),
        ["program/convolutions", "dataset/*/convolutions", "difference/*", "model/*", "evaluation/*", "autotune/*",
         *SEARCHES, REPORT],
    ),
    Edit(
        "another batch of the workload `perceptron`, which has several",
        study(("batches: [1, 64]", "batches: [1, 64, 256]")),
        ["dataset/*/perceptron-b256", "difference/*", "model/*", "evaluation/*", "autotune/*", "search/learned/*",
         "search_summary/learned", REPORT],
    ),
    Edit(
        "a workload fewer (`module`, which was to test on)",
        study(
            ("  module: {hlo: module.hlo}\n", ""),
            ("own, module]\n    hardware", "own]\n    hardware"),
            ("test: [own, module]", "test: [own]"),
        ),
        [*AFTER_KERNELS, REPORT],
    ),
    Edit(
        "a field of the hardware `edge`",
        study(("datapath: {cores: 1}", "datapath: {cores: 1, clock: 500 MHz}")),
        ["dataset/kernels/*/edge/*", "difference/kernels/edge", REPORT],
    ),
    Edit(
        "a field of the hardware `tpu`, which models learn and searches start from",
        study(("tpu: {base: tpu-v3}", "tpu: {base: tpu-v3, datapath: {clock: 500 MHz}}")),
        ["dataset/kernels/*/tpu/*", "difference/kernels/tpu", "model/ranker/*", "model/trees/*", "model/timer/*",
         "evaluation/*", "autotune/*", *SEARCHES, REPORT],
    ),
    Edit(
        "a range of the sampled hardware `designs`",
        study(("pes_x: [1, 16]", "pes_x: [1, 8]")),
        ["dataset/of-designs/*", "model/design-time/*", "search/learned/*", "search_summary/learned", REPORT],
    ),
    Edit(
        "a hardware variant more, in no dataset",
        study(("hardware:\n  tpu:", "hardware:\n  more: {base: tpu-v2}\n  tpu:")),
        [REPORT],
    ),
    Edit(
        "a hardware variant fewer (`edge`)",
        study(("  edge: {base: tpu-v3, datapath: {cores: 1}}\n", ""), ("hardware: [tpu, edge]", "hardware: [tpu]")),
        [REPORT],
    ),
    Edit(
        "a setting of the tile task of the dataset `kernels`",
        study(("tiles_per_kernel: 32", "tiles_per_kernel: 16")),
        ["dataset/kernels/tile/*", "difference/kernels/*", *AFTER_KERNELS_TILES, REPORT],
    ),
    Edit(
        "a dataset more",
        study(("datasets:\n", "datasets:\n  more: {workloads: [own, convolutions, perceptron], hardware: [tpu], "
               "tasks: [tile], split: {train: [perceptron], validation: [own], test: [convolutions]}}\n")),
        ["dataset/more/*", "difference/more/*", REPORT],
    ),
    Edit(
        "a dataset fewer, with the model and the search that need it",
        study(
            (re.search(r"  of-designs:\n(    .*\n)+", (EXAMPLE / "study.yaml").read_text())[0], ""),
            ("  design-time: {task: fusion, dataset: of-designs}\n", ""),
            ("  learned: {workloads: [convolutions], baseline: tpu, trials: 8, surrogate: design-time}\n", ""),
        ),
        [REPORT],
    ),
    Edit(
        "a hyperparameter of the model `ranker`",
        study(("steps: 100", "steps: 200")),
        ["model/ranker/*", "evaluation/tiles", "autotune/tuned/*", REPORT],
    ),
    Edit(
        "a seed more of the model `timer`",
        study(("seeds: [1, 2]", "seeds: [1, 2, 3]")),
        ["model/timer/seed-3", "evaluation/fusions", REPORT],
    ),
    Edit(
        "a model more, in no evaluation",
        study(("models:\n  ranker", "models:\n  more: {task: fusion, dataset: kernels}\n  ranker")),
        ["model/more/*", REPORT],
    ),
    Edit(
        "a model fewer (`trees`)",
        study(
            ("  trees: {kind: boosted-trees, task: tile, dataset: kernels, hardware: [tpu]}\n", ""),
            (", baselines: {boosted-trees: [trees]}", ""),
        ),
        ["evaluation/tiles", REPORT],
    ),
    Edit(
        "an evaluation more",
        study(("evaluations:\n", "evaluations:\n  more: {models: [timer]}\n")),
        ["evaluation/more", REPORT],
    ),
    Edit(
        "another hardware in the evaluation `fusions`",
        study(("fusions: {models: [timer]}", "fusions: {models: [timer], hardware: [edge]}")),
        ["evaluation/fusions", REPORT],
    ),
    Edit("an evaluation fewer", study(("  fusions: {models: [timer]}\n", "")), [REPORT]),
    Edit(
        "an autotune entry more",
        study(("autotune:\n", "autotune:\n  more: {hardware: edge, tile_models: [ranker], workloads: [own]}\n")),
        ["autotune/more/own", REPORT],
    ),
    Edit(
        "a setting of the autotune entry `tuned`",
        study(("top: [1, 10]", "top: [1, 5]")),
        ["autotune/tuned/*", REPORT],
    ),
    Edit(
        "an autotune entry fewer",
        study(("  tuned: {hardware: tpu, tile_models: [ranker], top: [1, 10]}\n", "")),
        [REPORT],
    ),
    Edit(
        "a limit of the search `plain`",
        study(("tdp_ratio: 2.0", "tdp_ratio: 1.5")),
        ["search/plain/*", "search_summary/plain", REPORT],
    ),
    Edit(
        "more trials of the search `learned` (those done are kept)",
        study(("trials: 8, surrogate", "trials: 16, surrogate")),
        ["search/learned/*", "search_summary/learned", REPORT],
    ),
    Edit(
        "an island more of the search `plain`",
        study(("islands: 2", "islands: 3")),
        ["search/plain/island-3", "search_summary/plain", REPORT],
    ),
    Edit(
        "what the chips of a search cost (`return_on_investment`)",
        study(("islands: 2", "islands: 2, return_on_investment: {years: 2}")),
        [REPORT],
    ),
    Edit(
        "sources of the comparison `peers`",
        study(("sources: [scalesim]", "sources: [scalesim, zigzag]")),
        ["fidelity/peers", REPORT],
    ),
    Edit(
        "keys in another order",
        study(
            ("{base: tpu-v3, datapath: {cores: 1}}", "{datapath: {cores: 1}, base: tpu-v3}"),
            ("{task: tile, dataset: kernels, hardware: [tpu], steps: 100}",
             "{steps: 100, hardware: [tpu], dataset: kernels, task: tile}"),
        ),
        [],
    ),
    Edit(
        "a default spelled out",
        study(("steps: 100", "steps: 100, seeds: [1]"), ("hlo: module.hlo", "hlo: module.hlo, batch: 1")),
        [],
    ),
    Edit("the same quantity in another unit", study(("4 MiB", "4096 KiB")), []),
    Edit(
        "the content of the file `module.hlo`",
        [("module.hlo", "f32[8,64]", "f32[16,64]"), ("module.hlo", "f32[8,32]", "f32[16,32]")],
        ["program/module", "dataset/kernels/*/module", *AFTER_KERNELS, REPORT],
    ),
    Edit("a comment or an empty line", study(("hardware:\n", "# Two chips.\n\nhardware:\n")), []),
]  # fmt: skip

CHANGED = "\nCHANGED = True\n"
ALL_BUT_PROGRAMS = ["dataset/*", "difference/*", "model/*", "evaluation/*", "autotune/*", *SEARCHES, REPORT]

CODE_EDITS = [
    Edit(
        "code of `lib/gnn/losses.py`",
        [("lib/gnn/losses.py", "", CHANGED)],
        ["model/ranker/*", "model/timer/*", "model/design-time/*", "evaluation/*", "autotune/*", "search/learned/*",
         "search_summary/learned", REPORT],
    ),
    Edit(
        "code of `lib/models/boosted_trees_training.py`",
        [("lib/models/boosted_trees_training.py", "", CHANGED)],
        ["model/trees/*", "evaluation/tiles", REPORT],
    ),
    Edit(
        "code of `lib/cost/simulator.py`",
        [("lib/cost/simulator.py", "", CHANGED)],
        [*ALL_BUT_PROGRAMS, "fidelity/*"],
    ),
    Edit(
        "code of `lib/frontends/keras_model.py`",
        [("lib/frontends/keras_model.py", "", CHANGED)],
        ["program/*", *ALL_BUT_PROGRAMS],
    ),
    Edit(
        "code of `lib/evaluation/tables.py`",
        [("lib/evaluation/tables.py", "", CHANGED)],
        ["evaluation/*", REPORT],
    ),
    Edit("the report's template", [("lib/report/page.html.jinja", "", "<!-- end -->")], [REPORT]),
    Edit(
        "a preset that searches read (`schemas/presets/dram.yaml`)",
        [("schemas/presets/dram.yaml", "", "\n# end\n")],
        [*SEARCHES, REPORT],
    ),
    Edit(
        "code of the builder in `own_networks.py`",
        [("own_networks.py", "Dense(32)", "Dense(16)")],
        ["program/own", "dataset/*/own", "difference/*", "model/*", "evaluation/*", "autotune/*", "search/learned/*",
         "search_summary/learned", REPORT],
    ),
    Edit(
        "a comment or a docstring of any of these, or a new date",
        [("lib/gnn/losses.py", "", "\n# A comment.\n"), ("lib/cost/simulator.py", '"""', '"""Also: '),
         ("workflow/scripts/model.py", '"""', '"""Also: '), ("own_networks.py", '"""', '"""Also: ')],
        [],
    ),
]  # fmt: skip

AFTER_TIMED = ["dataset/timed/*", "model/by-time/*", "evaluation/measured", "autotune/on-device/*", REPORT]


def measured(old: str, new: str) -> list[tuple[str, str, str]]:
    return [("measured.yaml", old, new)]


MEASURED_STUDY_EDITS = [
    Edit("how the device `here` is measured (`measure:`)", measured("cores: [0]", "cores: [1]"), AFTER_TIMED),
    Edit(
        "how many kernels of a program are measured",
        measured("kernels_per_program: 20", "kernels_per_program: 30"),
        AFTER_TIMED,
    ),
    Edit(
        "the seconds on the device of the autotune entry `on-device`",
        measured("budgets_s: [8]", "budgets_s: [4]"),
        ["autotune/on-device/*", REPORT],
    ),
    Edit(
        "the folder where measurements are kept (`measurements`)",
        measured("results: results/measured\n", "results: results/measured\nmeasurements: elsewhere\n"),
        [],
    ),
]
MEASURED_CODE_EDITS = [
    Edit("code of `lib/targets/xla_device.py`", [("lib/targets/xla_device.py", "", CHANGED)], AFTER_TIMED),
]
