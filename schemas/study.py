"""The study: one YAML file that says what to do, and the resolved entries that the rules get.

Resolved entries are plain dicts of JSON types with every default spelled out, quantities in base units
(named in the keys) and one canonical order, so that reordering the study or writing out a default
changes none of them.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints, ValidationInfo, model_validator

from schemas.autotune import Autotune
from schemas.boosted_trees import Average, BoostedTrees
from schemas.dataset import Dataset, DrawnSplit, NamedSplit
from schemas.evaluation import Evaluation
from schemas.fidelity import Fidelity
from schemas.hardware import Hardware, Variant, base_chain, entry_variants, merged_datapath, variants_of
from schemas.hardware_references import runtime_of_dataset
from schemas.measure import ORIGINS, Origin, Runtime
from schemas.model import Model, ModelEntry
from schemas.problem import inconsistent
from schemas.recorded_source import RecordedProgram
from schemas.search import Search
from schemas.split import PARTS, chosen_programs, drawn_split
from schemas.study_base import Section, Selection, StudyModel, select
from schemas.study_references import consistency_problems, id_problems
from schemas.workload import Workload, all_batches, one_a_batch

SECTIONS = ("workloads", "hardware", "datasets", "models", "evaluations", "autotune", "searches", "fidelity")
"""Sections that hold entries by id."""
Folder = Annotated[str, StringConstraints(pattern=r"^[^{}\x00-\x1f]+$")]


class Study(StudyModel):
    """A whole study; ids that refer to other entries are known to exist."""

    seed: Annotated[int, Field(ge=0, lt=2**31)] = 1
    """Seed of everything that is drawn at random: splits, sampled tiles, fusion configurations, searches."""
    results: Folder = "results"
    """Folder of the results, relative to where snakemake runs."""
    measurements: Folder = "results/.measured"
    """Folder of what this machine has measured, shared by studies, relative to where snakemake runs; on a file system
    of the machine's own. Nothing is measured twice."""
    workloads: Annotated[Section[Workload], AfterValidator(one_a_batch)] = {}
    """The programs. An entry of several `batches` is one workload a batch here."""
    hardware: Section[Hardware] = {}
    """The hardware variants."""
    datasets: Section[Dataset] = {}
    """Kernels of workloads on hardware variants, with runtimes."""
    models: Section[ModelEntry] = {}
    """Learned cost models."""
    evaluations: Section[Evaluation] = {}
    """Models beside their baselines on the programs held out."""
    autotune: Section[Autotune] = {}
    """Autotuners: configurations of programs that a model proposes and a target verifies."""
    searches: Section[Search] = {}
    """Searches for a datapath."""
    fidelity: Section[Fidelity] = {}
    """The simulator's figures beside those of papers, of peers' tools and of real chips."""

    @model_validator(mode="after")
    def _references_resolve(self, info: ValidationInfo) -> "Study":
        """With a context, problems go to its list `problems` (the ids are checked by whoever gives it)."""
        if info.context is not None:
            info.context["problems"] += consistency_problems(self, info.context["known"])
            return self
        known = {name: list(getattr(self, name)) for name in SECTIONS}
        written = {self.program_of(id): {"batches": entry.batches} for id, entry in self.workloads.items()}
        problems = [*id_problems(self.model_dump() | {"workloads": written}), *consistency_problems(self, known)]
        if problems:
            raise inconsistent(problems)
        return self

    def workload_ids(self, dataset: str) -> list[str]:
        """The dataset's workloads, sorted."""
        source = self.datasets[dataset].source
        return self._selected(self.datasets[dataset].workloads) if source is None else sorted(source.programs)

    def _selected(self, selection: list[str] | Literal["all"]) -> list[str]:
        """Sorted ids of workloads; the name of one of several batches means all of them."""
        return select(selection if selection == "all" else all_batches(selection, self.workloads), list(self.workloads))

    def hardware_ids(self, dataset: str) -> list[str]:
        """The dataset's hardware variants, sorted; a sampled entry means all of its own."""
        entry = self.datasets[dataset]
        if entry.hardware != "all":
            return variants_of(entry.hardware, self.hardware)
        runtime = self.runtime_of_dataset(dataset)
        fitting = [id for id, variant in self.hardware.items() if variant.runtime == runtime]
        return variants_of(fitting, self.hardware)

    def runtime_of_dataset(self, dataset: str) -> Runtime:
        """Where the dataset's labels come from; never from two."""
        return runtime_of_dataset(self.datasets[dataset], self.hardware)

    def origin(self, dataset: str) -> Origin:
        """Where the dataset's labels come from, as manifests say it."""
        return ORIGINS[self.runtime_of_dataset(dataset)]

    @cached_property
    def variants(self) -> dict[str, Variant]:
        """All hardware variants by id."""
        entries = [entry_variants(self.hardware, id) for id in self.hardware]
        return {id: variant for entry in entries for id, variant in entry.items()}

    def measured_hardware(self) -> list[str]:
        """The entries that this machine measures, sorted."""
        return sorted(id for id, entry in self.hardware.items() if entry.is_measured)

    def shard_hardware(self, variants: list[str]) -> list[str]:
        """The entries that the variants belong to, sorted: all variants of a sampled entry lie in one shard."""
        return sorted({self.variants[id].entry for id in variants})

    def hardware_groups(self, variants: list[str]) -> dict[str, str]:
        """Group of those of the variants that are sampled: train, inside, outside."""
        groups = {id: self.variants[id].group for id in variants}
        return {id: group for id, group in groups.items() if group is not None}

    def learned_hardware(self, model: str) -> list[str]:
        """The variants that a model learns, sorted: of sampled ones those to train on."""
        entry = self.trained_models()[model]
        chosen, of_dataset = entry.hardware, self.hardware_ids(entry.dataset)
        ids = of_dataset if chosen == "all" else variants_of(chosen, self.hardware)
        return [id for id in ids if id in of_dataset and self.variants[id].group in (None, "train")]

    def evaluated_hardware(self, model: str) -> list[str]:
        """The variants that a model is scored on, sorted: those that it learns, and the held-out ones of the same
        sampled entries."""
        learned = self.learned_hardware(model)
        entries = {self.variants[id].entry for id in learned if self.variants[id].group is not None}
        of_dataset = self.hardware_ids(self.trained_models()[model].dataset)
        return [id for id in of_dataset if id in learned or self.variants[id].entry in entries]

    def families(self, workloads: list[str]) -> dict[str, str]:
        """Family of each of the workloads, in sorted order of the workloads."""
        recorded = self.recorded_programs
        return {
            id: recorded[id].name if id in recorded else self.workloads[id].family_of(id) for id in sorted(workloads)
        }

    @cached_property
    def recorded_programs(self) -> dict[str, RecordedProgram]:
        """The programs of all recorded sources by id."""
        sources = [dataset.source for dataset in self.datasets.values() if dataset.source is not None]
        return {id: program for source in sources for id, program in source.programs.items()}

    def program_of(self, workload: str) -> str:
        """Id of the workload's program: one for all batches of an entry."""
        return self.workloads[workload].program_of(workload)

    def programs(self, workloads: Iterable[str]) -> list[str]:
        """Ids of the programs of the workloads, sorted, each once."""
        return sorted({self.program_of(id) for id in workloads})

    def split(self, dataset: str, name: str | None = None) -> dict[str, list[str]]:
        """The dataset's workloads for `train`, `validation` and `test`, sorted, by its `split` or the one of its
        `splits` that is called `name`."""
        entry = self.datasets[dataset]
        split = entry.split if name is None else entry.splits[name]
        if name is None and entry.folders_split is not None:
            return entry.folders_split
        if isinstance(split, NamedSplit):
            return split.parts() if entry.source else {part: self._selected(ids) for part, ids in split.parts().items()}
        return drawn_split(self.split_units(dataset, split), split.by, split.test, split.validation, self.seed)

    def split_kind(self, evaluation: str) -> str:
        """How the test programs of the evaluation's first model were held out: `family` or `program` where the split is
        drawn, else its id among the dataset's `splits`, `name`, or `folder` where the source's folders say it."""
        model = self.trained_models()[self.members(self.evaluations[evaluation].models[0])[0]]
        dataset = self.datasets[model.dataset]
        if model.split is None and dataset.folders_split is not None:
            return "folder"
        split = dataset.split if model.split is None else dataset.splits[model.split]
        return (model.split or "name") if isinstance(split, NamedSplit) else split.by

    def split_units(self, dataset: str, split: DrawnSplit) -> dict[str, str]:
        """The unit that a drawn split never divides, of each of the dataset's workloads."""
        ids = self.workload_ids(dataset)
        if split.by == "family" or self.datasets[dataset].source is not None:
            return self.families(ids)
        return {id: self.workloads[id].architecture_of(id) for id in ids}

    def resolved_workload(self, id: str) -> dict[str, Any]:
        """The entry with every default spelled out."""
        return self.workloads[id].resolved(id)

    def resolved_program(self, id: str) -> dict[str, Any]:
        """What the program rule gets: the program's workload, the one of the smallest batch if there are several."""
        workloads = [entry for workload, entry in self.workloads.items() if entry.program_of(workload) == id]
        return min(workloads, key=lambda entry: entry.batch).resolved(id)

    def resolved_hardware(self, id: str) -> dict[str, Any]:
        """The variant with its bases merged in; a measured one with `measure`, and with `datapath` None if it has
        none."""
        variant = self.variants[id]
        entry = self.hardware[variant.entry]
        datapath = merged_datapath(base_chain(self.hardware, variant.entry)) | variant.values
        if entry.is_measured:
            measure = entry.measure.resolved()
            return {"id": id, "runtime": entry.runtime, "datapath": datapath or None, "measure": measure}
        return {"id": id, "runtime": entry.runtime, "datapath": datapath}

    def resolved_variants(self, entry: str, dataset: str) -> dict[str, Any]:
        """A sampled entry with what each of its variants in the dataset has of its own."""
        ids = [id for id in self.hardware_ids(dataset) if self.variants[id].entry == entry]
        return {
            "id": entry,
            "runtime": self.hardware[entry].runtime,
            "datapath": merged_datapath(base_chain(self.hardware, entry)),
            "variants": {id: self.variants[id].values for id in ids},
        }

    def resolved_shard(self, dataset: str, task: str, hardware: str, workload: str) -> dict[str, Any]:
        """What the dataset rule gets for one task, entry of `hardware` and workload."""
        entry = self.datasets[dataset]
        return {
            "dataset": dataset,
            "task": task,
            "hardware": (
                self.resolved_hardware(hardware)
                if self.hardware[hardware].sample is None
                else self.resolved_variants(hardware, dataset)
            ),
            "workload": workload,
            **({"batch": self.workloads[workload].batch} if entry.source is None else {}),
            **(
                {"recorded": entry.source.resolved(workload)}
                if entry.source is not None
                else (entry.tile if task == "tile" else entry.fusion).setting() | {"seed": self.seed}
            ),
        }

    def trained_models(self) -> dict[str, Model | BoostedTrees]:
        """The models that something is trained for: all but averages."""
        return {id: model for id, model in self.models.items() if not isinstance(model, Average)}

    def members(self, id: str) -> list[str]:
        """The trained models behind a model: those of an average, or itself."""
        model = self.models[id]
        return list(model.average) if isinstance(model, Average) else [id]

    def resolved_model(self, id: str) -> dict[str, Any]:
        """What the rule that trains a model gets; the seed of training is the rule's wildcard."""
        model = self.trained_models()[id]
        split = self.split(model.dataset, model.split)
        if model.train_programs is not None:
            families = self.families(split["train"])
            split["train"] = chosen_programs(split["train"], families, model.train_programs, self.seed)
        return {
            "id": id,
            "task": model.task,
            "dataset": model.dataset,
            "hardware": self.learned_hardware(id),
            "split": split,
            "families": self.families([workload for part in PARTS for workload in split[part]]),
            **({"origin": origin} if (origin := self.origin(model.dataset)) != "simulated" else {}),
            **({"layout_features": True} if model.layout_features else {}),
            **(model.hyperparameters() if isinstance(model, Model) else {"kind": model.kind}),
        }

    def resolved_evaluation(self, id: str) -> dict[str, Any]:
        """What the evaluation rule gets; models keep their order, as the first of a task is the headline. The models of
        a dataset have one split."""
        evaluation = self.evaluations[id]
        models = [
            self._evaluated_model(model, row, evaluation.hardware, row in evaluation.baselines)
            for model, row in evaluation.shown().items()
        ]
        trained = [self.trained_models()[member] for model in models for member in model["members"]]
        name = {model.dataset: model.split for model in trained}
        split = {dataset: self.split(dataset, name[dataset]) for dataset in sorted(name)}
        return {
            "id": id,
            "models": models,
            "split": split,
            "families": self.families([id for parts in split.values() for ids in parts.values() for id in ids]),
            "seed": self.seed,
        }

    def _evaluated_model(self, id: str, row: str, scored_on: Selection | None, baseline: bool) -> dict[str, Any]:
        """`members`: the trained models behind it; `hardware`: what they were trained on; `row`: name in the tables."""
        members = self.members(id)
        first = self.trained_models()[members[0]]
        if scored_on is None:
            scored = sorted({variant for member in members for variant in self.evaluated_hardware(member)})
        else:
            of_dataset = self.hardware_ids(first.dataset)
            scored = of_dataset if scored_on == "all" else variants_of(scored_on, self.hardware)
        return {
            "id": row,
            "members": members,
            "task": first.task,
            "dataset": first.dataset,
            "seeds": sorted(first.seeds),
            "hardware": sorted({variant for member in members for variant in self.learned_hardware(member)}),
            "scored_on": scored,
            "hardware_groups": self.hardware_groups(scored),
            "baseline": baseline,
        }

    def resolved_search(self, id: str, island: int) -> dict[str, Any]:
        """What the search rule gets for one island, counted from 1."""
        search = self.searches[id]
        workloads = self.programs(self._selected(search.workloads))
        weights = {
            program: weight
            for workload, weight in search.weights.items()
            for program in self.programs(self._selected([workload]))
        }
        return {
            "id": id,
            "workloads": workloads,
            "weights": {workload: weights.get(workload, 1.0) for workload in workloads},
            "baseline": self.resolved_hardware(search.baseline),
            "baseline_schedule": search.baseline_schedule,
            "objective": search.objective,
            "optimiser": search.optimiser,
            "trials": search.trials,
            "island": island,
            "residency": search.residency,
            "limits": search.limits.model_dump(),
            "surrogate": search.surrogate,
            "space": search.space.model_dump(),
            "seed": self.seed,
        }

    def autotuned_workloads(self, id: str) -> list[str]:
        """The programs of an entry of `autotune`, sorted; by default the test programs of its models."""
        entry = self.autotune[id]
        if entry.workloads is not None:
            return self._selected(entry.workloads)
        first = self.trained_models()[self.members(next(iter(entry.models().values()))[0])[0]]
        return self.split(first.dataset, first.split)["test"]

    def resolved_autotune(self, id: str, workload: str) -> dict[str, Any]:
        """What the autotune rule gets for one program; models keep their order, as the first is the headline."""
        entry = self.autotune[id]
        models = {key: [self._autotuning_model(model) for model in ids] for key, ids in entry.models().items()}
        return {
            "id": id,
            "workload": workload,
            "batch": self.workloads[workload].batch,
            "hardware": self.resolved_hardware(entry.hardware),
            **entry.model_dump(exclude={"hardware", "workloads", "tile_models", "fusion_models"}),
            **({"compile_costs_s": [0.0]} if self.hardware[entry.hardware].is_measured else {}),
            **{key: models.get(key, []) for key in ("tile_models", "fusion_models")},
        }

    def _autotuning_model(self, id: str) -> dict[str, Any]:
        """`members`: the trained models behind it; `trained_on`: their programs."""
        members = self.members(id)
        trained = {workload for member in members for workload in self.resolved_model(member)["split"]["train"]}
        return {
            "id": id,
            "members": members,
            "hardware": sorted({variant for member in members for variant in self.learned_hardware(member)}),
            "trained_on": sorted(trained),
        }

    def resolved_fidelity(self, id: str) -> dict[str, Any]:
        """What the fidelity rule gets; the workloads keep their own entries' batch out of it, as figures set theirs."""
        entry = self.fidelity[id]
        workloads = self.programs(self._selected(entry.workloads or []))
        return {"id": id, "sources": sorted(entry.sources), "workloads": workloads}
