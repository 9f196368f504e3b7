"""One ensemble of boosted trees with one seed, trained on the shards of its split."""

from lib.dataset.shards import read_shards
from lib.job import Job
from lib.models.boosted_trees import boosted_trees_contents
from lib.models.boosted_trees_training import train_boosted_trees
from schemas.model_artifact import ModelArtifact

job = Job(snakemake)
seed = int(job.wildcards.seed)
with job.scratch() as scratch:
    model, history = train_boosted_trees(
        job.spec,
        seed,
        lambda workloads: read_shards(job.input.shards, workloads=workloads, hardware=job.spec["hardware"]),
        job.threads,
        scratch,
    )
ModelArtifact.write(
    job.folder,
    id=f"{job.spec['id']}/seed-{seed}",
    origin=job.spec.get("origin", "simulated"),
    code=job.code,
    spec=job.spec,
    contents=boosted_trees_contents(model) | {"history.parquet": history},
)
