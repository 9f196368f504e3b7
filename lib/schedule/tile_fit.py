"""Whether a tile fits on chip, double-buffered and in registers' layout."""

from typing import NamedTuple

import numpy as np
from numba import njit

from lib.hardware.datapath import double_buffered_bytes
from lib.program.kernels import INPUT, OUTPUT
from lib.schedule.footprint import padded_tile_bytes


class TileLimits(NamedTuple):
    """What one set of tiles may take, and the register tile that pads it."""

    whole_bytes: int
    input_bytes: int
    weight_bytes: int
    output_bytes: int
    register_sublanes: int
    register_lanes: int


@njit(cache=True)
def tile_limits(datapath) -> TileLimits:
    """Limits on a datapath: half of each on-chip capacity, as the next set of tiles loads meanwhile."""
    whole, inputs, weights, outputs = double_buffered_bytes(datapath)
    return TileLimits(whole, inputs, weights, outputs, datapath.register_sublanes, datapath.register_lanes)


@njit(cache=True)
def tile_bytes(kernels, k, tile, register_sublanes, register_lanes) -> tuple[int, int, int]:
    """Padded bytes of one set of tiles of kernel `k`: (inputs, weights, output).

    `kernels`: see :func:`lib.schedule.candidates.compiled_view`; `tile`: int[8].
    """
    inputs = weights = outputs = np.int64(0)
    for operand in range(kernels.operand_offset[k], kernels.operand_offset[k + 1]):
        size = padded_tile_bytes(
            kernels.operand_stride[operand], kernels.operand_order[operand], kernels.loop_kind[k],
            kernels.base_dilation[k], tile, kernels.operand_elements[operand],
            kernels.operand_element_bytes[operand], register_sublanes, register_lanes,
        )  # fmt: skip
        role = kernels.operand_role[operand]
        if role == OUTPUT:
            outputs += size
        elif role == INPUT:
            inputs += size
        else:
            weights += size
    return inputs, weights, outputs


@njit(cache=True)
def tile_fits(kernels, k, tile, limits) -> bool:
    """Whether one set of tiles of kernel `k` lies within `limits` (a :class:`TileLimits`)."""
    inputs, weights, outputs = tile_bytes(kernels, k, tile, limits.register_sublanes, limits.register_lanes)
    return (
        inputs + weights + outputs <= limits.whole_bytes
        and inputs <= limits.input_bytes
        and weights <= limits.weight_bytes
        and outputs <= limits.output_bytes
    )
