"""Kernels of single layers by hand."""

from lib.program.kernel_builder import KernelsBuilder
from lib.program.kernel_work import kernel_work
from lib.program.layers import convolution_layer, product_layer


def test_work_of_layers_by_hand():
    builder = KernelsBuilder()
    builder.add(convolution_layer(1, 112, 112, 64, 3, 7, 7, stride=2, element_bytes=1))
    builder.add(product_layer(100, 200, 300, element_bytes=1))
    work = kernel_work(builder.build())
    # ResNet-50's first layer has 118,013,952 multiply-accumulates and, with its padding, 229 x 229 x 3 inputs.
    assert work.flops.tolist() == [2 * 118_013_952, 2 * 100 * 200 * 300]
    assert work.bytes_read.tolist() == [229 * 229 * 3 + 7 * 7 * 3 * 64, 100 * 300 + 300 * 200]
    assert work.bytes_written.tolist() == [112 * 112 * 64, 100 * 200]
