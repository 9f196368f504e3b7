"""The convolutions of ResNet-50 (He et al., CVPR 2016, table 1) that the peers are run on, each distinct shape once."""

from typing import NamedTuple

from lib.program.kernel_builder import KernelRow, KernelsBuilder, OperandRow, OpRow
from lib.program.kernels import ABSENT, INPUT, KERNEL_CLASSES, OUTPUT, PARALLEL, REDUCTION, WEIGHT, WINDOW, Kernels


class Layer(NamedTuple):
    """A convolution of one sample, square in image and filter; sizes without padding are of the output."""

    name: str
    """As in `schemas/presets/scalesim_layers.csv`."""
    out_height: int
    out_width: int
    in_channels: int
    out_channels: int
    kernel: int
    stride: int

    @property
    def products(self) -> tuple[int, int, int]:
        """(M, N, K) as a product of matrices: output pixels, output channels, filter window x input channels."""
        return self.out_height * self.out_width, self.out_channels, self.kernel**2 * self.in_channels


LAYERS = (
    Layer("r50_conv1_7x7s2", 112, 112, 3, 64, 7, 2),
    Layer("r50_c2_1x1_64_64", 56, 56, 64, 64, 1, 1),
    Layer("r50_c2_3x3_64_64", 56, 56, 64, 64, 3, 1),
    Layer("r50_c2_1x1_64_256", 56, 56, 64, 256, 1, 1),
    Layer("r50_c2_1x1_256_64", 56, 56, 256, 64, 1, 1),
    Layer("r50_c3_1x1s2_256_512", 28, 28, 256, 512, 1, 2),
    Layer("r50_c3_3x3_128_128", 28, 28, 128, 128, 3, 1),
    Layer("r50_c4_3x3_256_256", 14, 14, 256, 256, 3, 1),
    Layer("r50_c4_1x1_1024_256", 14, 14, 1024, 256, 1, 1),
    Layer("r50_c5_3x3_512_512", 7, 7, 512, 512, 3, 1),
    Layer("r50_c5_1x1_512_2048", 7, 7, 512, 2048, 1, 1),
)


def convolution(layer: Layer) -> Kernels:
    """The layer as a kernel of one convolution: NHWC, one byte an element."""
    height, width, stride, kernel = layer.out_height, layer.out_width, layer.stride, layer.kernel
    outputs = height * width * layer.out_channels
    inputs = ((height - 1) * stride + kernel) * ((width - 1) * stride + kernel) * layer.in_channels
    weights = kernel**2 * layer.in_channels * layer.out_channels
    out = (1, 1, 1, 1, 0, 0, 0, 0)
    window = WINDOW if kernel > 1 else ABSENT
    taps = 1 if kernel > 1 else 0
    builder = KernelsBuilder()
    builder.add(
        KernelRow(
            kernel_class=KERNEL_CLASSES.index("convolution"),
            loops=(1, height, width, layer.out_channels, layer.in_channels, kernel, kernel, 1),
            loop_kind=(ABSENT, PARALLEL, PARALLEL, PARALLEL, REDUCTION, window, window, ABSENT),
            hero=0,
            operands=[
                OperandRow(INPUT, (1, stride, stride, 0, 1, taps, taps, 0), (4, 2, 1, 0), inputs, 1),
                OperandRow(WEIGHT, (0, 0, 0, 1, 1, taps, taps, 0), (3, 4, 6, 5) if taps else (3, 4), weights, 1),
                OperandRow(OUTPUT, out, (3, 2, 1, 0), outputs, 1),
            ],
            ops=[OpRow("convolution", (1, 1, 1, 1, 1, taps, taps, 0), outputs, 1, (0, 1))],
        )
    )
    return builder.build()
