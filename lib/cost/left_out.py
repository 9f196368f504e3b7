"""What the analytical model leaves out, in words: the same list in its documentation and on the report's page."""

LEFT_OUT = {
    "partial tiles at the edges": "every tile counts in full: 1000 in tiles of 384 counts as 1152",
    "launch of a kernel": "none, so short kernels look several times too fast",
    "latency and efficiency of transfers": "peak bandwidth from the first byte on",
    "how arrays lie in DRAM": "many short runs, or parts of register tiles, cost what their bytes cost",
    "fill and drain of the array": "one long pass equals several short ones",
    "mesh between global buffer and PEs": "operands are at the PEs as fast as the array takes them",
    "PEs that cannot be fed evenly": "work divides without remainder",
    "L1 too small for the array's weights": "full array",
    "partial sums and inputs that do not fit beside the array": "they stay there",
    "loads, stores and cross-lane work of the vector unit": "only arithmetic counts",
    "values alive at once, spilling, layout changes between ops": "the ops of a kernel are a sum",
    "ops before the matrix op that are made anew in every step": "they run when their tile is new",
}
"""Effect to what the analytical model assumes instead."""
