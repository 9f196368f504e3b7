# Reads the study once and answers the rules' questions about it. Functions only, no rules.
# Each rule gets its resolved entry as one plain dict (`params.spec`), so that an edit of the study reruns
# exactly the jobs whose entry changed, and the fingerprint of its code (`params.code`).

import gc
import os
import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile

from snakemake.exceptions import WorkflowError
from snakemake.settings.types import DeploymentMethod

import lib

CHECKOUT = Path(workflow.current_basedir).parent
if Path(lib.__file__).resolve().parent.parent != CHECKOUT.resolve():
    raise WorkflowError(
        f"Tilewright's package `lib` is hidden by another one, {Path(lib.__file__).parent}: a workflow that uses "
        "Tilewright as a module can't have a package `lib` or `schemas` of its own. Rename that one, or run Tilewright "
        "by itself: snakemake --snakefile TILEWRIGHT/Snakefile --directory FOLDER --configfile STUDY"
    )

from lib.code_fingerprint import code_fingerprint, in_repository
from lib.job import in_words
from schemas.device_packages import missing_packages
from schemas.study_file import StudyError, load_study, only_study
from schemas.workload import FILES


def find_study():
    if not workflow.modifier.is_main_snakefile():
        if "study" not in config:
            raise WorkflowError('A module of Tilewright needs its study: config: {"study": "path/to/study.yaml"}')
        return Path(config["study"])
    given = workflow.config_settings.configfiles
    return Path(only_study(given)) if given else CHECKOUT / "config.yaml"


def overrides():
    """Of keys of the study: what the command line says, or as a module the importer's `config:`."""
    if workflow.modifier.is_main_snakefile():
        return dict(workflow.config_settings.config)
    return {key: value for key, value in config.items() if key != "study"}


try:
    STUDY_FILE = find_study()
    STUDY = load_study(STUDY_FILE, overrides())
except StudyError as error:
    raise WorkflowError(str(error)) from None
RESULTS = STUDY.results

# The graph of jobs stays to the end. Looking through it for garbage every few hundred objects, as Python does, is a
# tenth of a dry run.
gc.set_threshold(100_000)

# One job at a time measures this machine (`resources: measuring=1`), whatever the command line says of resources.
if "measuring" not in workflow.global_resources:
    workflow.register_resource("measuring", 1)

# Where jobs a second are limited (by default to 100), Snakemake looks for new ones a second after each look and after
# each job that ends: looks add up, each asks for the size of every file that waiting jobs read, and after some hundred
# jobs they take a core for themselves. Without the limit there is one look a job; another limit than the default stays.
scheduling = workflow.scheduling_settings  # None where nothing is to run, as with --unlock
limit = scheduling and scheduling.max_jobs_per_timespan
if limit and (limit.max_jobs, limit.timespan) == (100, 1):
    scheduling.max_jobs_per_timespan = None


def every_core(wildcards):
    """Threads of a job that measures, so that nothing runs beside it here; on a cluster the cores of a node like this."""
    return workflow.global_resources["_cores"].value or os.cpu_count()


def refuse_without_devices():
    """Before any job starts: a study that measures devices needs packages of their own. Conda brings them."""
    by_conda = DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method
    missing = [] if by_conda else missing_packages(STUDY)
    if missing:
        raise WorkflowError("\n".join(f"{STUDY_FILE}: {line}" for line in missing))


def refuse_unwritable_results():
    """Before any job starts: the folder of the results takes a file."""
    try:
        Path(RESULTS).mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=RESULTS) as file:
            file.write(b"tilewright")
    except OSError as error:
        raise WorkflowError(f"{RESULTS}: {in_words(error, None)}") from None


def names(ids):
    """A wildcard constraint that matches exactly these ids."""
    return "|".join(re.escape(str(name)) for name in sorted(ids)) or "none"


@cache
def code(stage, builder=None):
    """Fingerprint of a stage's script, of the modules that it imports, and of a builder named in the study."""
    script = CHECKOUT / "workflow" / "scripts" / f"{stage}.py"
    return code_fingerprint(script, builder, STUDY_FILE.parent)


