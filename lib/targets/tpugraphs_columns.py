"""The arrays of TpuGraphs' tile files: opcode numbers and columns of the node features.

Source: google-research-datasets/tpu_graphs (Apache-2.0), its README and `tpu_graphs/process_data/xla/hlo_opcode.h`.
"""

OPCODES: tuple[str, ...] = (
    "unknown", "abs", "add", "add-dependency", "after-all", "all-reduce", "all-to-all", "atan2", "batch-norm-grad",
    "batch-norm-inference", "batch-norm-training", "bitcast", "bitcast-convert", "broadcast", "call", "ceil",
    "cholesky", "clamp", "collective-permute", "count-leading-zeros", "compare", "complex", "concatenate",
    "conditional", "constant", "convert", "convolution", "copy", "copy-done", "copy-start", "cosine", "custom-call",
    "divide", "domain", "dot", "dynamic-slice", "dynamic-update-slice", "exponential", "exponential-minus-one", "fft",
    "floor", "fusion", "gather", "get-dimension-size", "set-dimension-size", "get-tuple-element", "imag", "infeed",
    "iota", "is-finite", "log", "log-plus-one", "and", "not", "or", "xor", "map", "maximum", "minimum", "multiply",
    "negate", "outfeed", "pad", "parameter", "partition-id", "popcnt", "power", "real", "recv", "recv-done", "reduce",
    "reduce-precision", "reduce-window", "remainder", "replica-id", "reshape", "reverse", "rng",
    "rng-get-and-update-state", "rng-bit-generator", "round-nearest-afz", "rsqrt", "scatter", "select",
    "select-and-scatter", "send", "send-done", "shift-left", "shift-right-arithmetic", "shift-right-logical", "sign",
    "sine", "slice", "sort", "sqrt", "subtract", "tanh", "trace", "transpose", "triangular-solve", "tuple",
    "tuple-select", "while", "cbrt", "all-gather", "collective-permute-start", "collective-permute-done", "logistic",
    "dynamic-reshape", "all-reduce-start", "all-reduce-done", "reduce-scatter", "all-gather-start", "all-gather-done",
    "opt-barrier", "async-start", "async-update", "async-done", "round-nearest-even", "stochastic-convert", "tan",
)  # fmt: skip
"""Opcode by its number."""

TYPES = (
    "invalid", "pred", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64", "f16", "f32", "f64", "bf16", "c64", "c128",
    "tuple", "opaque", "token",
)  # fmt: skip
"""Element type by its place in the columns from TYPE on."""

COLUMNS = 140
LONGEST_LIST = 6
"""Entries of a list (shape, window, ...) that have a column; sum and product of the whole list follow."""
ROOT, TYPE, SHAPE, SHAPE_PRODUCT, PARAMETER_NUMBER, DIMENSIONS = 0, 2, 21, 28, 30, 31
"""First columns: result of its computation (0 or 1), type, extents, their product, number of a parameter,
HLO's `dimensions`."""
WINDOW_SIZE, WINDOW_STRIDE, WINDOW_LOW, WINDOW_HIGH, WINDOW_DILATION, BASE_DILATION, REVERSAL = range(37, 93, 8)
INPUT_BATCH, INPUT_FEATURE, INPUT_SPATIAL = 93, 94, 95
KERNEL_INPUT_FEATURE, KERNEL_OUTPUT_FEATURE, KERNEL_SPATIAL = 99, 100, 101
OUTPUT_BATCH, OUTPUT_FEATURE, FEATURE_GROUPS, BATCH_GROUPS = 105, 106, 107, 108
LONGEST_SPATIAL = 4
SLICE_START, SLICE_STRIDE, SLICE_LIMIT = 109, 113, 117
SLICE_STRIDE_PRODUCT = 116
PADDING_LOW, PADDING_HIGH = 125, 129
LONGEST_SLICE = 2
"""Dimensions of which a slice's or pad's numbers have a column."""
LAYOUT = 134
"""Dimensions from minor to major."""

CONFIG_COLUMNS = 24
KERNEL_BOUNDS, OUTPUT_BOUNDS, INPUT_BOUNDS = 0, 8, 16
