"""Score models and baselines on the programs held out, and apart from that on the validation programs."""

from lib.evaluation.predicting import predictions
from lib.evaluation.roofline import fitted_rooflines
from lib.evaluation.selection import groups_of, held_out_shards, origin_of, training_shards, validation_shards
from lib.evaluation.tables import Programs, evaluation_tables
from lib.gnn.backend import use_threads
from lib.job import Job
from lib.models.loading import load_models
from schemas.evaluation_artifact import EvaluationArtifact

job = Job(snakemake)
spec = job.spec
use_threads(job.threads)
test = held_out_shards(job.input.shards, spec["models"], spec["split"], spec["families"])
validation = validation_shards(job.input.shards, spec["models"], spec["split"], test)
trained = load_models(job.input.models)
EvaluationArtifact.write(
    job.folder,
    id=spec["id"],
    origin=origin_of(test),
    code=job.code,
    spec=spec,
    contents=evaluation_tables(
        test,
        predictions(spec["models"], trained, test),
        spec["families"],
        spec["seed"],
        trained_baselines=[model["id"] for model in spec["models"] if model["baseline"]],
        groups=groups_of(spec["models"]),
        rooflines=fitted_rooflines(training_shards(job.input.shards, spec["models"], spec["split"], test)),
        validation=Programs(validation, predictions(spec["models"], trained, validation)),
    ),
)
