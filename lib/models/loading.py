"""From an artifact to the model that it holds, whatever its kind."""

from collections.abc import Iterable

from lib.models import LearnedModel
from lib.models.boosted_trees import load_boosted_trees
from schemas.model_artifact import ModelArtifact


def load_model(artifact: ModelArtifact) -> LearnedModel:
    """The model that predicts. Raises FeatureSetError and ValueError as the kinds' own loaders do."""
    if artifact.manifest.spec.get("kind") == "boosted-trees":
        return load_boosted_trees(artifact)
    from lib.gnn import inference  # only here, as TensorFlow takes seconds to import

    return inference.load_model(artifact)


def load_models(paths: Iterable[str]) -> dict[str, dict[int, LearnedModel]]:
    """Model id to seed to model, of artifacts (folders or manifests). Raises ArtifactError for a damaged one."""
    found: dict[str, dict[int, LearnedModel]] = {}
    for path in paths:
        model = load_model(ModelArtifact.read(path))
        found.setdefault(model.spec["id"], {})[model.seed] = model
    return found
