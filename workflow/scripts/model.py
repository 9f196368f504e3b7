"""One learned model with one seed, trained on the shards of its split."""

from lib.dataset.shards import read_shards
from lib.gnn.backend import use_threads
from lib.gnn.inference import model_contents
from lib.gnn.training import train_on_shards
from lib.job import Job
from lib.journal import Journal, fingerprint
from schemas.model_artifact import ModelArtifact

job = Job(snakemake)
seed = int(job.wildcards.seed)
use_threads(job.threads)
settings = job.spec | {"seed": seed, "threads": job.threads}
journal = Journal.of_job(
    job.folder.parents[2], "model", f"{job.spec['id']}-seed-{seed}", fingerprint(settings, job.code, job.input.shards)
)
with job.scratch() as scratch:
    model, history = train_on_shards(
        job.spec,
        seed,
        lambda workloads: read_shards(job.input.shards, workloads=workloads, hardware=job.spec["hardware"]),
        folder=scratch,
        journal=journal,
    )
ModelArtifact.write(
    job.folder,
    id=f"{job.spec['id']}/seed-{seed}",
    origin=job.spec.get("origin", "simulated"),
    code=job.code,
    spec=job.spec,
    contents=model_contents(model) | {"history.parquet": history},
)
journal.remove()
