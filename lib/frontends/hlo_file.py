"""Programs of files that hold an HLO module, as XLA's text or as a protocol buffer."""

from pathlib import Path
from typing import Any

from lib.frontends.errors import FrontendError
from lib.frontends.hlo_module import program_of
from lib.frontends.hlo_text import is_hlo_text, parse_hlo_text
from lib.frontends.hlo_text_tokens import HloTextError
from lib.frontends.tensorflow_function import parse_module
from lib.program.program import Program

NOT_A_MODULE = (
    "does not hold an HLO module, neither as text, which begins with HloModule, nor as a HloModuleProto (serialised"
    " protocol buffer). TensorFlow writes one with tf.function(f, jit_compile=True).experimental_get_compiler_ir(x)("
    'stage="hlo"), or "hlo_serialized", JAX with jax.jit(f).lower(x).compiler_ir(\'hlo\').as_hlo_text(), or'
    " .as_serialized_hlo_module_proto()"
)


def trace_hlo_file(spec: dict, study_folder: Path) -> Program:
    """The program of an HLO file (`spec["source"]["name"]`, relative to the study file); its batch is the file's own.

    Raises FrontendError for a file that is missing or holds something else, with the line where a text is wrong.
    """
    workload, file = spec["id"], Path(study_folder) / spec["source"]["name"]
    module = read_module(read_file(workload, file), workload, file)
    return program_of(module, workload, spec["batch"], inputs=None, trip_count=spec["trip_count"])


def read_file(workload: str, file: Path) -> bytes:
    """The content of a workload's file. Raises FrontendError if it can't be read."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise FrontendError(f"workload '{workload}': can't read {file}: {error.strerror}") from error


def read_module(content: bytes, workload: str, file: Path) -> Any:
    """`HloModuleProto` of a file's content. Raises FrontendError if it holds none."""
    from google.protobuf.message import DecodeError

    if is_hlo_text(content):
        try:
            return parse_hlo_text(content.decode("utf-8", errors="replace"))
        except HloTextError as error:
            raise FrontendError(f"workload '{workload}': {file}:{error.line}: {error.problem}") from error
    try:
        module = parse_module(content)
    except DecodeError as error:
        raise FrontendError(f"workload '{workload}': {file} {NOT_A_MODULE}") from error
    if not module.computations:
        raise FrontendError(f"workload '{workload}': {file} {NOT_A_MODULE}")
    return module
