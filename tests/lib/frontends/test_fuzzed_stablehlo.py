"""StableHLO files that were cut, garbled or written by something else: a program or words, never a traceback."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tensorflow.compiler.mlir.stablehlo import stablehlo_extension

from lib.frontends import trace
from lib.job import in_words
from tests.lib.frontends.fuzzing import edits, garbled

TEXT = """\
module @fuzzed {
  func.func private @relu(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<2x4xf32>
    %0 = stablehlo.maximum %x, %zero : tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
  func.func public @main(%x: tensor<2x3xf32> {mhlo.layout_mode = "default"}, %w: tensor<3x4xf32>)
      -> (tensor<2xf32> {jax.result_info = ""}, tensor<2xi32>) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %1 = call @relu(%0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
    %3 = stablehlo.iota dim = 0 : tensor<2xi32>
    return %2, %3 : tensor<2xf32>, tensor<2xi32>
  }
}
"""
PIECES = ["{", "}", "(", ")", "<", ">", "%", "-1", "0", "99999999999999999999", "?", "x", "f32", "complex<f32>",
          "tensor<", '"', "\n", "@main", "#", "stablehlo.", "dense<"]  # fmt: skip
SPEC = {
    "id": "fuzzed", "family": "x", "source": {"kind": "stablehlo", "name": "module.mlir"}, "arguments": {},
    "input_shape": None, "mode": "inference", "batch": 2, "sizing": "bfloat16", "trip_count": None,
}  # fmt: skip
FUZZING = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("fuzzed")


def program_or_words(folder: Path, content: bytes) -> None:
    """What the rule does with a file; fails on an error that a person would see as a traceback."""
    (folder / "module.mlir").write_bytes(content)
    try:
        trace(SPEC, folder)
    except Exception as error:
        if in_words(error, error.__traceback__) is None:
            raise


def test_the_module_itself_is_sound(folder):
    (folder / "module.mlir").write_text(TEXT)
    assert {"dot", "maximum", "reduce", "iota"} <= {one.opcode for one in trace(SPEC, folder).instructions}


@FUZZING
@given(edits=edits(st.sampled_from([piece.encode() for piece in PIECES]) | st.binary(max_size=3) | st.just(b"")))
def test_garbled_text(folder, edits):
    program_or_words(folder, garbled(TEXT.encode(), edits))


@FUZZING
@given(length=st.integers(0, len(TEXT)))
def test_text_that_was_cut_off(folder, length):
    program_or_words(folder, TEXT[:length].encode())


@FUZZING
@given(edits=edits(st.binary(max_size=8)))
def test_garbled_bytecode(folder, edits):
    program_or_words(folder, garbled(stablehlo_extension.serialize_portable_artifact_str(TEXT, "1.0.0"), edits))


@FUZZING
@given(content=st.binary(max_size=200))
@example(content=b"ML\xefR")
@example(content=b"ML\xefR\x0dStableHLO_v1.0.0\x00" + bytes(100))
@example(content=b"\x80\x04\x95pickle")
@example(content=b"PK\x03\x04" + bytes(100))
@example(content=b"module {" * 1000)
@example(content=b"module {" * 100_000)
@example(content=b"module { func.func @main(%x: " + b"tuple<" * 100_000)
@example(content=b"module attributes {a = " + b"[" * 100_000)
@example(content=b"module {} loc(" + b"callsite(" * 100_000)
@example(content=b")" * 100_000 + b"module attributes {a = " + b"{a=" * 100_000)
@example(content=TEXT.replace("2x3x", "2x" * 1000).encode())
@example(content=TEXT.replace("2x3", "999999999x999999999").encode())
def test_anything(folder, content):
    program_or_words(folder, content)
