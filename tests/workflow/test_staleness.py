"""Which jobs an edit runs again: a row an edit, and the rows are the table of docs/staleness.md."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.workflow.many_runs import ManyRuns
from tests.workflow.run_snakemake import ROOT

EXAMPLE = Path(__file__).with_name("staleness")
PAGE = ROOT / "docs" / "staleness.md"


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


@pytest.fixture(scope="module")
def runs():
    with ManyRuns() as runs:
        yield runs


@pytest.fixture(scope="module")
def finished(tmp_path_factory, runs) -> Path:
    """A folder with the example beside its results, every job done."""
    folder = tmp_path_factory.mktemp("a study") / "folder"
    shutil.copytree(EXAMPLE, folder)
    for study_file in ("study.yaml", "measured.yaml"):
        runs.fabricate(folder, folder / study_file)
    return folder


def change(folder: Path, changes: list[tuple[str, str, str]]) -> None:
    for name, old, new in changes:
        text = (folder / name).read_text()
        assert old in text, f"{old!r} is not in {name}"
        (folder / name).write_text(text.replace(old, new, 1) if old else text + new)


@contextmanager
def edited(folder: Path, changes: list[tuple[str, str, str]]) -> Iterator[None]:
    """The folder with the changes meanwhile."""
    before = {name: (folder / name).read_text() for name, *_ in changes}
    try:
        change(folder, changes)
        yield
    finally:
        for name, text in before.items():
            (folder / name).write_text(text)


def assert_exactly(jobs: dict[str, bool], patterns: list[str]) -> None:
    """Those jobs run, and no others, that match a pattern; every pattern is of some job."""
    expected = {job for job in jobs if any(fnmatch(job, pattern) for pattern in patterns)}
    assert {job for job, runs in jobs.items() if runs} == expected
    assert [pattern for pattern in patterns if not any(fnmatch(job, pattern) for job in jobs)] == []


def test_nothing_runs_without_an_edit(runs, finished):
    jobs = runs.jobs(finished, finished / "study.yaml")
    assert_exactly(jobs, [])
    assert {job.split("/")[0] for job in jobs} == {
        "program", "dataset", "difference", "model", "evaluation", "autotune", "search", "search_summary", "fidelity",
        "report",
    }  # fmt: skip


@pytest.mark.parametrize("edit", STUDY_EDITS, ids=lambda edit: edit.what)
def test_an_edit_of_the_study(runs, finished, edit):
    with edited(finished, edit.changes):
        assert_exactly(runs.jobs(finished, finished / "study.yaml"), edit.runs)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """A copy of what Snakemake reads of this repository."""
    folder = tmp_path_factory.mktemp("check out")
    for part in ("lib", "schemas", "workflow", "rules", "profiles"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "Snakefile", folder)
    return folder


@pytest.mark.parametrize("edit", CODE_EDITS, ids=lambda edit: edit.what)
def test_an_edit_of_code(checkout, finished, edit):
    own = [change for change in edit.changes if (finished / change[0]).exists()]
    others = [change for change in edit.changes if change not in own]
    with edited(checkout, others), edited(finished, own), ManyRuns(checkout) as runs:
        assert_exactly(runs.jobs(finished, finished / "study.yaml"), edit.runs)


@pytest.mark.parametrize("edit", MEASURED_STUDY_EDITS, ids=lambda edit: edit.what)
def test_an_edit_of_a_study_that_measures(runs, finished, edit):
    with edited(finished, edit.changes):
        assert_exactly(runs.jobs(finished, finished / "measured.yaml"), edit.runs)


@pytest.mark.parametrize("edit", MEASURED_CODE_EDITS, ids=lambda edit: edit.what)
def test_an_edit_of_code_that_measures(checkout, finished, edit):
    """Only jobs that measure, and what needs them: the study without a device keeps its results."""
    with edited(checkout, edit.changes), ManyRuns(checkout) as runs:
        assert_exactly(runs.jobs(finished, finished / "measured.yaml"), edit.runs)
        assert_exactly(runs.jobs(finished, finished / "study.yaml"), [])


def test_a_new_date_of_every_file_runs_nothing(runs, finished, checkout):
    for file in [*checkout.rglob("*.*"), *(finished / path.name for path in EXAMPLE.iterdir())]:
        os.utime(file)
    assert_exactly(runs.jobs(finished, finished / "study.yaml"), [])


def test_a_copy_runs_nothing(runs, finished, tmp_path):
    """Dates of a copy are new and in no order; checksums of inputs are in Snakemake's records."""
    shutil.copytree(finished, tmp_path / "copy", copy_function=shutil.copy)
    assert_exactly(runs.jobs(tmp_path / "copy", tmp_path / "copy" / "study.yaml"), [])


