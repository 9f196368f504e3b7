"""Networks that predict shards, and the way back and forth to their artifact."""

import numpy as np

from lib.dataset.shards import Shard
from lib.gnn.examples import examples_of_shards
from lib.gnn.feature_set import check_feature_set, feature_set
from lib.gnn.form_rates import read, written
from lib.gnn.network import build_network, network_weights, set_network_weights
from lib.gnn.scaling import Scaling
from lib.gnn.trained_model import TrainedModel, network_shape
from schemas.model_artifact import ColumnScaling, FeatureScaling, ModelArtifact, ModelDescription


def predict(model: TrainedModel, shard: Shard) -> np.ndarray:
    """float64[rows] of the shard: seconds, or scores (lower is faster) where `model.scale` is "rank".

    Raises FeatureSetError for a shard with other features than those of training.
    """
    return model.predict(examples_of_shards([shard]))


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
        form_flops_per_s=None if model.rates is None else written(model.rates),
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
    rates = description.form_flops_per_s
    return TrainedModel(
        spec, description.seed, features, scaling, shape, network, description.target_mean, description.best_step,
        description.training_kernels, description.training_rows, None if rates is None else read(rates),
    )  # fmt: skip
