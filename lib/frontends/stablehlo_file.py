"""Programs of files that hold a StableHLO module, as MLIR text or bytecode, by TensorFlow's own converters."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from lib.frontends.errors import FrontendError
from lib.frontends.hlo_file import read_file
from lib.frontends.hlo_module import program_of
from lib.frontends.tensorflow_function import LONGEST_REASON, parse_module
from lib.program.program import Program

BYTECODE = b"ML\xefR"
"""First bytes of MLIR bytecode."""
PORTABLE = b"StableHLO_v"
"""In the header of a portable artifact, as jax.export and StableHLO's tools write it."""
CALL_VERSION = 5
"""Of TensorFlow's op XlaCallModule: the first that takes StableHLO, for any platform."""
ELEMENT_TYPES = {
    "i1": "bool", "i8": "int8", "ui8": "uint8", "i16": "int16", "ui16": "uint16", "i32": "int32", "ui32": "uint32",
    "i64": "int64", "ui64": "uint64", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
}  # fmt: skip
"""Names of element types in StableHLO and in TensorFlow: those that a program may hold."""
MAIN = re.compile(r"func\.func (?:public )?@main\((?P<arguments>.*?)\)(?: -> (?P<results>.*))? \{$", re.MULTILINE)
TENSOR = re.compile(r"tensor<([^>]*)>")
NOT_BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*"|//[^\n]*|->')
"""Texts, comments and arrows, whose brackets and signs are none that nest."""
DEEPEST = 256
"""Brackets within brackets; regions, types and literals of real modules take some twenty. MLIR's parser and XLA's
compiler call themselves for each, and a thousand or more end the process without a word."""
HOW = "a StableHLO module as MLIR text or bytecode, whose function @main takes and returns tensors"


def trace_stablehlo_file(spec: dict, study_folder: Path) -> Program:
    """The program of a StableHLO file (`spec["source"]["name"]`, relative to the study file); its batch is the file's
    own. Raises FrontendError for a file that is missing or holds something else, with the line where MLIR finds it.
    """
    workload, file = spec["id"], Path(study_folder) / spec["source"]["name"]
    module = _hlo_of(read_file(workload, file), workload, file)
    return program_of(module, workload, spec["batch"], inputs=None, trip_count=spec["trip_count"])


def _hlo_of(content: bytes, workload: str, file: Path) -> Any:
    import tensorflow as tf
    from tensorflow.compiler.tf2xla.ops import gen_xla_ops

    text = _mlir_text(content, workload, file)
    main = MAIN.search(text)
    if main is None:
        raise FrontendError(f"workload '{workload}': {file} has no function @main; it must hold {HOW}")
    arguments, results = (
        [_tensor(written, f"workload '{workload}': {file}") for written in TENSOR.findall(main[part] or "")]
        for part in ("arguments", "results")
    )

    def call(*tensors):
        return gen_xla_ops.xla_call_module(
            tensors, version=CALL_VERSION, module=text, Sout=[shape for shape, _ in results],
            Tout=[dtype for _, dtype in results], platforms=[],
        )  # fmt: skip

    compiled = tf.function(call, jit_compile=True)
    inputs = [tf.TensorSpec(shape, dtype) for shape, dtype in arguments]
    try:
        return parse_module(compiled.experimental_get_compiler_ir(*inputs)(stage="hlo_serialized"))
    except Exception as error:
        raise FrontendError(f"workload '{workload}': XLA can't take {file}: {_first_line(error)}") from error


def _mlir_text(content: bytes, workload: str, file: Path) -> str:
    """The module as MLIR prints it, whatever it was written as."""
    from tensorflow.compiler.mlir.stablehlo import stablehlo_extension
    from tensorflow.python import _pywrap_mlir

    try:
        if not content.startswith(BYTECODE):
            _check_nesting(content)
        elif PORTABLE in content[:64]:
            content = stablehlo_extension.deserialize_portable_artifact_str(content)
        text = _pywrap_mlir.ExperimentalRunPassPipeline(content, "", False)
        _check_nesting(text.encode())
        return text
    except Exception as error:
        reason = _first_line(error)
        place = re.match(r"-:(\d+):\d+: (?:error: )?(.*)", reason)
        where, what = (f"{file}:{place[1]}", place[2]) if place else (str(file), reason)
        raise FrontendError(f"workload '{workload}': {where}: {what}; the file must hold {HOW}") from error


def _check_nesting(text: bytes) -> None:
    """Raises ValueError for MLIR that is nested too deeply to be parsed, printed or compiled."""
    if (levels := _nested(text)) > DEEPEST:
        raise ValueError(f"brackets are nested {levels} levels deep; allowed: {DEEPEST}")


def _nested(text: bytes) -> int:
    """The most brackets within brackets."""
    steps = np.zeros(256, np.int8)
    steps[list(b"([{<")], steps[list(b")]}>")] = 1, -1
    depth = np.cumsum(steps[np.frombuffer(NOT_BRACKETS.sub(b" ", text), np.uint8)], dtype=np.int32)
    return int((depth - np.minimum.accumulate(np.minimum(depth, 0))).max(initial=0))


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [repr(error)])[0][:LONGEST_REASON]


def _tensor(written: str, where: str) -> tuple[list[int], str]:
    """Shape and TensorFlow's element type of `2x3xf32`."""
    *extents, element = written.split(",")[0].strip().split("x")
    if element not in ELEMENT_TYPES:
        raise FrontendError(
            f"{where}: the element type '{element}' of tensor<{written}> is not supported; allowed:"
            f" {', '.join(ELEMENT_TYPES)}"
        )
    if not all(extent.isdigit() for extent in extents):
        raise FrontendError(
            f"{where}: tensor<{written}> is dynamic; every extent must be known: export the model with fixed shapes"
        )
    return [int(extent) for extent in extents], ELEMENT_TYPES[element]
