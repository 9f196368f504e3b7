"""One shard of a dataset: label the kernels of a program on a hardware variant for one task."""

from lib.cost.analytical import Analytical
from lib.cost.simulator import Simulator
from lib.dataset.seeds import shard_seed
from lib.dataset.tasks import fusion_shard, tile_shard
from lib.fusion.default_kernels import default_kernels
from lib.hardware.datapath import datapath_from_spec
from lib.job import Job
from lib.program.program_table import program_from_arrays
from schemas.dataset_artifact import DatasetArtifact
from schemas.program_artifact import ProgramArtifact

job = Job(snakemake)
spec = job.spec
program = program_from_arrays(ProgramArtifact.read(job.input.program)["program.npz"]).with_batch(spec["batch"])
datapath = datapath_from_spec(spec["hardware"]["datapath"])
seed = shard_seed(spec["seed"], spec["workload"])
label, analytical = Simulator(), Analytical()
if spec["task"] == "tile":
    shard = tile_shard(default_kernels(program), datapath, label, analytical, spec["tiles_per_kernel"], seed)
else:
    shard = fusion_shard(program, datapath, label, analytical, spec["configurations"], seed)
DatasetArtifact.write(
    job.folder,
    id=f"{spec['dataset']}/{spec['task']}/{spec['hardware']['id']}/{spec['workload']}",
    origin="simulated",
    code=job.code,
    spec=spec,
    contents=shard.files(),
)
