"""The artifact of the rule `program`: a simplified tensor program for every batch.

`lib.program.program_table` makes the arrays of a Program and the Program of the arrays.
"""

from typing import Any, ClassVar

import numpy as np

from schemas.artifact import Artifact
from schemas.artifact_files import Array, ArraysSpec, FileSpec

SIZES = (
    "dimensions", "slice_start", "slice_limit", "slice_stride", "padding_low", "padding_high", "padding_interior",
    "window_size", "window_stride", "window_padding_low", "window_padding_high", "window_window_dilation",
    "window_base_dilation", "convolution_feature_groups", "convolution_batch_groups",
)  # fmt: skip
"""Columns of integers that may change with the batch."""
PLAIN = (
    "operands", "layout", "axes", "window_reversal", "convolution_input_batch", "convolution_input_feature",
    "convolution_input_spatial", "convolution_kernel_input_feature", "convolution_kernel_output_feature",
    "convolution_kernel_spatial", "convolution_output_batch", "convolution_output_feature",
    "convolution_output_spatial", "dot_left_contracting", "dot_right_contracting", "dot_left_batch", "dot_right_batch",
    "indexing_window", "indexing_collapsed", "indexing_indexed", "indexing_table_batch", "indexing_indices_batch",
    "indexing_vector", "body_ops", "executions",
)  # fmt: skip
"""Other columns of integers."""
PARTS = ("window", "convolution", "dot", "indexing", "value")
"""What an instruction may lack."""


def program_arrays() -> dict[str, Array]:
    """All arrays of `program.npz`; n instructions."""
    arrays = {
        "workload": Array("uint8", ("w",)),
        "batch": Array("int64", (1,), minimum=1),
        "outputs": Array("int32", ("u",), minimum=0),
        "carried": Array("int32", ("t",), minimum=0),
        "has_slopes": Array("uint8", (1,)),
        "name": Array("uint8", ("c",)),
        "name_offset": Array("int64", ("n+1",), offsets=True),
        "opcode": Array("S32", ("n",)),
        "dtype": Array("S8", ("n",)),
        "role": Array("S8", ("n",)),
        "reducer": Array("S32", ("n",)),
        "comparison": Array("S8", ("n",)),
        "value_bits": Array("int64", ("v",)),
        "value_slope": Array("float64", ("value_slope",)),
        "value_offset": Array("int64", ("n+1",), offsets=True),
    }
    for name in (*SIZES, *PLAIN):
        arrays[name] = Array("int64", (name,))
        arrays[f"{name}_offset"] = Array("int64", ("n+1",), offsets=True)
    for name in SIZES:
        arrays[f"{name}_slope"] = Array("int64", (f"{name}_slope",))
    for part in PARTS:
        arrays[f"has_{part}"] = Array("uint8", ("n",))
    return arrays


class ProgramArtifact(Artifact):
    """One tensor program. `program.npz`: its columns; see `lib.program.program_table`."""

    version: ClassVar[int] = 2
    files: ClassVar[dict[str, FileSpec]] = {"program.npz": ArraysSpec(program_arrays())}

    @classmethod
    def check(cls, contents: dict[str, Any]) -> tuple[str, str] | None:
        """Offsets end where their column does, operands come before their readers, outputs exist."""
        arrays: dict[str, np.ndarray] = contents["program.npz"]
        count = len(arrays["opcode"])
        for name in (*SIZES, *PLAIN, "name"):
            if arrays[f"{name}_offset"][-1] != len(arrays[name]):
                return f"array {name}_offset", f"ends at {arrays[f'{name}_offset'][-1]}, not at {len(arrays[name])}"
        if arrays["value_offset"][-1] != len(arrays["value_bits"]):
            return "array value_offset", f"ends at {arrays['value_offset'][-1]}, not at {len(arrays['value_bits'])}"
        for name in (*SIZES, "value"):
            expected = int(arrays[f"{name}_offset"][-1]) if arrays["has_slopes"][0] else 0
            if len(arrays[f"{name}_slope"]) != expected:
                return f"array {name}_slope", f"has {len(arrays[f'{name}_slope'])} numbers, expected {expected}"
        readers = np.repeat(np.arange(count), np.diff(arrays["operands_offset"]))
        wrong = (arrays["operands"] < 0) | (arrays["operands"] >= readers)
        if wrong.any():
            return "array operands", f"instruction {readers[wrong.argmax()]} reads one that does not come before it"
        if not len(arrays["outputs"]) or arrays["outputs"].max() >= count:
            return "array outputs", f"must name some of the {count} instructions"
        if (arrays["carried"] >= count).any():
            return "array carried", f"must name some of the {count} instructions"
        return None
