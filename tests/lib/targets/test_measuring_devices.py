"""Measuring on the real devices, as far as their packages are installed: kernels run, what is no program is told."""

import numpy as np
import pytest

from lib.cost.cost_model import Reason
from lib.program.program import DotDimensions
from lib.targets.measuring import Measuring
from lib.targets.module import Module
from lib.targets.xla_module import kernel_module
from tests.lib.program.program_examples import Writer
from tests.lib.targets.test_measuring import QUICK

SIZE = 64


def test_xla_measures_a_dot_and_counts_its_flops():
    pytest.importorskip("jaxlib")
    w = Writer()
    dot = w.add("dot", (SIZE, SIZE), w.input(SIZE, SIZE), w.weight(SIZE, SIZE), dot=DotDimensions((1,), (0,)))
    module = kernel_module(w.program(dot), [dot])
    with Measuring("xla", QUICK._replace(timeout_s=300.0)) as measuring:
        found = measuring.measure([module, Module("xla", "no program")])
    assert found.reason.tolist() == [Reason.OK, Reason.FAILED]
    assert found.messages[1].startswith("compiler: ")
    assert 1e-7 < found.seconds[0] < 1e-2
    assert found.flops[0] == pytest.approx(2 * SIZE**3, rel=0.01)
    assert found.bytes[0] >= 3 * 4 * SIZE**2
    assert np.isnan(found.flops[1])
    assert found.device["jaxlib"]


MATMUL = """\
func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %product = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>)
    outs(%start : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %product : tensor<64x64xf32>
}
"""


def test_iree_measures_a_matrix_product():
    pytest.importorskip("iree.compiler")
    with Measuring("iree", QUICK._replace(timeout_s=300.0)) as measuring:
        found = measuring.measure([Module("iree", MATMUL), Module("iree", "no program")])
    assert found.reason.tolist() == [Reason.OK, Reason.FAILED]
    assert found.messages[1].startswith("compiler: ")
    assert 1e-7 < found.seconds[0] < 1e-2
    assert np.isnan(found.flops).all()
    assert found.device["iree-compiler"]
