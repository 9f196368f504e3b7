"""What a model artifact holds and refuses."""

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from schemas.artifact import ArtifactError
from schemas.model_artifact import ColumnScaling, FeatureScaling, FeatureSet, ModelArtifact, ModelDescription

ONE = ColumnScaling(mean=(0.5,), scale=(2.0,))


def contents() -> dict:
    names = FeatureSet(
        version=1, op_kinds=("add",), node=("n",), kernel=("k",), tile=("t",), raw_tile=("r",), node_tile=("p",),
        analytical=("a",), node_layout=("l",), kernel_layout=("m",),
    )  # fmt: skip
    description = ModelDescription(
        task="tile",
        scale="rank",
        hyperparameters={"width": 4},
        seed=1,
        features=names,
        scaling=FeatureScaling(**dict.fromkeys(FeatureScaling.model_fields, ONE)),
        target_mean=0.0,
        best_step=10,
        training_kernels=3,
        training_rows=30,
    )
    history = pd.DataFrame(
        {
            "step": np.array([10], np.int32),
            "learning_rate": [1e-3],
            "train_loss": [0.5],
            "validation_loss": [np.nan],
            "validation_metric": [np.nan],
        }
    )
    return {
        "weights.npz": {"head/bias": np.zeros(3, np.float32)},
        "model.json": description,
        "history.parquet": history,
    }


def write(folder, **changes):
    return ModelArtifact.write(
        folder, id="m/seed-1", origin="simulated", code="c", spec={}, contents=contents() | changes
    )


def test_round_trip(tmp_path):
    write(tmp_path / "m")
    again = ModelArtifact.read(tmp_path / "m")
    assert again["model.json"] == contents()["model.json"]
    assert again["history.parquet"].equals(contents()["history.parquet"])


def test_weights_that_are_not_finite_are_refused(tmp_path):
    with pytest.raises(ArtifactError, match=r"weights.npz: array head/bias: holds values that are not finite"):
        write(tmp_path / "m", **{"weights.npz": {"head/bias": np.array([np.nan], np.float32)}})


def test_scaling_has_as_many_scales_as_means():
    with pytest.raises(ValidationError, match="2 means and 1 scales"):
        ColumnScaling(mean=(0.0, 1.0), scale=(1.0,))
