"""The autotuners of one entry on one program: models propose, this machine verifies."""

from pathlib import Path

from lib.autotune.autotune import run_autotune
from lib.gnn.backend import use_threads
from lib.hardware.datapath import datapath_from_spec
from lib.job import Job
from lib.journal import Journal, fingerprint
from lib.models.loading import load_models
from lib.program.program_table import program_from_arrays
from lib.targets.measured_target import DEVICES
from lib.targets.measuring import Measuring, settings_from_spec
from schemas.autotune_artifact import AutotuneArtifact
from schemas.program_artifact import ProgramArtifact

job = Job(snakemake)
spec = job.spec
use_threads(1)  # what is measured has a core of its own
program = program_from_arrays(ProgramArtifact.read(job.input.program[0])["program.npz"]).with_batch(spec["batch"])
inputs = [*job.input.program, *job.input.models]
journal = Journal.of_job(
    job.folder.parents[2], "autotune", f"{spec['id']}-{spec['workload']}", fingerprint(spec, job.code, inputs)
)
hardware = spec["hardware"]
settings = settings_from_spec(hardware["measure"])._replace(timeout_s=spec["timeout_s"])
cache = Path(snakemake.resources.measurements)
runtime, datapath = hardware["runtime"], datapath_from_spec(hardware["datapath"])
with Measuring(runtime, settings, cache) as kept:
    target = DEVICES[runtime](program, datapath, kept, lambda: Measuring(runtime, settings))
    contents = run_autotune(spec, program, load_models(job.input.models), target, journal)
    device = kept.measure([]).device
AutotuneArtifact.write(
    job.folder,
    id=f"{spec['id']}/{spec['workload']}",
    origin="measured",
    code=job.code,
    spec=spec,
    contents=contents,
    device=device,
)
journal.remove()
