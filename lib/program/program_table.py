"""A :class:`Program` as plain arrays and back, exactly.

Every field of the instructions is a column. A column of tuples has two arrays: its numbers one after the other and
`<column>_offset` (int64[n + 1]), which cuts them into instructions; sizes have a third one, `<column>_slope`.
"""

from collections.abc import Sequence
from dataclasses import fields
from itertools import pairwise
from typing import Any

import numpy as np

from lib.program.program import (
    CONVOLUTION_SIZE_FIELDS,
    LARGEST_INTEGER,
    SIZE_FIELDS,
    WINDOW_SIZE_FIELDS,
    BatchError,
    ConvolutionDimensions,
    DotDimensions,
    Indexing,
    Instruction,
    Program,
    Window,
)

TEXT_COLUMNS = {"opcode": "S32", "dtype": "S8", "role": "S8", "reducer": "S32", "comparison": "S8"}
"""Fixed-width ASCII."""
TUPLE_COLUMNS = (
    "operands", "dimensions", "layout", "axes", "slice_start", "slice_limit", "slice_stride", "padding_low",
    "padding_high", "padding_interior",
)  # fmt: skip
NUMBER_COLUMNS = ("body_ops", "executions")
"""Fields that are single numbers, held as tuples of one."""
PARTS = {"window": Window, "convolution": ConvolutionDimensions, "dot": DotDimensions, "indexing": Indexing}
"""Fields that hold a record; its fields are the columns `<field>_<field of the record>`."""
CONVOLUTION_NUMBERS = (
    "input_batch", "input_feature", "kernel_input_feature", "kernel_output_feature", "output_batch", "output_feature",
    "feature_groups", "batch_groups",
)  # fmt: skip
"""Fields of ConvolutionDimensions that are single numbers, held as tuples of one."""


def integer_columns() -> dict[str, bool]:
    """Name of each column of integer tuples, and whether it holds sizes, which have slopes."""
    columns = {name: name in SIZE_FIELDS for name in (*TUPLE_COLUMNS, *NUMBER_COLUMNS)}
    sizes: dict[str, tuple[str, ...]] = {
        "window": WINDOW_SIZE_FIELDS,
        "convolution": CONVOLUTION_SIZE_FIELDS,
        "dot": (),
        "indexing": (),
    }
    for part, record in PARTS.items():
        columns |= {f"{part}_{field.name}": field.name in sizes[part] for field in fields(record)}
    return columns


def program_to_arrays(program: Program) -> dict[str, np.ndarray]:
    """The columns, and `workload` (its name), `batch`, `outputs`, `carried`, `has_slopes`.

    Raises BatchError for an array of more bytes than a 64-bit integer counts.
    """
    instructions, slopes = program.instructions, program.slopes
    for one in instructions:
        if one.bytes > LARGEST_INTEGER:
            raise BatchError(
                f"program '{program.name}', instruction '{one.name}': its {one.bytes} bytes at batch {program.batch}"
                " are more than a 64-bit integer counts; give the workload a smaller batch"
            )
    arrays = {
        "workload": _characters(program.name),
        "batch": np.array([program.batch], dtype=np.int64),
        "outputs": np.array(program.outputs, dtype=np.int32),
        "carried": np.array(program.carried, dtype=np.int32),
        "has_slopes": np.array([slopes is not None], dtype=np.uint8),
    }
    names = [instruction.name for instruction in instructions]
    arrays["name"], arrays["name_offset"] = _characters("".join(names)), _offsets([len(n.encode()) for n in names])
    for name, dtype in TEXT_COLUMNS.items():
        arrays[name] = np.array([getattr(one, name) for one in instructions], dtype=dtype)
    for name, sized in integer_columns().items():
        tuples = [_numbers(one, name) for one in instructions]
        arrays[name], arrays[f"{name}_offset"] = _flat(tuples, np.int64), _offsets([len(t) for t in tuples])
        if sized:
            moved = [_numbers(one, name) for one in slopes] if slopes is not None else []
            arrays[f"{name}_slope"] = _flat(moved, np.int64)
    for part in PARTS:
        arrays[f"has_{part}"] = np.array([getattr(one, part) is not None for one in instructions], dtype=np.uint8)
    arrays["has_value"] = np.array([one.value is not None for one in instructions], dtype=np.uint8)
    values = [one.value or () for one in instructions]
    arrays["value_offset"] = _offsets([len(value) for value in values])
    # Values may be infinite, which an artifact's floats may not be: their bits are kept instead.
    arrays["value_bits"] = _flat(values, np.float64).view(np.int64)
    moved = [one.value or () for one in slopes] if slopes is not None else []
    arrays["value_slope"] = _flat(moved, np.float64)
    return arrays


