"""One island of a search for the datapath that serves some workloads best."""

from lib.cost.simulator import Simulator
from lib.job import Job
from lib.program.program_table import program_from_arrays
from lib.search.search import run_search
from lib.search.workload import kernels_by_batch
from schemas.program_artifact import ProgramArtifact
from schemas.search_artifact import SearchArtifact

job = Job(snakemake)
spec = job.spec
workloads = {}
for path in job.input.programs:
    program = program_from_arrays(ProgramArtifact.read(path)["program.npz"])
    workloads[program.name] = kernels_by_batch(program)
SearchArtifact.write(
    job.folder,
    id=f"{spec['id']}/island-{spec['island']}",
    origin="simulated",
    code=job.code,
    spec=spec,
    contents=run_search(spec, workloads, Simulator()),
)
