"""One shard of a dataset: measure the kernels of a program on this machine for one task."""

from pathlib import Path

from lib.dataset.measured_shards import make_measured_shard
from lib.job import Job
from lib.program.program_table import program_from_arrays
from lib.targets.measuring import Measuring, settings_from_spec
from schemas.dataset_artifact import DatasetArtifact
from schemas.program_artifact import ProgramArtifact

job = Job(snakemake)
spec = job.spec
program = program_from_arrays(ProgramArtifact.read(job.input.program)["program.npz"]).with_batch(spec["batch"])
settings = settings_from_spec(spec["hardware"]["measure"])
with Measuring(spec["hardware"]["runtime"], settings, Path(snakemake.resources.measurements)) as measuring:
    shard = make_measured_shard(program, spec, measuring)
DatasetArtifact.write(
    job.folder,
    id=f"{spec['dataset']}/{spec['task']}/{spec['hardware']['id']}/{spec['workload']}",
    origin="measured",
    code=job.code,
    spec=spec,
    contents=shard.contents.files(),
    device=shard.device,
)
