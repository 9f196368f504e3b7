"""FAST's table 3, written out."""

from lib.search.space import Space, space_from_spec


def powers(first: int, last: int) -> list[int]:
    """first, 2 first, 4 first, ..., last."""
    values = [first]
    while values[-1] < last:
        values.append(2 * values[-1])
    return values


TABLE_3 = {
    "pes_x": powers(1, 256),
    "pes_y": powers(1, 256),
    "systolic_rows": powers(1, 256),
    "systolic_columns": powers(1, 256),
    "vector_multiplier": powers(1, 16),
    "l1_config": ["private", "shared"],
    "l1_input_bytes": powers(1024, 2**20),
    "l1_weight_bytes": powers(1024, 2**20),
    "l1_output_bytes": powers(1024, 2**20),
    "l2_config": ["disabled", "private", "shared"],
    "l2_input_multiplier": powers(1, 128),
    "l2_weight_multiplier": powers(1, 128),
    "l2_output_multiplier": powers(1, 128),
    "global_buffer_bytes": [0, *powers(2**20, 2**28)],
    "dram_channels": powers(1, 8),
    "native_batch": powers(1, 256),
}


def table_3() -> Space:
    """The whole space."""
    return space_from_spec(TABLE_3)
