"""One learned model with one seed, trained on the shards of its split."""

from lib.dataset.shards import load_shards
from lib.gnn.backend import use_threads
from lib.gnn.inference import model_contents
from lib.gnn.training import train_on_shards
from lib.job import Job
from schemas.model_artifact import ModelArtifact

job = Job(snakemake)
seed = int(job.wildcards.seed)
use_threads(job.threads)
model, history = train_on_shards(job.spec, seed, load_shards(job.input.shards))
ModelArtifact.write(
    job.folder,
    id=f"{job.spec['id']}/seed-{seed}",
    origin="simulated",
    code=job.code,
    spec=job.spec,
    contents=model_contents(model) | {"history.parquet": history},
)
