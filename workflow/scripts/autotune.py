"""The autotuners of one entry on one program: models propose, the target verifies."""

import gc

from lib.autotune.autotune import run_autotune
from lib.autotune.target import SimulatedTarget
from lib.cost.simulator import Simulator
from lib.gnn.backend import use_threads
from lib.hardware.datapath import datapath_from_spec
from lib.job import Job
from lib.journal import Journal, fingerprint
from lib.models.loading import load_models
from lib.program.program_table import program_from_arrays
from schemas.autotune_artifact import AutotuneArtifact
from schemas.program_artifact import ProgramArtifact

job = Job(snakemake)
spec = job.spec
use_threads(job.threads)
program = program_from_arrays(ProgramArtifact.read(job.input.program[0])["program.npz"]).with_batch(spec["batch"])
inputs = [*job.input.program, *job.input.models]
journal = Journal.of_job(
    job.folder.parents[2], "autotune", f"{spec['id']}-{spec['workload']}", fingerprint(spec, job.code, inputs)
)
models = load_models(job.input.models)
gc.freeze()  # what stays from here on, TensorFlow's half a second of objects among it, is not looked through again
target = SimulatedTarget(Simulator(), datapath_from_spec(spec["hardware"]["datapath"]), spec["timeout_s"])
AutotuneArtifact.write(
    job.folder,
    id=f"{spec['id']}/{spec['workload']}",
    origin="simulated",
    code=job.code,
    spec=spec,
    contents=run_autotune(spec, program, models, target, journal),
)
journal.remove()
