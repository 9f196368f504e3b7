"""One island of a search for the datapath that serves some workloads best."""

from lib.cost.simulator import Simulator
from lib.job import Job
from lib.journal import Journal, fingerprint, sole_job
from lib.program.program_table import program_from_arrays
from lib.search.search import RAISABLE, run_search
from lib.search.workload import kernels_by_batch
from schemas.program_artifact import ProgramArtifact
from schemas.search_artifact import SearchArtifact

job = Job(snakemake)
spec, results = job.spec, job.folder.parents[2]
id = f"{spec['id']}-island-{spec['island']}"
with sole_job(results, "search", id):
    workloads = {}
    for path in job.input.programs:
        program = program_from_arrays(ProgramArtifact.read(path)["program.npz"])
        workloads[program.name] = kernels_by_batch(program)
    print_of_job = fingerprint(spec, job.code, job.input.programs, raisable=RAISABLE)
    journal = Journal.of_job(results, "search", id, print_of_job)  # stays, as more trials continue it
    SearchArtifact.write(
        job.folder,
        id=f"{spec['id']}/island-{spec['island']}",
        origin="simulated",
        code=job.code,
        spec=spec,
        contents=run_search(spec, workloads, Simulator(), journal),
    )
