"""The split whose test programs are the least alike: `python -m lib.dataset.likeness STUDY DATASET`.

How unlike a program is: for each kernel of its default fusion, the distance to the nearest kernel of the programs that
are left to train on; then the mean over the kernels. A kernel is a point of the learned model's kernel features (sizes
as logarithms, `lib.gnn.static_features.kernel_features`), each divided by its standard deviation over all kernels; a
distance is the root of the mean square over the features. Families (or architectures) that are the least alike on
average go to test one after the other, as each that goes leaves the others with fewer neighbours. It needs the programs
alone, so it can be told before anything is labelled; the printed split is pasted under the dataset's `splits:`.
"""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lib.command_line import run_command
from lib.fusion.default_kernels import default_kernels
from lib.gnn.static_features import kernel_features
from lib.program.program_table import program_from_arrays
from schemas.artifact import MANIFEST, ArtifactError
from schemas.dataset import DrawnSplit
from schemas.problem import allowed_names
from schemas.program_artifact import ProgramArtifact
from schemas.split import closest_units, shuffled_units
from schemas.study import Study
from schemas.study_file import StudyError, load_study


class LikenessSplit(NamedTuple):
    """A split, and how unlike the units in test were when they were chosen."""

    parts: dict[str, list[str]]
    """Sorted programs by part."""
    distance: dict[str, float]
    """Of the units in test, in the order in which they were chosen: mean distance of their kernels to the rest's."""
    left: dict[str, float]
    """Of the other units, to the rest of those that are not in test."""


def likeness_split(
    features: Mapping[str, np.ndarray], units: Mapping[str, str], test: float, validation: float, seed: int
) -> LikenessSplit:
    """The split whose test programs are the least alike.

    `features`: float[k, f] of the kernels of each program; `units`: what is never divided, of each program; `test` and
    `validation`: asked shares of programs. Validation is drawn by the seed from what is left.

    Raises ValueError for fewer than three units.
    """
    sizes = {unit: sum(u == unit for u in units.values()) for unit in sorted(set(units.values()))}
    if len(sizes) < 3:
        raise ValueError(f"a split needs at least 3 units, there are {len(sizes)}: {', '.join(sizes)}")
    nearest = _nearest(features)
    left, programs = dict(sizes), 0
    distance: dict[str, float] = {}
    target = test * len(units)
    while len(left) > 2:
        unlike = {unit: _distance(unit, left, units, nearest) for unit in left}
        unit = max(unlike, key=lambda name: unlike[name])
        if distance and abs(programs + left[unit] - target) >= abs(programs - target):
            break
        distance[unit] = unlike[unit]
        programs += left.pop(unit)
    order = shuffled_units(left, seed)
    chosen = closest_units(order, left, validation * len(units), len(left) - 1)
    part_of = dict.fromkeys(distance, "test") | dict.fromkeys(chosen, "validation")
    parts = {
        part: sorted(name for name, unit in units.items() if part_of.get(unit, "train") == part)
        for part in ("train", "validation", "test")
    }
    return LikenessSplit(parts, distance, {unit: _distance(unit, left, units, nearest) for unit in left})


def _nearest(features: Mapping[str, np.ndarray]) -> dict[str, dict[str, np.ndarray]]:
    """float[k] distance of each of a program's kernels to the nearest kernel of another program, by both programs."""
    everything = np.concatenate(list(features.values()))
    spread = everything.std(axis=0)
    varies = spread > 0
    points = {name: (rows[:, varies] / spread[varies]).astype(np.float32) for name, rows in features.items()}
    return {one: {other: _least(points[one], points[other]) for other in points if other != one} for one in points}


def _least(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Root mean square distance of each point to the nearest of the others."""
    if not points.shape[1]:
        return np.zeros(len(points))
    squares = (points**2).sum(1)[:, None] + (others**2).sum(1)[None] - 2.0 * points @ others.T
    return np.sqrt(np.maximum(squares.min(axis=1), 0.0) / points.shape[1])


def _distance(
    unit: str, left: Mapping[str, int], units: Mapping[str, str], nearest: Mapping[str, Mapping[str, np.ndarray]]
) -> float:
    """Mean over the unit's programs of the mean distance of their kernels to those of the other units that are left."""
    others = [name for name in units if units[name] != unit and units[name] in left]
    own = [name for name in units if units[name] == unit]
    return float(np.mean([np.min([nearest[name][other] for other in others], axis=0).mean() for name in own]))


def study_features(study: Study, dataset: str) -> dict[str, np.ndarray]:
    """Kernel features of the default fusion of each of the dataset's workloads, from the study's traced programs.

    Raises ValueError that lists programs which are not there, and ArtifactError for a damaged one.
    """
    folders = {name: Path(study.results) / "program" / name for name in study.programs(study.workload_ids(dataset))}
    absent = [f"{folder}/{MANIFEST}" for folder in folders.values() if not (folder / MANIFEST).is_file()]
    if absent:
        raise ValueError(
            f"{len(absent)} of {len(folders)} programs are not traced yet; make them first, with the study: "
            f"snakemake --configfile STUDY {' '.join(absent)}"
        )
    features = {}
    for workload in study.workload_ids(dataset):
        program = program_from_arrays(ProgramArtifact.read(folders[study.program_of(workload)])["program.npz"])
        kernels = default_kernels(program.with_batch(study.workloads[workload].batch)).kernels
        features[workload] = kernel_features(kernels)
    return features


def written(split: LikenessSplit) -> str:
    """The split as it is pasted under a dataset's `splits:`, with the distances as comments."""
    lines = ["likeness:"]
    for part, programs in split.parts.items():
        lines.append(f"  {part}: [{', '.join(programs)}]")
    lines.append("# distance of kernels to the nearest one to train on, in standard deviations of a feature:")
    lines += [f"#   test: {unit} {distance:.2f}" for unit, distance in split.distance.items()]
    lines += [f"#   left: {unit} {distance:.2f}" for unit, distance in sorted(split.left.items(), key=lambda p: -p[1])]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Print the split of a study's dataset."""
    parser = argparse.ArgumentParser(prog="python -m lib.dataset.likeness", description=__doc__.splitlines()[0])
    parser.add_argument("study", type=Path, help="the study file, whose programs have been traced")
    parser.add_argument("dataset", help="id of the dataset")
    parser.add_argument("--by", choices=["family", "program"], default="family", help="what is never divided")
    parser.add_argument("--test", type=float, default=0.2, help="share of programs asked for in test")
    parser.add_argument("--validation", type=float, default=0.15, help="share of programs asked for in validation")
    asked = parser.parse_args(arguments)
    try:
        study = load_study(asked.study)
        if asked.dataset not in study.datasets or study.datasets[asked.dataset].source is not None:
            of_workloads = [id for id, dataset in study.datasets.items() if dataset.source is None]
            raise ValueError(f"{asked.dataset}: no dataset of workloads; {allowed_names(asked.dataset, of_workloads)}")
        units = study.split_units(asked.dataset, DrawnSplit(by=asked.by))
        features = study_features(study, asked.dataset)
        print(written(likeness_split(features, units, asked.test, asked.validation, study.seed)))
    except (StudyError, ArtifactError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    run_command(main)
