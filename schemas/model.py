"""The `models:` section: learned cost models."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, WithJsonSchema

from schemas.boosted_trees import Average, BoostedTrees
from schemas.model_base import TrainedModelEntry
from schemas.problem import Problem
from schemas.study_base import PositiveInt


class Model(TrainedModelEntry):
    """A learned cost model. Terms and choices: Kaufman et al., MLSys 2021."""

    # The second literal never gets here, but makes messages name both.
    kind: Annotated[Literal["network", "boosted-trees"], WithJsonSchema({"const": "network"})] = "network"
    """What is trained; `boosted-trees` takes no keys below, see there."""
    train_rows: Annotated[float, Field(gt=0, le=1)] | None = None
    """Share of the training rows kept, drawn by the model's seed. Default: all."""
    join: Literal["late", "middle"] | None = None
    """Where the tile meets the graph: `late` at the kernel's embedding, `middle` at each node.
    Default: late for tile, middle for fusion."""
    graph_network: Literal["graphsage", "none"] = "graphsage"
    """How nodes exchange messages; `none` treats the kernel as a set of nodes."""
    layers: Annotated[int, Field(ge=1, le=16)] = 2
    """Layers of the graph network."""
    width: Annotated[int, Field(ge=4, le=4096)] = 64
    """Features of a node's embedding."""
    reduction: Literal["column-wise"] = "column-wise"
    """How node embeddings become the kernel's."""
    loss: Literal["pairwise-logistic", "pairwise-hinge", "log-mse"] | None = None
    """What training minimises. Default: pairwise-logistic for tile, log-mse for fusion."""
    knowledge: Literal["off", "tile", "analytical", "ratio"] | None = None
    """What of the compiler's knowledge is an input: `off` nothing, `tile` the chosen tile, `analytical` also the parts
    of the analytical model; `ratio` also makes the ratio to the analytical model the target.
    Default: analytical for tile, ratio for fusion."""
    steps: PositiveInt = 3000
    """Most training steps."""
    batch_kernels: PositiveInt = 32
    """Kernels of a training batch."""
    tiles_per_kernel: Annotated[int, Field(ge=2)] | None = None
    """Tiles of a kernel in a training batch; only for tile. Default: 16."""
    learning_rate: Annotated[float, Field(gt=0, le=1)] = 2.0e-3
    """Adam's learning rate at the start."""
    patience: PositiveInt = 10
    """Training stops after so many validations without progress."""

    def inconsistencies(self) -> list[Problem]:
        """Combinations that make no sense, in words."""
        problems: list[Problem] = []
        if self.task == "fusion":
            reason = "and the fusion task has one tile a kernel"
            if self.join == "late":
                text = f"got 'late'; allowed: middle (late join scores many tiles on one graph, {reason})"
                problems.append(Problem(("join",), text))
            if self.loss in ("pairwise-logistic", "pairwise-hinge"):
                text = f"got '{self.loss}'; allowed: log-mse (a pairwise loss ranks the tiles of a kernel, {reason})"
                problems.append(Problem(("loss",), text))
            if self.tiles_per_kernel is not None:
                problems.append(Problem(("tiles_per_kernel",), f"only for task tile, {reason}"))
        elif self.knowledge == "ratio" and self.loss != "log-mse":
            remedy = "a pairwise loss has no target to take the ratio of; loss: log-mse has"
            problems.append(Problem(("knowledge",), f"got 'ratio'; allowed: off, tile, analytical ({remedy})"))
        return problems

    def hyperparameters(self) -> dict[str, Any]:
        """Everything but what it is trained on, with every default spelled out."""
        tile = self.task == "tile"
        values = {
            "join": self.join or ("late" if tile else "middle"),
            "graph_network": self.graph_network,
            "layers": self.layers,
            "width": self.width,
            "reduction": self.reduction,
            "loss": self.loss or ("pairwise-logistic" if tile else "log-mse"),
            "knowledge": self.knowledge or ("analytical" if tile else "ratio"),
            "steps": self.steps,
            "batch_kernels": self.batch_kernels,
            "learning_rate": self.learning_rate,
            "patience": self.patience,
        }
        if self.train_rows is not None:
            values["train_rows"] = self.train_rows
        return values | {"tiles_per_kernel": self.tiles_per_kernel or 16} if tile else values


def _kind(written: Any) -> str:
    """The kind of entry that is meant."""
    if isinstance(written, Average) or (isinstance(written, dict) and "average" in written):
        return "average"
    if isinstance(written, BoostedTrees) or (isinstance(written, dict) and written.get("kind") == "boosted-trees"):
        return "boosted-trees"
    return "network"


ModelEntry = Annotated[
    Annotated[Model, Tag("network")]
    | Annotated[BoostedTrees, Tag("boosted-trees")]
    | Annotated[Average, Tag("average")],
    Discriminator(_kind),
]
"""An entry of `models:`."""