def program_from_arrays(arrays: dict[str, np.ndarray]) -> Program:
    """The inverse of :func:`program_to_arrays`."""
    batch = int(arrays["batch"][0])
    outputs, carried = tuple(arrays["outputs"].tolist()), tuple(arrays["carried"].tolist())
    instructions = _instructions(arrays, slopes=False)
    slopes = _instructions(arrays, slopes=True) if arrays["has_slopes"][0] else None
    return Program(_text(arrays["workload"]), batch, instructions, outputs, carried, slopes)


def _instructions(arrays: dict[str, np.ndarray], slopes: bool) -> tuple[Instruction, ...]:
    columns: dict[str, list] = {"name": _names(arrays)}
    for name in TEXT_COLUMNS:
        columns[name] = [text.decode() for text in arrays[name].tolist()]
    for name, sized in integer_columns().items():
        numbers = arrays[f"{name}_slope"] if slopes and sized else arrays[name]
        columns[name] = _tuples(numbers, arrays[f"{name}_offset"])
    for name in NUMBER_COLUMNS:
        columns[name] = [number for (number,) in columns[name]]
    values = arrays["value_slope"] if slopes else arrays["value_bits"].view(np.float64)
    columns["value"] = _kept(_tuples(values, arrays["value_offset"]), arrays["has_value"])
    for part, record in PARTS.items():
        members = {field.name: columns.pop(f"{part}_{field.name}") for field in fields(record)}
        rows = zip(*members.values(), strict=True)
        columns[part] = [
            _record(record, dict(zip(members, row, strict=True))) if there else None
            for row, there in zip(rows, arrays[f"has_{part}"].tolist(), strict=True)
        ]
    order = [field.name for field in fields(Instruction)]
    return tuple(Instruction(*row) for row in zip(*(columns[name] for name in order), strict=True))


def _numbers(instruction: Instruction, column: str) -> tuple:
    if column in TUPLE_COLUMNS:
        return getattr(instruction, column)
    if column in NUMBER_COLUMNS:
        return (getattr(instruction, column),)
    part, _, name = column.partition("_")
    record: Any = getattr(instruction, part)
    if record is None:
        return ()
    number = getattr(record, name)
    return (number,) if name in CONVOLUTION_NUMBERS else number


def _record(record: type, members: dict[str, tuple[int, ...]]) -> Any:
    return record(**{name: part[0] if name in CONVOLUTION_NUMBERS else part for name, part in members.items()})


def _flat(tuples: list[tuple], dtype: type) -> np.ndarray:
    return np.array([number for one in tuples for number in one], dtype=dtype)


def _offsets(lengths: Sequence[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)


def _tuples(numbers: np.ndarray, offset: np.ndarray) -> list[tuple]:
    flat, ends = numbers.tolist(), offset.tolist()
    return [tuple(flat[start:end]) for start, end in pairwise(ends)]


def _kept(tuples: list[tuple], there: np.ndarray) -> list[tuple | None]:
    return [one if kept else None for one, kept in zip(tuples, there.tolist(), strict=True)]


def _characters(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), dtype=np.uint8)


def _text(characters: np.ndarray) -> str:
    return characters.tobytes().decode()


def _names(arrays: dict[str, np.ndarray]) -> list[str]:
    text, ends = arrays["name"].tobytes(), arrays["name_offset"].tolist()
    return [text[start:end].decode() for start, end in pairwise(ends)]
