"""A trained model: weights, what they mean, and how training went."""

from typing import Any, ClassVar, Literal

from pydantic import model_validator

from schemas.artifact import Artifact
from schemas.artifact_files import ArraysSpec, Column, FileSpec, ModelSpec, TableSpec
from schemas.base import StrictModel


class FeatureSet(StrictModel):
    """Names of all input features in the order of their columns; a model refuses others than those it was trained on,
    but for more features of the tile behind its own."""

    version: int
    """Of the meaning of the features."""
    op_kinds: tuple[str, ...]
    """Op kinds by number."""
    node: tuple[str, ...]
    """Features of a node without a tile."""
    kernel: tuple[str, ...]
    """Features of a kernel and of the hardware variant."""
    tile: tuple[str, ...]
    """Features of a tile."""
    raw_tile: tuple[str, ...]
    """Features of a tile by itself: extents, their sum and product."""
    node_tile: tuple[str, ...]
    """Features of a node under a tile."""
    analytical: tuple[str, ...]
    """Parts of the analytical estimate, the total first."""
    node_layout: tuple[str, ...]
    """Features of a node that say how it lies in memory and how a matrix op is written."""
    kernel_layout: tuple[str, ...]
    """The same of a kernel."""


class ColumnScaling(StrictModel):
    """Scaled feature = (x - mean) * scale, by column; a scale of 0 drops the column."""

    mean: tuple[float, ...]
    """Mean over the training split."""
    scale: tuple[float, ...]
    """One over the standard deviation over the training split; 0 for a constant column."""

    @model_validator(mode="after")
    def _same_length(self) -> "ColumnScaling":
        if len(self.mean) != len(self.scale):
            raise ValueError(f"{len(self.mean)} means and {len(self.scale)} scales")
        return self


class FeatureScaling(StrictModel):
    """Scaling of each group of features."""

    node: ColumnScaling
    """Of node features."""
    kernel: ColumnScaling
    """Of kernel and hardware features."""
    tile: ColumnScaling
    """Of tile features."""
    raw_tile: ColumnScaling
    """Of features of a tile by itself."""
    node_tile: ColumnScaling
    """Of features of nodes under a tile."""
    analytical: ColumnScaling
    """Of features from the analytical estimate."""
    node_layout: ColumnScaling
    """Of layout features of nodes."""
    kernel_layout: ColumnScaling
    """Of layout features of kernels."""


class ModelDescription(StrictModel):
    """What is needed beside the weights to predict with a model."""

    task: Literal["tile", "fusion"]
    """What the model was trained for."""
    scale: Literal["seconds", "rank"]
    """Seconds, or a score that is comparable within a kernel only."""
    hyperparameters: dict[str, Any]
    """The model's entry of the study."""
    seed: int
    """Of the initial weights and of the training batches."""
    features: FeatureSet
    """Names of all input features in order."""
    scaling: FeatureScaling | None
    """Fitted to the training split; none for boosted trees, which compare features and do not scale them."""
    target_mean: float
    """Added to the network's output: mean over the training split of what it learns; 0 without the log-mse loss. Of
    boosted trees: the prediction before the first tree."""
    best_step: int
    """Step whose weights were kept; of boosted trees: how many there are."""
    training_kernels: int
    """Kernels that it was trained on; one that occurs in two shards counts twice."""
    training_rows: int
    """Rows that it was trained on."""
    form_flops_per_s: dict[str, float] | None = None
    """FLOP/s of matrix ops by the form that they are written in, over the training kernels: where the model reads the
    layout and learns times relative to an estimate."""


class ModelArtifact(Artifact):
    """One trained model with one seed."""

    version: ClassVar[int] = 3
    files: ClassVar[dict[str, FileSpec]] = {
        "weights.npz": ArraysSpec(None),
        "model.json": ModelSpec(ModelDescription),
        "history.parquet": TableSpec(
            {
                "step": Column("int32", minimum=0),
                "learning_rate": Column("float64", minimum=0),
                "train_loss": Column("float64"),
                "validation_loss": Column("float64", nullable=True),
                "validation_metric": Column("float64", minimum=0, nullable=True, unit="%"),
            }
        ),
    }