def files(folder, *others):
    """The manifest of an artifact folder, then its other files."""
    return [f"{RESULTS}/{folder}/{name}" for name in ("manifest.json", *others)]


def program_spec(wildcards):
    return STUDY.resolved_program(wildcards.program)


def program_code(wildcards):
    source = program_spec(wildcards)["source"]
    return code("program", source["name"].partition(":")[0] if source["kind"] == "builder" else None)


def source_folder(wildcards):
    """Where a builder of one's own or a program's file lies: the study's folder, relative to the working directory."""
    source = program_spec(wildcards)["source"]
    outside = source["kind"] in FILES or (
        source["kind"] == "builder" and not in_repository(source["name"].partition(":")[0])
    )
    return os.path.relpath(STUDY_FILE.parent) if outside else ""


def program_input(wildcards):
    """The file or folder of a program that is read from one."""
    source = program_spec(wildcards)["source"]
    return {"source": os.path.relpath(STUDY_FILE.parent / source["name"])} if source["kind"] in FILES else {}


def programs(names):
    """Manifests of programs by their own ids; workloads that differ in batch alone share one."""
    return [f"{RESULTS}/program/{name}/manifest.json" for name in names]


def shard_input(wildcards):
    """The program of a workload, or the files of a recorded one."""
    source = STUDY.datasets[wildcards.dataset].source
    if source is None:
        (manifest,) = programs([STUDY.program_of(wildcards.workload)])
        return {"program": manifest}
    folder = os.path.relpath(STUDY_FILE.parent / source.tpugraphs)
    return {"recorded": [f"{folder}/{file}" for file in source.programs[wildcards.workload].files]}


def shard_spec(wildcards):
    return STUDY.resolved_shard(wildcards.dataset, wildcards.task, wildcards.hardware, wildcards.workload)


def measured_autotunes():
    """Entries whose target is a device."""
    return [id for id, entry in STUDY.autotune.items() if entry.hardware in STUDY.measured_hardware()]


def shards(dataset, task, hardware, workloads):
    """Manifests of shards; all variants of a sampled entry of `hardware` lie in one."""
    return [
        f"{RESULTS}/dataset/{dataset}/{task}/{entry}/{workload}/manifest.json"
        for entry in STUDY.shard_hardware(hardware)
        for workload in workloads
    ]


def all_shards():
    return [
        shard
        for name, dataset in STUDY.datasets.items()
        for task in dataset.tasks
        for shard in shards(name, task, STUDY.hardware_ids(name), STUDY.workload_ids(name))
    ]


def difference_spec(wildcards):
    return {"dataset": wildcards.dataset, "hardware": wildcards.hardware}


def difference_shards(wildcards):
    dataset = wildcards.dataset
    return [
        shard
        for task in STUDY.datasets[dataset].tasks
        for shard in shards(dataset, task, [wildcards.hardware], STUDY.workload_ids(dataset))
    ]


def all_differences():
    """Not of sampled variants, of which there are too many to look at, nor of recorded or measured runtimes."""
    return [
        f"{RESULTS}/difference/{dataset}/{variant}/manifest.json"
        for dataset in STUDY.datasets
        for variant in STUDY.hardware_ids(dataset)
        if variant in STUDY.hardware and STUDY.origin(dataset) == "simulated"
    ]


def model_spec(wildcards):
    return STUDY.resolved_model(wildcards.model)


def model_shards(wildcards):
    spec = model_spec(wildcards)
    split = spec["split"]
    return shards(spec["dataset"], spec["task"], spec["hardware"], split["train"] + split["validation"] + split["test"])


def model_manifests(model):
    seeds = STUDY.trained_models()[model].seeds
    return [f"{RESULTS}/model/{model}/seed-{seed}/manifest.json" for seed in seeds]


def networks():
    return [name for name, model in STUDY.trained_models().items() if model.kind == "network"]


def boosted_trees():
    return [name for name, model in STUDY.trained_models().items() if model.kind == "boosted-trees"]


def all_models():
    return [manifest for model in STUDY.trained_models() for manifest in model_manifests(model)]


def evaluation_spec(wildcards):
    return STUDY.resolved_evaluation(wildcards.evaluation)


