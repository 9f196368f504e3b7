"""Our figures beside those of papers, of peers' tools and of real chips."""

from lib.fidelity.sources import fidelity_figures
from lib.job import Job
from lib.program.program_table import program_from_arrays
from schemas.fidelity_artifact import FidelityArtifact
from schemas.program_artifact import ProgramArtifact

job = Job(snakemake)
spec = job.spec
programs = [program_from_arrays(ProgramArtifact.read(path)["program.npz"]) for path in job.input.programs]
FidelityArtifact.write(
    job.folder,
    id=spec["id"],
    origin="simulated",
    code=job.code,
    spec=spec,
    contents={
        "figures.parquet": fidelity_figures(spec["sources"], {program.name: program for program in programs}),
    },
)
