"""A trained model from its folder, with errors for the person who named it."""

from pathlib import Path

from lib.cost.learned import Learned
from lib.gnn.feature_set import FeatureSetError
from lib.models.loading import load_model
from schemas.artifact import MANIFEST, ArtifactError
from schemas.model_artifact import ModelArtifact


def read_model(folder: Path) -> Learned:
    """See :func:`lib.prediction.load_model`."""
    try:
        return Learned(load_model(ModelArtifact.read(folder)))
    except FeatureSetError as error:
        raise FeatureSetError(f"{folder}: {error}") from error
    except ArtifactError as error:
        if not error.is_another_folder:
            raise
        raise ValueError(
            f"{folder} is not a trained model's folder{_seeds_in(folder)}; give one that the workflow has made,"
            " RESULTS/model/MODEL/seed-N"
        ) from error


def _seeds_in(folder: Path) -> str:
    """Where the folder holds models, which ones."""
    seeds = sorted(path.parent.name for path in folder.glob(f"seed-*/{MANIFEST}"))
    return f", but holds {', '.join(seeds)}" if seeds else ""


def require_seconds(learned: Learned, folder: Path) -> None:
    """Raise ValueError for a model whose values are no seconds."""
    if learned.scale == "seconds":
        return
    spec = learned.model.spec
    learns = spec.get("loss", "relative times")
    raise ValueError(
        f"{folder}: model '{spec['id']}' was trained with {learns}, so it ranks the tiles of a kernel and"
        " predicts no seconds; give it as --tile-model, and as --model one that predicts runtimes (task: fusion, or"
        " loss: log-mse)"
    )


def require_tiles(learned: Learned, folder: Path) -> None:
    """Raise ValueError for a model that was not trained to tell tiles apart."""
    spec = learned.model.spec
    if spec["task"] != "tile":
        raise ValueError(
            f"{folder}: model '{spec['id']}' was trained on the fusion task, where every kernel has its default tile,"
            " so it can't choose tiles; give it as --model, and as --tile-model one with task: tile"
        )
