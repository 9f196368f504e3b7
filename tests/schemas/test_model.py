"""The choices of a learned model: defaults spelled out, losses and their scale."""

from itertools import product

import pytest
from pydantic import ValidationError

from schemas.loss import is_rank_loss, loss_weights
from schemas.model import Model

CHOICES = {
    "task": ["tile", "fusion"],
    "join": [None, "late", "middle", "early"],
    "tile_features": ["projected", "raw"],
    "graph_network": ["graphsage", "gat", "none"],
    "edges": [None, "both", "directed", "undirected"],
    "knowledge": [None, "off", "tile", "analytical", "ratio"],
    "loss": [None, "listmle", "log-mse", {"pairwise-logistic": 1, "log-mse": 0.02}],
}


def may_stand(task, join, tile_features, graph_network, edges, knowledge, loss) -> bool:
    """The rules of docs/learned-model.md, written down a second time."""
    ranks = loss not in (None, "log-mse")
    if edges and graph_network == "none":
        return False
    if task == "fusion":
        needs_tile = join in ("late", "early") or tile_features == "raw"
        return not ranks and not (knowledge == "off" and needs_tile)
    return not (knowledge == "ratio" and loss != "log-mse")


def test_every_combination_is_allowed_or_refused_by_the_rules():
    for values in product(*CHOICES.values()):
        written = dict(zip(CHOICES, values, strict=True))
        try:
            Model.model_validate({"dataset": "d"} | written)
            allowed = True
        except ValidationError:
            allowed = False
        assert allowed == may_stand(*values), written


def test_defaults_are_spelled_out():
    tile = Model.model_validate({"task": "tile", "dataset": "d"}).hyperparameters()
    choices = ("join", "edges", "reduction", "tile_features", "static_features", "loss", "knowledge")
    assert [tile[key] for key in choices] == [
        "late", "both", "column-wise", "projected", "kernel", "pairwise-logistic", "analytical",
    ]  # fmt: skip
    fusion = Model.model_validate({"task": "fusion", "dataset": "d"}).hyperparameters()
    assert [fusion[key] for key in ("join", "loss", "knowledge")] == ["middle", "log-mse", "ratio"]


def test_a_sum_of_losses_keeps_its_weights_in_one_order():
    both = [{"log-mse": 0.02, "pairwise-logistic": 1}, {"pairwise-logistic": 1.0, "log-mse": 0.02}]
    one, two = (Model.model_validate({"task": "tile", "dataset": "d", "loss": loss}).hyperparameters() for loss in both)
    assert list(one["loss"].items()) == list(two["loss"].items()) == [("pairwise-logistic", 1.0), ("log-mse", 0.02)]


@pytest.mark.parametrize(
    ("loss", "ranks"),
    [
        ("log-mse", False),
        ({"log-mse": 2.0}, False),
        ("centred-log-mse", True),
        ("listmle", True),
        ({"pairwise-logistic": 1.0, "log-mse": 0.02}, True),
    ],
)
def test_one_rank_loss_makes_scores_comparable_within_a_kernel_only(loss, ranks):
    assert is_rank_loss(loss) == ranks


def test_a_name_alone_has_weight_one():
    assert loss_weights("listmle") == {"listmle": 1.0}