def evaluation_shards(wildcards):
    """The test and validation shards of every model of the evaluation, each once; where a roofline is fitted to
    measured kernels, those of training too."""
    spec = evaluation_spec(wildcards)
    found = {}
    for model in spec["models"]:
        split = spec["split"][model["dataset"]]
        workloads = split["test"] + split["validation"]
        if STUDY.runtime_of_dataset(model["dataset"]) == "xla":
            workloads = workloads + split["train"]
        found |= dict.fromkeys(shards(model["dataset"], model["task"], model["scored_on"], workloads))
    return list(found)


def evaluation_models(wildcards):
    """Every trained model behind the evaluation's, each once."""
    members = dict.fromkeys(member for model in evaluation_spec(wildcards)["models"] for member in model["members"])
    return [manifest for member in members for manifest in model_manifests(member)]


def all_evaluations():
    return [f"{RESULTS}/evaluation/{evaluation}/manifest.json" for evaluation in STUDY.evaluations]


def autotune_spec(wildcards):
    return STUDY.resolved_autotune(wildcards.autotune, wildcards.workload)


def autotune_program(wildcards):
    return programs([STUDY.program_of(wildcards.workload)])


def autotune_models(wildcards):
    """Every trained model behind the entry's, each once."""
    spec = autotune_spec(wildcards)
    entries = [*spec["tile_models"], *spec["fusion_models"]]
    members = dict.fromkeys(member for entry in entries for member in entry["members"])
    return [manifest for member in members for manifest in model_manifests(member)]


def all_autotunes():
    return [
        f"{RESULTS}/autotune/{name}/{workload}/manifest.json"
        for name in STUDY.autotune
        for workload in STUDY.autotuned_workloads(name)
    ]


def search_spec(wildcards):
    return STUDY.resolved_search(wildcards.search, int(wildcards.island))


def search_programs(wildcards):
    return programs(search_spec(wildcards)["workloads"])


def learned_searches():
    """Searches whose designs a learned model pre-screens."""
    return [name for name, search in STUDY.searches.items() if search.surrogate in STUDY.models]


def search_model(wildcards):
    """The model of such a search, by its first seed."""
    return model_manifests(search_spec(wildcards)["surrogate"])[0]


def search_islands(wildcards):
    islands = range(1, STUDY.searches[wildcards.search].islands + 1)
    return [f"{RESULTS}/search/{wildcards.search}/island-{island}/manifest.json" for island in islands]


def search_summary_spec(wildcards):
    search = STUDY.searches[wildcards.search]
    return {"id": wildcards.search, "islands": search.islands, "trials": search.trials}


def all_searches():
    return [
        f"{RESULTS}/search/{name}/island-{island}/manifest.json"
        for name, search in STUDY.searches.items()
        for island in range(1, search.islands + 1)
    ]


def all_search_summaries():
    return [f"{RESULTS}/search_summary/{name}/manifest.json" for name in STUDY.searches]


def fidelity_spec(wildcards):
    return STUDY.resolved_fidelity(wildcards.fidelity)


def fidelity_programs(wildcards):
    return programs(fidelity_spec(wildcards)["workloads"])


def all_fidelity():
    return [f"{RESULTS}/fidelity/{name}/manifest.json" for name in STUDY.fidelity]


def report_spec(wildcards):
    """Everything that the report says about the study itself, by section and id."""
    return {
        "workloads": {name: STUDY.resolved_program(name) for name in STUDY.programs(STUDY.workloads)},
        "hardware": {name: STUDY.resolved_hardware(name) for name in sorted(STUDY.variants)},
        "models": {name: STUDY.resolved_model(name) for name in sorted(STUDY.trained_models())},
        "evaluations": {name: STUDY.resolved_evaluation(name) for name in sorted(STUDY.evaluations)},
        "splits": {name: STUDY.split_kind(name) for name in sorted(STUDY.evaluations)},
        "searches": {name: STUDY.resolved_search(name, 1) for name in sorted(STUDY.searches)},
        "return_on_investment": {
            name: STUDY.searches[name].return_on_investment.model_dump() for name in sorted(STUDY.searches)
        },
        "fidelity": {name: STUDY.resolved_fidelity(name) for name in sorted(STUDY.fidelity)},
    }
