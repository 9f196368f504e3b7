"""A datapath: FAST's architecture template with clock, cores, DRAM kind and number format."""

from typing import NamedTuple


class Datapath(NamedTuple):
    """One core's share of the chip, as plain numbers that compiled code reads.

    Cores are independent accelerators that share DRAM bandwidth evenly, so everything below but
    `cores` describes one core. Made from the study's `datapath:` by :func:`datapath_from_spec`.
    """

    clock_hz: float
    cores: int
    pes_x: int
    pes_y: int
    systolic_rows: int
    systolic_columns: int
    vector_lanes: int
    """Lanes of one PE's vector unit (FAST table 3: multiplier x systolic columns)."""
    l1_shared: bool
    l1_input_bytes: int
    l1_weight_bytes: int
    l1_output_bytes: int
    l2_kind: int
    """0 disabled, 1 private, 2 shared."""
    l2_input_multiplier: int
    l2_weight_multiplier: int
    l2_output_multiplier: int
    global_buffer_bytes: int
    """0: there is none."""
    dram_kind: int
    """0 GDDR6, 1 HBM2."""
    dram_channels: int
    dram_bytes_per_s: float
    """This core's share."""
    element_bytes: int
    """Of the number format: bfloat16 2, int8 1, float32 4."""
    register_sublanes: int
    """Rows of the register tile at four bytes an element (TPU: 8)."""
    register_lanes: int
    """Columns of the register tile (TPU: 128)."""
    native_batch: int
    """Samples that the chip works on at once, per core."""
