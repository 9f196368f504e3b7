"""Score models and baselines on the programs held out."""

from lib.evaluation.selection import held_out_shards
from lib.evaluation.tables import Prediction, evaluation_tables
from lib.gnn.backend import use_threads
from lib.gnn.inference import load_model, predict
from lib.job import Job
from schemas.evaluation_artifact import EvaluationArtifact
from schemas.model_artifact import ModelArtifact

job = Job(snakemake)
spec = job.spec
use_threads(job.threads)
shards = held_out_shards(job.input.shards, spec["models"], spec["split"], spec["families"])
predictions = []
for path in job.input.models:
    model = load_model(ModelArtifact.read(path))
    entry = next(entry for entry in spec["models"] if entry["id"] == model.spec["id"])
    hardware = entry.get("hardware", model.spec["hardware"])
    for number, shard in enumerate(shards):
        if shard.task == model.spec["task"] and shard.hardware in hardware:
            predictions.append(Prediction(number, model.spec["id"], model.seed, predict(model, shard)))
EvaluationArtifact.write(
    job.folder,
    id=spec["id"],
    origin="simulated",
    code=job.code,
    spec=spec,
    contents=evaluation_tables(shards, predictions, spec["families"], spec["seed"]),
)
