"""The names of all input features, in the order of their columns.

A trained model keeps the feature set that it was trained on and refuses any other, unless the other one only has more
features of the tile. Sizes enter as log2(1 + size), ratios as log2(ratio), shares and flags as they are.
"""

from collections.abc import Iterable

from lib.program.kernels import KERNEL_CLASSES, LOOPS
from lib.program.op_form import FORMS
from lib.program.op_kinds import OP_CLASSES, op_kind_table
from schemas.model_artifact import FeatureSet

VERSION = 3
"""Raised whenever the meaning of a feature changes under the same name."""

WORK_CLASSES = tuple(name for name in OP_CLASSES if name not in ("free", "matrix"))
"""Op classes that run on the vector unit or move data."""

NODE_FEATURES = (
    *(f"extent_{loop}" for loop in LOOPS),
    "elements",
    "iterations",
    "element_bytes",
    *(f"op_class_{name}" for name in OP_CLASSES),
    "is_input",
    "is_weight",
    "is_hero",
    "is_root",
    "stride_h",
    "stride_w",
    "producers",
    "consumers",
    "lane_fill",
    "sublane_fill",
)
"""Columns of a node, known without a tile. Beside them stands the number of the op kind, embedded."""

KERNEL_FEATURES = (
    "matrix_flops",
    *(f"{name}_ops" for name in WORK_CLASSES),
    "input_bytes",
    "weight_bytes",
    "output_bytes",
    "operands",
    "ops",
    "edges",
    *(f"class_{name}" for name in KERNEL_CLASSES),
    *(f"loop_{loop}" for loop in LOOPS),
    *(f"reduces_{loop}" for loop in LOOPS),
    "window_kernel_h",
    "window_kernel_w",
    "base_dilation_h",
    "base_dilation_w",
)
"""Columns of a kernel, known without a tile."""

NODE_LAYOUT_FEATURES = ("minor_extent", "lies_like_root", "minor_reduced", *(f"form_{name}" for name in FORMS))
"""Columns of a node that say how it lies in memory and in which form a matrix op is written."""

KERNEL_LAYOUT_FEATURES = (
    "output_minor_extent",
    "output_element_bytes",
    "turned_bytes",
    "minor_reduced",
    *(f"form_{name}" for name in FORMS),
)
"""The same of a kernel: of its output, of operands that lie otherwise than the output, and of its hero."""

HARDWARE_FEATURES = (
    "clock_hz",
    "cores",
    "pes",
    "pes_x",
    "pes_y",
    "systolic_rows",
    "systolic_columns",
    "vector_lanes",
    "l1_bytes",
    "l1_input_bytes",
    "l1_weight_bytes",
    "l1_output_bytes",
    "l1_shared",
    "l2_kind",
    "l2_multiplier",
    "l2_input_multiplier",
    "l2_weight_multiplier",
    "l2_output_multiplier",
    "global_buffer_bytes",
    "dram_kind",
    "dram_channels",
    "dram_bytes_per_s",
    "element_bytes",
    "depthwise_mapping",
    "vector_path",
    "array_efficiency",
    "register_sublanes",
    "register_lanes",
    "native_batch",
    "peak_flops_per_s",
    "peak_vector_ops_per_s",
    "flops_per_dram_byte",
)
"""Columns of the hardware variant, joined to those of the kernel."""

TILE_FEATURES = (
    *(f"tile_{loop}" for loop in LOOPS),
    *(f"trips_{loop}" for loop in LOOPS),
    *(f"edge_waste_{loop}" for loop in LOOPS),
    "steps",
    "edge_waste",
    "input_tile_bytes",
    "weight_tile_bytes",
    "output_tile_bytes",
    "buffer_fill",
    "moved_input_bytes",
    "moved_weight_bytes",
    "moved_output_bytes",
    "moved_over_whole",
    "array_fill_rows",
    "array_fill_columns",
    *(f"padded_{name}_ops" for name in WORK_CLASSES),
    "array_fill_contraction",
    "array_passes",
    "array_stream",
    "array_use_by_pixels",
    "array_use_by_channels",
    "array_use_by_contraction",
    "input_runs",
    "weight_runs",
    "output_runs",
    "input_run_bytes",
    "weight_run_bytes",
    "output_run_bytes",
    "input_covered",
    "weight_covered",
    "output_covered",
    "runs",
    "covered",
    "turned_ops",
)
"""Columns of a row: the tile itself and what it means for the whole kernel. New ones come at the end, so that older
models find theirs in the first columns."""

RAW_TILE_FEATURES = (*(f"tile_{loop}" for loop in LOOPS), "tile_sum", "tile_product")
"""Columns of a tile as the paper gives it to the model: its extents, their sum and their product."""

NODE_TILE_FEATURES = (
    *(f"tile_extent_{loop}" for loop in LOOPS),
    "tile_elements",
    "tile_padded_elements",
    "tile_lane_fill",
    "tile_sublane_fill",
    "distinct_tiles",
    "loads",
    "moved_bytes",
    "run_bytes",
)
"""Columns of a node under a tile: the tile projected on every node."""


class FeatureSetError(ValueError):
    """A model meets features that it wasn't trained on."""


def feature_set(analytical_parts: Iterable[str]) -> FeatureSet:
    """Today's feature set with the given analytical parts (column names, `analytical_s` first)."""
    return FeatureSet(
        version=VERSION,
        op_kinds=tuple(name for name, _ in op_kind_table()),
        node=NODE_FEATURES,
        kernel=KERNEL_FEATURES + HARDWARE_FEATURES,
        tile=TILE_FEATURES,
        raw_tile=RAW_TILE_FEATURES,
        node_tile=NODE_TILE_FEATURES,
        analytical=tuple(analytical_parts),
        node_layout=NODE_LAYOUT_FEATURES,
        kernel_layout=KERNEL_LAYOUT_FEATURES,
    )


def check_feature_set(trained: FeatureSet, offered: FeatureSet) -> None:
    """Raises FeatureSetError, naming what differs, unless both are the same, or the offered one has more features of
    the tile after those of training, which the model leaves aside."""
    known = offered.model_copy(update={"tile": offered.tile[: len(trained.tile)]})
    if trained == known:
        return
    differences = []
    if trained.version != offered.version:
        differences.append(f"version: trained on {trained.version}, offered {offered.version}")
    for group in [name for name in FeatureSet.model_fields if name != "version"]:
        before, now = getattr(trained, group), getattr(offered, group)
        if before != now:
            missing = [name for name in before if name not in now]
            new = [name for name in now if name not in before]
            differences.append(
                f"{group}: missing {missing}, new {new}" if missing or new else f"{group}: another order"
            )
    raise FeatureSetError(
        "this model was trained on another feature set (" + "; ".join(differences) + "); train it again"
    )
