"""One island of a search whose designs a learned model pre-screens."""

from lib.job import Job
from lib.models.loading import load_model
from lib.search.island import write_island
from lib.search.learned_guess import LearnedGuess
from schemas.model_artifact import ModelArtifact

job = Job(snakemake)
model = load_model(ModelArtifact.read(job.input.model))
weights, objective = job.spec["weights"], job.spec["objective"]
write_island(job, [job.input.model], lambda workloads: LearnedGuess(model, workloads, weights, objective))
