"""Modules of matrix ops compiled and run by IREE: results are numpy's, tiles reach the compiler."""

import numpy as np
import pytest

from lib.targets.iree_module import tile_module
from lib.targets.iree_tiles import own_tile, tile_candidates
from tests.lib.targets import matrix_ops

pytest.importorskip("iree.compiler", reason="iree-base-compiler is not installed (requirements-devices.lock)")
device = pytest.importorskip("lib.targets.iree_device", reason="iree-base-runtime is not installed")

OPS = {
    "dot": matrix_ops.dot(),
    "dot of one row": matrix_ops.dot(rows=1),
    "dot of one column": matrix_ops.dot(columns=1),
    "dot of one number": matrix_ops.dot(rows=1, columns=1),
    "batched dot": matrix_ops.attention(),
    "batched dot of one head": matrix_ops.attention(heads=1),
    "convolution": matrix_ops.convolution(),
    "strided convolution": matrix_ops.convolution(stride=2),
    "dilated convolution": matrix_ops.convolution(dilation=2),
    "convolution with channels first": matrix_ops.convolution(numbers="NCHW"),
    "convolution with turned weights": matrix_ops.convolution(numbers="HWC_OUT"),
    "pointwise convolution": matrix_ops.pointwise(),
    "strided pointwise convolution": matrix_ops.pointwise(stride=2),
    "depthwise convolution": matrix_ops.depthwise(),
    "grouped convolution": matrix_ops.grouped(),
    "transposed convolution": matrix_ops.transposed(),
    "gradient of weights": matrix_ops.weight_gradient(),
    "gradient of depthwise weights": matrix_ops.depthwise_weight_gradient(),
}


@pytest.mark.parametrize("name", OPS)
def test_results_are_those_of_numpy_with_a_tile_and_without(name):
    program, index = OPS[name]
    generator = np.random.default_rng(1)
    operands = [
        generator.standard_normal(program.instructions[operand].dimensions).astype(np.float32)
        for operand in program.instructions[index].operands
    ]
    truth = matrix_ops.expected(program, index, *operands)
    _, inputs = matrix_ops.given(program, index, *operands)
    for tile in (None, *tile_candidates(program, index, 1, seed=0)):
        found = device.outputs(tile_module(program, index, tile).text, *inputs)
        np.testing.assert_allclose(found.reshape(truth.shape), truth, rtol=1e-4, atol=1e-4)


def test_the_compiler_takes_the_sizes_of_the_tile():
    # `load` and `outputs` refuse a tile that isn't there, so this holds for all ops above.
    program, index = matrix_ops.convolution()
    text = tile_module(program, index, (1, 2, 4, 32, 8, 1, 3, 1)).text
    assert "distribution = [1, 2, 4, 32, 0, 0, 0], vector_common_parallel = [1, 1, 4, 32, 0, 0, 0]" in text
    assert text.split("lowering_config<")[1].split(">")[0] == device._sizes_of_op(text, device._compile(text)[1])


def test_the_compilers_own_tile_is_read_from_what_it_compiled():
    # What IREE 3.13 was seen to pick for AVX-512: 64 x 64 x 16 for a product of 512 x 512 x 512.
    program, index = matrix_ops.dot(512, 512, 512)
    tile = own_tile(program, index)
    assert tile[[1, 2, 5, 6, 7]].tolist() == [1, 1, 1, 1, 1]
    assert all(512 % extent == 0 and extent > 1 for extent in tile[[0, 3, 4]])


def test_the_compilers_own_tile_of_a_strided_pointwise_convolution_is_known():
    # IREE makes a matrix product of the pixels that are read; written with its stride it was 'rewritten'.
    tile = own_tile(*matrix_ops.pointwise(stride=2))
    assert (tile <= [2, 3, 4, 32, 16, 1, 1, 1]).all()


def test_an_untold_tile_and_a_told_one_are_other_code():
    program, index = matrix_ops.convolution()
    tiles = tile_candidates(program, index, 3, seed=0)
    assert len({device._compiled(tile_module(program, index, tile).text) for tile in tiles}) == 3


def test_what_is_loaded_runs_as_often_as_asked(monkeypatch):
    program, index = matrix_ops.dot()
    run = device.load(tile_module(program, index, None).text, "cpu", 1)
    calls = []
    monkeypatch.setattr(type(run.__self__), "_run", lambda self: calls.append(self))
    run(3)
    assert len(calls) == 3


def test_compilers_errors_are_one_line():
    with pytest.raises(device.IreeError, match=r"^IREE can't compile it: custom op 'linalg.full' is unknown$"):
        device.load(tile_module(*matrix_ops.dot(), None).text.replace("linalg.fill", "linalg.full"))


def test_a_tile_of_loops_that_the_compiler_reorders_is_an_error():
    # With channels first IREE runs over in_c before the window, and would take its sizes for theirs.
    program, index = matrix_ops.convolution(numbers="NCHW")
    text = tile_module(program, index, (1, 8, 8, 16, 4, 1, 1, 1)).text
    turned = text.replace("(d0, d4, d2 + d5, d3 + d6)", "(d0, d6, d2 + d4, d3 + d5)")
    turned = turned.replace("(d1, d4, d5, d6)", "(d1, d6, d4, d5)")
    assert turned != text
    with pytest.raises(device.IreeError, match="its tile is lost or means other loops"):
        device.load(turned)


def test_a_tile_that_the_compiler_would_lose_is_an_error():
    # Without its batch of one IREE writes the convolution anew, and forgets the tile.
    program, index = matrix_ops.convolution()
    text = tile_module(program, index, (2, 4, 8, 32, 16, 1, 1, 1)).text
    lost = text.replace("d0, d1, d2, d3, d4, d5, d6", "d1, d2, d3, d4, d5, d6").replace("(d0, ", "(")
    lost = lost.replace('["parallel", ', "[", 1).replace("2x10x10x16", "10x10x16").replace("2x8x8x32", "8x8x32")
    for level in ("distribution = [2, ", "vector_common_parallel = [1, ", "vector_reduction = [0, "):
        lost = lost.replace(level, level[: level.index("[") + 1])
    with pytest.raises(device.IreeError, match=r"tile is lost|can't compile"):
        device.load(lost)


def test_the_device_says_its_cpu_and_versions():
    assert set(device.device("cpu")) == {"device", "iree-compiler", "iree-runtime"}
    with pytest.raises(device.IreeError, match="platform: gpu"):
        device.device("gpu")
