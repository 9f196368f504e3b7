"""The hardware variant to predict for, and how it differs from those that a model was trained on."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from lib.gnn.feature_set import HARDWARE_FEATURES
from lib.gnn.static_features import hardware_features
from lib.hardware.datapath import Datapath, datapath_from_spec
from lib.models import LearnedModel
from schemas.hardware import HARDWARE_PRESETS, merged_datapath
from schemas.problem import allowed_names
from schemas.study_file import load_study

FAR = 3.0
"""Standard deviations from the mean of the training kernels beyond which a value counts as far from all of them."""
SAME = 1e-3
"""Two values of a hardware feature (log2 of a size, a share or a flag) closer than this are one."""


class AskedHardware(NamedTuple):
    """A hardware variant by name."""

    id: str
    datapath: Datapath


def hardware_named(id: str, study: Path | None = None) -> AskedHardware:
    """The variant `id` of a study file's `hardware:` (a sampled one by its own id), or the preset of that name.

    Raises ValueError with the nearest known name where neither has it, StudyError for a broken study.
    """
    known: list[str] = []
    if study is not None:
        loaded = load_study(study)
        known = list(loaded.variants)
        if id in known:
            return AskedHardware(id, datapath_from_spec(loaded.resolved_hardware(id)["datapath"]))
    if id in HARDWARE_PRESETS:
        return AskedHardware(id, datapath_from_spec(merged_datapath([HARDWARE_PRESETS[id]])))
    where = f"neither {study} nor the presets have hardware" if study else "no preset is called"
    hint = "" if study else "; a variant of your own comes from a study file, given with --study"
    raise ValueError(f"{where} '{id}'; {allowed_names(id, [*known, *HARDWARE_PRESETS])}{hint}")


def training_note(trained: LearnedModel, asked: AskedHardware) -> str | None:
    """What a person must know of a model that is asked about hardware unlike that of its training; None where there is
    nothing to say.

    Beside the variant's id it compares the hardware features of a network: those that were constant in training and are
    another here had no influence to learn, those `FAR` from the training kernels' mean are an extrapolation.
    """
    never_varied, far = _unlike_training(trained, asked.datapath)
    variants = trained.spec["hardware"]
    stranger = asked.id not in variants
    if not stranger and not never_varied.any() and not far.any():
        return None
    name = f"model '{trained.spec['id']}'"
    parts = [
        f"{name} was trained on {_listed(variants)}, not on {asked.id}"
        if stranger
        else f"{name} was trained on another hardware variant called {asked.id}"
    ]
    if never_varied.any():
        parts.append(f"in training these never varied and differ here: {_names(never_varied)}")
    if far.any():
        parts.append(f"far from all training values: {_names(far)}")
    return "; ".join(parts)


def _unlike_training(trained: LearnedModel, datapath: Datapath) -> tuple[np.ndarray, np.ndarray]:
    """bool[h], bool[h]: which hardware features never varied in training and differ, which are far from all values."""
    scaling = getattr(trained, "scaling", None)  # boosted trees have none
    if scaling is None:
        return np.zeros(len(HARDWARE_FEATURES), bool), np.zeros(len(HARDWARE_FEATURES), bool)
    mean, scale = scaling.kernel
    places = [trained.features.kernel.index(name) for name in HARDWARE_FEATURES]
    distance = np.abs(hardware_features(datapath) - mean[places])
    constant = scale[places] == 0
    return constant & (distance > SAME), ~constant & (distance * scale[places] > FAR)


def _names(chosen: np.ndarray) -> str:
    return ", ".join(name for name, of_it in zip(HARDWARE_FEATURES, chosen, strict=True) if of_it)


def _listed(variants: list[str], most: int = 6) -> str:
    shown = ", ".join(variants[:most])
    return shown if len(variants) <= most else f"{len(variants)} variants ({shown}, ...)"
