"""What the jobs of an island share: from program artifacts to the island's artifact, with a journal between."""

from collections.abc import Callable, Mapping, Sequence

from lib.cost.simulator import Simulator
from lib.job import Job
from lib.journal import Journal, fingerprint, sole_job
from lib.program.program_table import program_from_arrays
from lib.search.first_guess import FirstGuess
from lib.search.search import RAISABLE, run_search
from lib.search.workload import KernelsByBatch, kernels_by_batch
from schemas.program_artifact import ProgramArtifact
from schemas.search_artifact import SearchArtifact

MakeGuess = Callable[[Mapping[str, KernelsByBatch]], FirstGuess]


def write_island(job: Job, others: Sequence[str] = (), guess: MakeGuess | None = None) -> None:
    """Run the island of `job` and write its artifact.

    `others`: input files beside the programs that trials depend on; `guess`: of a learned model that pre-screens
    designs.
    """
    spec, results = job.spec, job.folder.parents[2]
    id = f"{spec['id']}-island-{spec['island']}"
    with sole_job(results, "search", id):
        workloads = {}
        for path in job.input.programs:
            program = program_from_arrays(ProgramArtifact.read(path)["program.npz"])
            workloads[program.name] = kernels_by_batch(program)
        print_of_job = fingerprint(spec, job.code, [*job.input.programs, *others], raisable=RAISABLE)
        journal = Journal.of_job(results, "search", id, print_of_job)  # stays, as more trials continue it
        learned = None if guess is None else guess(workloads)
        SearchArtifact.write(
            job.folder,
            id=f"{spec['id']}/island-{spec['island']}",
            origin="simulated",
            code=job.code,
            spec=spec,
            contents=run_search(spec, workloads, Simulator(), journal, guess=learned),
        )
