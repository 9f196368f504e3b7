"""Loading trained models and predicting with them; the way back and forth to their artifact."""

import numpy as np

from lib.dataset.shards import Shard
from lib.gnn.examples import analytical_names, examples_of_rows, examples_of_shards
from lib.gnn.feature_set import FeatureSetError, check_feature_set, feature_set
from lib.gnn.network import build_network, network_weights, set_network_weights
from lib.gnn.scaling import Scaling
from lib.gnn.trained_model import TrainedModel, network_shape
from lib.hardware.datapath import Datapath
from lib.models import LearnedModel
from lib.program.kernels import Kernels
from lib.schedule.schedules import Schedules
from schemas.model_artifact import ColumnScaling, FeatureScaling, ModelArtifact, ModelDescription


def predict(model: TrainedModel, shard: Shard) -> np.ndarray:
    """float64[rows] of the shard: seconds, or scores (lower is faster) where `model.scale` is "rank".

    Raises FeatureSetError for a shard with other features than those of training.
    """
    return model.predict(examples_of_shards([shard]))


def predict_rows(
    model: LearnedModel, kernels: Kernels, schedules: Schedules, datapath: Datapath, analytical: dict[str, np.ndarray]
) -> np.ndarray:
    """float64[rows] of schedule rows in any order; what the model reads of a row is its kernel and tile.

    `analytical`: the analytical model's total and parts by column name (`analytical_s`, `analytical_<part>`),
    each float64[rows]. Raises FeatureSetError where these aren't the parts that the model was trained on.
    """
    names = analytical_names(list(analytical))
    if names != model.features.analytical:
        missing = [name for name in model.features.analytical if name not in analytical]
        new = [name for name in names if name not in model.features.analytical]
        raise FeatureSetError(f"analytical parts: the model misses {missing} and doesn't know {new}; train it again")
    order = np.argsort(schedules.kernel, kind="stable")
    values = np.stack([analytical[name] for name in names], axis=1).astype(np.float64)
    examples = examples_of_rows(kernels, schedules.kernel[order], schedules.tile[order], datapath, names, values[order])
    predicted = np.empty(len(order))
    predicted[order] = model.predict(examples)
    return predicted


def model_contents(model: TrainedModel) -> dict:
    """Contents of the files `weights.npz` and `model.json` of a ModelArtifact."""
    description = ModelDescription(
        task=model.spec["task"],
        scale=model.scale,
        hyperparameters=model.spec,
        seed=model.seed,
        features=model.features,
        scaling=FeatureScaling(
            **{
                group: ColumnScaling(mean=mean.tolist(), scale=scale.tolist())
                for group, (mean, scale) in model.scaling._asdict().items()
            }
        ),
        target_mean=model.target_mean,
        best_step=model.best_step,
        training_kernels=model.training_kernels,
        training_rows=model.training_rows,
    )
    return {"weights.npz": network_weights(model.network), "model.json": description}


def load_model(artifact: ModelArtifact) -> TrainedModel:
    """The model that an artifact holds.

    Raises FeatureSetError where this version computes other features than the model was trained on, and
    ValueError where the weights don't fit the network that model.json describes.
    """
    description: ModelDescription = artifact["model.json"]
    features = description.features
    if description.scaling is None:
        raise ValueError("the artifact holds boosted trees; lib.models.loading loads every kind")
    check_feature_set(features, feature_set(features.analytical))
    scaling = Scaling(
        **{
            group: (np.array(columns["mean"], np.float32), np.array(columns["scale"], np.float32))
            for group, columns in description.scaling.model_dump().items()
        }
    )
    spec = description.hyperparameters
    shape = network_shape(spec, features, scaling)
    network = build_network(shape, description.seed)
    set_network_weights(network, artifact["weights.npz"])
    return TrainedModel(
        spec, description.seed, features, scaling, shape, network, description.target_mean, description.best_step,
        description.training_kernels, description.training_rows,
    )  # fmt: skip
