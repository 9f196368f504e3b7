"""What a program can't hold is refused with workload, instruction, reason and remedy."""

from typing import Any

import numpy as np
import pytest

from lib.frontends import trace
from lib.frontends.errors import FrontendError
from lib.frontends.hlo_module import program_of
from lib.fusion.default_kernels import default_kernels
from lib.program.dataflow import UnsupportedInstruction
from lib.program.program import DotDimensions, Program
from tests.lib.frontends.hlo_examples import Module
from tests.lib.program.program_examples import Writer

SQUARE = DotDimensions(left_contracting=(1,), right_contracting=(0,))
UNBOUNDED = np.iinfo(np.int64).min
"""How HLO writes an extent of which nothing is known (Shape::kUnboundedSize)."""


def program(fill) -> Program:
    module = Module()
    module.start()
    fill(module)
    return program_of(module.proto, "example", 2, inputs=1)


def shape_of(module: Module) -> Any:
    return module.computation.instructions[-1].shape


def unknown(module: Module) -> None:
    module.add("fft", (4,), module.parameter(0, 4))


def misspelt(module: Module) -> None:
    module.add("logistics", (4,), module.parameter(0, 4))


def custom_call(module: Module) -> None:
    module.add("custom-call", (4,), module.parameter(0, 4), custom_call_target="cublas$gemm")


def custom_call_of_several_results(module: Module) -> None:
    both = module.tuple("custom-call", [(4,), (4,)], module.parameter(0, 4), custom_call_target="lapack_ssyevd")
    module.add("get-tuple-element", (4,), both, tuple_index=1)


def complex_numbers(module: Module) -> None:
    module.add("negate", (4,), module.parameter(0, 4, dtype="c64"), dtype="c64")


def tiny_floats(module: Module) -> None:
    module.add("negate", (4,), module.parameter(0, 4, dtype="f8e5m2"), dtype="f8e5m2")


def empty(module: Module) -> None:
    module.add("negate", (0, 4), module.parameter(0, 0, 4))


def bounded(module: Module) -> None:
    module.parameter(0, 4, 8)
    shape_of(module).is_dynamic_dimension[0] = True


def unbounded(module: Module) -> None:
    module.parameter(0, 4, 8)
    shape_of(module).dimensions[1] = UNBOUNDED
    shape_of(module).is_dynamic_dimension[1] = True


def resized(module: Module) -> None:
    x = module.parameter(0, 4)
    module.add("set-dimension-size", (4,), x, module.parameter(1, dtype="s32"), dimensions=[0])


def enormous(module: Module) -> None:
    module.parameter(0, 2**31, 2**31)


def nothing_applied(module: Module) -> None:
    body = module.start()
    module.parameter(0)
    module.start()
    module.add(
        "reduce", (), module.parameter(0, 4), module.constant(0.0), dimensions=[0], called_computation_ids=[body]
    )


@pytest.mark.parametrize(
    ("fill", "message"),
    [
        (unknown, r"workload 'example': HLO instruction 'fft' \(fft\): the op kind 'fft' is not supported; write the"),
        (misspelt, r"'logistics' \(did you mean 'logistic'\?\) is not supported.*supported: abs, add,"),
        (custom_call, r"'custom-call' \(custom-call\): a custom-call of 'cublas\$gemm'.*write the model without it"),
        (custom_call_of_several_results, r"a custom-call of 'lapack_ssyevd'"),
        (complex_numbers, r"'parameter.1'.*complex numbers \(element type 'c64'\).*two real tensors"),
        (tiny_floats, r"'parameter.1'.*element type 'f8e5m2' is not supported; use one of pred, s8"),
        (empty, r"HLO instruction 'parameter 0'.*no elements \(shape \[0, 4\]\).*at least 1"),
        (bounded, r"'parameter.1'.*its shape \[<=4, 8\] is dynamic \(only the largest.*pad to the largest"),
        (unbounded, r"'parameter.1'.*its shape \[4, \?\] is dynamic without a bound.*an input_shape"),
        (resized, r"\(set-dimension-size\): the size of an array would be known only while the program runs"),
        (enormous, r"its 18446744073709551616 bytes \(shape \[2147483648, 2147483648\]\) are more than a 64-bit"),
        (nothing_applied, r"a reduce that applies nothing is not supported"),
    ],
)
def test_instructions(fill, message):
    with pytest.raises(FrontendError, match=message):
        program(fill)


def dead_custom_call(module: Module) -> None:
    custom_call(module)
    module.add("negate", (4,), 1)


def dead_empty_tensor(module: Module) -> None:
    x = module.parameter(0, 4)
    module.add("slice", (0,), x)
    module.add("negate", (4,), x)


def size_kept(module: Module) -> None:
    x = module.parameter(0, 4)
    kept = module.add("set-dimension-size", (4,), x, module.integer(4), dimensions=[0])
    module.add("negate", (4,), kept)


@pytest.mark.parametrize("fill", [dead_custom_call, dead_empty_tensor, size_kept])
def test_what_no_output_needs_does_not_matter(fill):
    assert [one.opcode for one in program(fill).instructions] == ["parameter", "negate"]


@pytest.mark.parametrize("content", [b"", b"not a module", bytes(range(256))])
def test_a_file_that_is_no_hlo_module(tmp_path, content):
    (tmp_path / "model.pb").write_bytes(content)
    spec = {"id": "model", "source": {"kind": "hlo", "name": "model.pb"}, "batch": 1, "trip_count": None}
    with pytest.raises(FrontendError, match=r"workload 'model': .*model.pb does not hold an HLO module.*writes one"):
        trace(spec, tmp_path)


@pytest.mark.parametrize(
    ("extents", "message"),
    [
        (
            (2**32, 2),
            r"program 'example', kernel 'tanh-1': instruction 'tanh-1'.* a loop of 4294967296 steps.*2147483647",
        ),
        ((2**30, 2**30, 4), r"its 18446744073709551616 bytes are more than a 64-bit integer counts; give the workload"),
    ],
)
def test_sizes_that_arrays_of_kernels_do_not_hold(extents, message):
    w = Writer()
    found = w.program(w.add("tanh", extents, w.input(*extents)))
    with pytest.raises(UnsupportedInstruction, match=message):
        default_kernels(found)


def test_more_operations_than_an_integer_counts():
    w = Writer()
    found = w.program(w.add("dot", (2**22, 2**22), w.input(2**22, 2**22), w.weight(2**22, 2**22), dot=SQUARE))
    with pytest.raises(UnsupportedInstruction, match=r"kernel 'dot-2'.*its 147573952589676412928 operations are more"):
        default_kernels(found)
