"""Channels, kinds and cores that share DRAM, by hand."""

import pytest

from tests.kernel_examples import elementwise
from tests.lib.cost.random_kernels import EDGE, TPU_V3
from tests.lib.cost.test_simulator import SIMPLE, price

GDDR6 = EDGE._replace(
    cores=1, dram_kind=0, dram_channels=8, dram_bytes_per_s=448e9, global_buffer_bytes=1 << 40
)  # fmt: skip
HBM2 = TPU_V3._replace(cores=1, dram_kind=1, dram_channels=16, dram_bytes_per_s=900e9)
BURSTS = SIMPLE._replace(burst_bytes=32.0, channel_interleave_bytes=256.0)


def store_s(datapath, channels: int, constants=BURSTS) -> float:
    """Seconds to store one row of `channels` bfloat16."""
    _, parts, _ = price(elementwise(1, 1, 1, channels), (1, 1, 1, channels, 1, 1, 1, 1), datapath, constants)
    return parts["store_s"]


@pytest.mark.parametrize(("datapath", "channel_bytes_per_s"), [(GDDR6, 56e9), (HBM2, 56.25e9)], ids=["gddr6", "hbm2"])
def test_a_transfer_uses_as_many_channels_as_it_has_pieces(datapath, channel_bytes_per_s):
    # Pieces of 256 bytes lie in one channel: 128 and 256 bytes take what one channel takes; 64 KiB all of them.
    narrow = datapath._replace(register_lanes=1 << 20)  # row-major
    assert store_s(narrow, 64) == pytest.approx(128 / channel_bytes_per_s)
    assert store_s(narrow, 128) == pytest.approx(256 / channel_bytes_per_s)
    assert store_s(narrow, 1 << 15) == pytest.approx((1 << 16) / datapath.dram_bytes_per_s)


@pytest.mark.parametrize("datapath", [GDDR6, HBM2], ids=["gddr6", "hbm2"])
def test_runs_are_rounded_to_bursts_of_32_bytes(datapath):
    narrow = datapath._replace(register_lanes=1 << 20, dram_channels=1)
    assert store_s(narrow, 1001) == pytest.approx(63 * 32 / datapath.dram_bytes_per_s)


@pytest.mark.parametrize("cores", [1, 2, 4])
def test_cores_share_the_bandwidth_but_not_the_channels(cores):
    """A core has its share of the bandwidth; what lies in one channel is read at that channel's whole rate."""
    core = HBM2._replace(cores=cores, dram_bytes_per_s=900e9 / cores, register_lanes=1 << 20)
    assert store_s(core, 1 << 15) == pytest.approx((1 << 16) * cores / 900e9)
    assert store_s(core, 64) == pytest.approx(128 / 56.25e9)
