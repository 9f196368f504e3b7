"""Where the simulator and the analytical model differ on the kernels of a dataset, on one hardware variant."""

from lib.dataset.shards import load_shards
from lib.evaluation.differences import difference_tables
from lib.job import Job
from schemas.difference_artifact import DifferenceArtifact

job = Job(snakemake)
spec = job.spec
DifferenceArtifact.write(
    job.folder,
    id=f"{spec['dataset']}/{spec['hardware']}",
    origin="simulated",
    code=job.code,
    spec=spec,
    contents=difference_tables(load_shards(job.input.shards)),
)
