"""Programs of files that hold an HLO module as a protocol buffer."""

from pathlib import Path

from lib.frontends.errors import FrontendError
from lib.frontends.hlo_module import program_of
from lib.frontends.tensorflow_function import parse_module
from lib.program.program import Program

NOT_A_MODULE = (
    "does not hold an HloModuleProto (serialised protocol buffer). TensorFlow writes one with"
    ' tf.function(f, jit_compile=True).experimental_get_compiler_ir(x)(stage="hlo_serialized"), JAX with'
    " jax.jit(f).lower(x).compiler_ir('hlo').as_serialized_hlo_module_proto()"
)


def trace_hlo_file(spec: dict, study_folder: Path) -> Program:
    """The program of an `HloModuleProto` file (`spec["source"]["name"]`, relative to the study file); its batch is
    the file's own. Raises FrontendError for a file that is missing or holds something else.
    """
    from google.protobuf.message import DecodeError

    workload, file = spec["id"], Path(study_folder) / spec["source"]["name"]
    try:
        content = file.read_bytes()
    except OSError as error:
        raise FrontendError(f"workload '{workload}': can't read {file}: {error.strerror}") from error
    try:
        module = parse_module(content)
    except DecodeError as error:
        raise FrontendError(f"workload '{workload}': {file} {NOT_A_MODULE}") from error
    if not module.computations:
        raise FrontendError(f"workload '{workload}': {file} {NOT_A_MODULE}")
    return program_of(module, workload, spec["batch"], inputs=None, trip_count=spec["trip_count"])
