"""One shard of a dataset: label the kernels of a program on a hardware variant for one task."""

from lib.cost.analytical import Analytical
from lib.cost.simulator import Simulator
from lib.dataset.tasks import make_shard
from lib.job import Job
from lib.program.program_table import program_from_arrays
from schemas.dataset_artifact import DatasetArtifact
from schemas.program_artifact import ProgramArtifact

job = Job(snakemake)
spec = job.spec
program = program_from_arrays(ProgramArtifact.read(job.input.program)["program.npz"]).with_batch(spec["batch"])
shard = make_shard(program, spec, Simulator(), Analytical())
DatasetArtifact.write(
    job.folder,
    id=f"{spec['dataset']}/{spec['task']}/{spec['hardware']['id']}/{spec['workload']}",
    origin="simulated",
    code=job.code,
    spec=spec,
    contents=shard.files(),
)
