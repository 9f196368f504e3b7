"""A training run with a journal, for a process that a test kills."""

import sys
from pathlib import Path

import numpy as np

from lib.gnn.backend import use_threads
from lib.gnn.examples import examples_of_shards
from lib.gnn.inference import model_contents
from lib.gnn.training import train
from lib.journal import Journal
from schemas.model_artifact import ModelArtifact
from tests.lib.gnn.synthetic import SPEC, shard


def main() -> None:
    """Train in the folder that the command line names: journal/ and, at the end, model/."""
    folder = Path(sys.argv[1])
    use_threads(2)
    training, validation = (examples_of_shards([shard("tile", seed=seed)]) for seed in (1, 2))
    spec = SPEC | {"steps": 120}
    model, history = train(spec, 1, training, np.zeros((12, 3), int), validation, Journal(folder / "journal"))
    contents = model_contents(model) | {"history.parquet": history}
    ModelArtifact.write(folder / "model", id="m/seed-1", origin="simulated", code="c", spec=spec, contents=contents)
