"""Rule `program`: a workload's tensor program, simplified, for every batch."""

from pathlib import Path

from lib.frontends import trace
from lib.job import Job
from lib.program.program_table import program_to_arrays
from lib.program.simplify import simplify
from schemas.program_artifact import ProgramArtifact

job = Job(snakemake)
spec = job.spec
traced = trace(spec, Path(snakemake.params.source_folder).resolve())
program = simplify(traced, spec["sizing"]).with_batch(spec["batch"])
ProgramArtifact.write(
    job.folder,
    id=spec["id"],
    origin="none",
    code=job.code,
    spec=spec,
    contents={"program.npz": program_to_arrays(program)},
)