WITHOUT_RECORDS = ["a comment or an empty line", "a hyperparameter of the model `ranker`",
                   "a field of the hardware `edge`", "a limit of the search `plain`"]  # fmt: skip


@pytest.fixture(scope="module")
def without_records(finished, tmp_path_factory) -> Path:
    """Results whose `.snakemake` is gone; what artifacts were made from stands in their manifests alone."""
    folder = tmp_path_factory.mktemp("without records") / "copy"
    shutil.copytree(finished, folder, ignore=shutil.ignore_patterns(".snakemake"))
    os.utime(
        folder / "module.hlo", (0, 0)
    )  # where it is newer than the results, records alone tell that it is the same
    return folder


@pytest.mark.parametrize("what", WITHOUT_RECORDS)
def test_an_edit_where_snakemakes_records_are_lost(runs, without_records, what):
    """The report has no manifest, and is always made anew then."""
    (edit,) = [edit for edit in STUDY_EDITS if edit.what == what]
    with edited(without_records, edit.changes):
        assert_exactly(runs.jobs(without_records, without_records / "study.yaml"), [*{*edit.runs, REPORT}])
        shutil.rmtree(without_records / ".snakemake")


AFTER_RANKER = ["model/ranker/*", "evaluation/tiles", "autotune/tuned/*", REPORT]


@pytest.mark.parametrize(
    "content", ['{"spec": {}, "code": "0123456789abcdef"}', "{", "[" * 100_000, "[1]"], ids=lambda text: text[:8]
)
def test_a_job_that_ended_after_its_run_was_killed(runs, finished, tmp_path, content):
    """Its artifact is there and newer than Snakemake's record, whatever made it."""
    shutil.copytree(finished, tmp_path / "copy")
    manifest = tmp_path / "copy" / "results" / "staleness" / "model" / "ranker" / "seed-1" / "manifest.json"
    before = manifest.read_text()
    manifest.write_text(content)
    assert_exactly(runs.jobs(tmp_path / "copy", tmp_path / "copy" / "study.yaml"), AFTER_RANKER)
    manifest.write_text(before)
    after = runs.jobs(tmp_path / "copy", tmp_path / "copy" / "study.yaml")
    assert not after["model/ranker/seed-1"]


def test_touch_accepts_results_as_they_are(runs, finished, tmp_path):
    """Snakemake's own way to keep results after an edit that changes no number."""
    shutil.copytree(finished, tmp_path / "copy")
    study_file = tmp_path / "copy" / "study.yaml"
    study_file.write_text(study_file.read_text().replace("steps: 100", "steps: 200"))
    assert_exactly(runs.jobs(tmp_path / "copy", study_file), AFTER_RANKER)
    runs.run(tmp_path / "copy", study_file, "--touch")
    assert_exactly(runs.jobs(tmp_path / "copy", study_file), [])


def table(edits: list[Edit]) -> str:
    """Edits with what they run, as the page shows them."""
    rows = [(edit.what, ", ".join(f"`{job}`" for job in edit.runs) or "nothing") for edit in edits]
    return "\n".join(f"| {what} | {runs} |" for what, runs in [("edit", "jobs that run again"), ("---", "---"), *rows])


@pytest.mark.parametrize(
    "edits", [STUDY_EDITS + CODE_EDITS, MEASURED_STUDY_EDITS + MEASURED_CODE_EDITS], ids=["simulated", "measured"]
)
def test_the_page_shows_the_table(edits):
    assert table(edits) in PAGE.read_text(), f"{PAGE} should have this table:\n{table(edits)}"
