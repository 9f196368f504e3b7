"""One shard of a dataset: label the kernels of a program on a hardware variant for one task, or read recorded ones."""

from pathlib import Path

from lib.cost.analytical import Analytical
from lib.cost.simulator import Simulator
from lib.dataset.recorded_shards import make_recorded_shard
from lib.dataset.tasks import make_shard
from lib.job import Job
from lib.program.program_table import program_from_arrays
from schemas.dataset_artifact import DatasetArtifact
from schemas.program_artifact import ProgramArtifact

job = Job(snakemake)
spec = job.spec
if "recorded" in spec:
    origin = "recorded"
    shard = make_recorded_shard([Path(file) for file in job.input.recorded], spec)
else:
    origin = "simulated"
    program = program_from_arrays(ProgramArtifact.read(job.input.program)["program.npz"]).with_batch(spec["batch"])
    shard = make_shard(program, spec, Simulator(), Analytical())
DatasetArtifact.write(
    job.folder,
    id=f"{spec['dataset']}/{spec['task']}/{spec['hardware']['id']}/{spec['workload']}",
    origin=origin,
    code=job.code,
    spec=spec,
    contents=shard.files(),
)
