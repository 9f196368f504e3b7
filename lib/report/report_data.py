"""What a report is made of: the validated artifacts of a study, and how long the rules took."""

from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from lib.report.measured_data import MeasuredData
from schemas.artifact import Artifact
from schemas.split import families_on_both_sides

WALL_TIME_COLUMNS = ["rule", "job", "wall_s", "cpu_s", "max_rss_mb"]


@dataclass(frozen=True)
class ReportData:
    """Artifacts by id."""

    spec: dict[str, Any]
    """The study's resolved entries by section."""
    programs: pd.DataFrame
    """One row a workload: workload, family, mode, batch, gflop (at that batch), weight_mib, instructions."""
    shards: pd.DataFrame
    """One row a shard: dataset, task, hardware, workload, kernels, rows."""
    models: dict[str, list[Artifact]] = field(default_factory=dict)
    """Model id to one ModelArtifact a seed."""
    evaluations: dict[str, Artifact] = field(default_factory=dict)
    autotunes: dict[str, list[Artifact]] = field(default_factory=dict)
    """Id of an entry of `autotune` to one AutotuneArtifact a program."""
    searches: dict[str, list[Artifact]] = field(default_factory=dict)
    """Search id to one SearchArtifact an island."""
    search_summaries: dict[str, Artifact] = field(default_factory=dict)
    """Search id to the SearchSummaryArtifact of its islands together."""
    differences: dict[tuple[str, str], Artifact] = field(default_factory=dict)
    """(dataset, hardware variant) to DifferenceArtifact."""
    fidelity: dict[str, Artifact] = field(default_factory=dict)
    """Id to FidelityArtifact."""
    measured: MeasuredData = field(default_factory=MeasuredData)
    """Of runtimes measured on this machine."""
    wall_times: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=WALL_TIME_COLUMNS))
    """One row a job that ran."""
    software: dict[str, str] = field(default_factory=dict)
    results: str = "results"
    """The study's folder of results, for paths that a person may copy."""

    @property
    def origins(self) -> list[str]:
        """Where the runtimes of the evaluations come from, sorted; of a study without one, the simulator."""
        return sorted({artifact.manifest.origin for artifact in self.evaluations.values()}) or ["simulated"]

    def simulated(self) -> "ReportData":
        """The same without evaluations and autotuners of recorded or measured runtimes, which the papers' figures are
        not about."""
        kept = {name: one for name, one in self.evaluations.items() if one.manifest.origin == "simulated"}
        tuned = {name: all_of for name, all_of in self.autotunes.items() if all_of[0].manifest.origin == "simulated"}
        return replace(self, evaluations=kept, autotunes=tuned)

    def headline(self, evaluation: str) -> dict[str, str]:
        """Task to the model id whose row is 'learned' (the first of the task in the study)."""
        found: dict[str, str] = {}
        for model in self.evaluations[evaluation].manifest.spec["models"]:
            found.setdefault(model["task"], model["id"])
        return found

    def split_kind(self, evaluation: str) -> str:
        """How the evaluation's test programs were held out: by family, program or likeness, or another split's id."""
        return self.spec.get("splits", {}).get(evaluation, "family")

    def trained_on(self, model: str) -> list[str] | None:
        """The hardware variants that a model learned; None where the study doesn't say."""
        return self.spec["models"].get(model, {}).get("hardware")

    def sampled(self, evaluation: str) -> dict[str, str]:
        """Sampled hardware variants of the evaluation to their group: there are too many to show one by one."""
        models = self.evaluations[evaluation].manifest.spec["models"]
        return {variant: group for model in models for variant, group in model.get("hardware_groups", {}).items()}

    def means(self, evaluation: str) -> pd.DataFrame:
        """`overall.parquet` with one row a group of sampled variants, as `groups.parquet` has it, in place of one a
        variant; column `hardware` then names the group."""
        artifact, sampled = self.evaluations[evaluation], self.sampled(evaluation)
        overall = artifact["overall.parquet"]
        if not sampled:
            return overall
        groups = artifact["groups.parquet"].rename(columns={"group": "hardware"})
        return pd.concat([overall[~overall["hardware"].isin(list(sampled))], groups], ignore_index=True)

    def held_out(self, evaluation: str) -> str:
        """What the evaluation's test programs have to do with what was trained on, in words."""
        spec = self.evaluations[evaluation].manifest.spec
        shared = sorted(
            {f for split in spec["split"].values() for f in families_on_both_sides(split, spec["families"])}
        )
        if shared:
            return f"programs never trained on, but other programs of {', '.join(shared)} were"
        return "programs whose families were never trained on"
