"""The convolutions of ResNet-50 (He et al., CVPR 2016, table 1) that the peers are run on, each distinct shape once."""

from typing import NamedTuple

from lib.program.kernel_builder import KernelsBuilder
from lib.program.kernels import Kernels
from lib.program.layers import convolution_layer


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
    """The layer as a kernel of one convolution, one byte an element."""
    builder = KernelsBuilder()
    builder.add(
        convolution_layer(
            1, layer.out_height, layer.out_width, layer.out_channels, layer.in_channels, layer.kernel, layer.kernel,
            stride=layer.stride, element_bytes=1,
        )
    )  # fmt: skip
    return builder.build()
