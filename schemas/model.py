"""The `models:` section: learned cost models."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, WithJsonSchema

from schemas.boosted_trees import Average, BoostedTrees
from schemas.loss import RANK_LOSSES, Loss, is_rank_loss, loss_weights
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
    join: Literal["late", "middle", "early"] | None = None
    """Where the tile meets the graph: `late` at the kernel's embedding, `middle` at each node after the graph network,
    `early` at each node before it, so that the graph network runs once a tile instead of once a kernel.
    Default: late for tile, middle for fusion."""
    tile_features: Literal["projected", "raw"] = "projected"
    """How the model sees a tile: `projected` with what it means for the kernel and, in middle and early join, for each
    node; `raw` its extents, their sum and product alone, repeated at each node in middle and early join."""
    static_features: Literal["kernel", "node", "off"] = "kernel"
    """Where the kernel's FLOPs, bytes and the like enter: `kernel` beside its embedding, `node` repeated at each node
    before the graph network, `off` nowhere."""
    graph_network: Literal["graphsage", "gat", "none"] = "graphsage"
    """How nodes exchange messages; `gat` by attention, `none` treats the kernel as a set of nodes."""
    edges: Literal["both", "directed", "undirected"] | None = None
    """Ways that messages go: `both` along and against the data flow with weights of their own, `directed` only along
    it, `undirected` both ways with the same weights; not with graph_network none. Default: both."""
    layers: Annotated[int, Field(ge=1, le=16)] = 2
    """Layers of the graph network."""
    width: Annotated[int, Field(ge=4, le=4096)] = 64
    """Features of a node's embedding."""
    reduction: Literal["column-wise", "per-node", "lstm", "transformer"] = "column-wise"
    """How node embeddings become the kernel's: `column-wise` mean, maximum and sum, `per-node` a score of each node,
    summed, `lstm` over the nodes in topological order, `transformer` attention among them before the column-wise
    one."""
    loss: Loss | None = None
    """What training minimises: pairwise-logistic, pairwise-hinge, listmle, centred-log-mse (all four rank the tiles of
    a kernel) or log-mse, or a sum with weights such as {pairwise-logistic: 1, log-mse: 0.02}.
    Default: pairwise-logistic for tile, log-mse for fusion."""
    knowledge: Literal["off", "tile", "analytical", "ratio"] | None = None
    """What of the compiler's knowledge is an input: `off` nothing, `tile` the chosen tile, `analytical` also the parts
    of the analytical model; `ratio` also makes the ratio to the analytical model the target.
    Default: analytical for tile, ratio for fusion."""
    steps: PositiveInt = 3000
    """Most training steps."""
    batch_kernels: PositiveInt | None = None
    """Kernels of a training batch. Default: 32 for tile, 96 for fusion, where a kernel is one row."""
    tiles_per_kernel: Annotated[int, Field(ge=2)] | None = None
    """Tiles of a kernel in a training batch; only for tile. Default: 16."""
    learning_rate: Annotated[float, Field(gt=0, le=1)] = 2.0e-3
    """Adam's learning rate at the start."""
    patience: PositiveInt = 10
    """Training stops after so many validations without progress."""

    def inconsistencies(self) -> list[Problem]:
        """Combinations that make no sense, in words."""
        problems = self._problems_of_fusion() if self.task == "fusion" else self._problems_of_tile()
        if self.graph_network == "none" and self.edges is not None:
            text = "only for graph_network graphsage or gat: without messages there is nothing to send along edges"
            problems.append(Problem(("edges",), text))
        return problems

    def _problems_of_fusion(self) -> list[Problem]:
        problems, reason = [], "and the fusion task has one tile a kernel"
        if self.loss is not None and is_rank_loss(self.loss):
            names = ", ".join(name for name in loss_weights(self.loss) if name in RANK_LOSSES)
            text = f"got '{names}'; allowed: log-mse (a rank loss compares the tiles of a kernel, {reason})"
            problems.append(Problem(("loss",), text))
        if self.tiles_per_kernel is not None:
            problems.append(Problem(("tiles_per_kernel",), f"only for task tile, {reason}"))
        if self.knowledge == "off":
            no_tile = "knowledge: off gives the model no tile"
            if self.join in ("late", "early"):
                problems.append(Problem(("join",), f"got '{self.join}'; allowed: leave it out, since {no_tile}"))
            if self.tile_features == "raw":
                problems.append(Problem(("tile_features",), f"got 'raw'; allowed: leave it out, since {no_tile}"))
        return problems

    def _problems_of_tile(self) -> list[Problem]:
        if self.knowledge == "ratio" and (self.loss is None or is_rank_loss(self.loss)):
            remedy = "a rank loss has no target to take the ratio of; loss: log-mse has"
            return [Problem(("knowledge",), f"got 'ratio'; allowed: off, tile, analytical ({remedy})")]
        return []

    def hyperparameters(self) -> dict[str, Any]:
        """Everything but what it is trained on, with every default spelled out."""
        tile = self.task == "tile"
        values = {
            "join": self.join or ("late" if tile else "middle"),
            "tile_features": self.tile_features,
            "static_features": self.static_features,
            "graph_network": self.graph_network,
            "edges": self.edges or "both",
            "layers": self.layers,
            "width": self.width,
            "reduction": self.reduction,
            "loss": self.loss or ("pairwise-logistic" if tile else "log-mse"),
            "knowledge": self.knowledge or ("analytical" if tile else "ratio"),
            "steps": self.steps,
            "batch_kernels": self.batch_kernels or (32 if tile else 96),
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
