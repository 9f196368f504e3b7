"""The kinds of file that an artifact may hold, and what is checked about each."""

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel

Problem = tuple[str, str] | None
"""(field, what is wrong), or None."""
UNPACKED_LIMIT_BYTES = 16 * 2**30
"""An npz or a table that claims to unpack to more is refused before it is read."""

VALUE_BYTES = 8
"""The most that a number of a table takes."""


class FileSpec(Protocol):
    """Declares one file of an artifact: how to save and load it, what is wrong with a content (None:
    nothing), and how many rows it has (None: it is no table)."""

    def save(self, file: Path, content: Any) -> None: ...
    def load(self, file: Path) -> Any: ...
    def problem(self, content: Any) -> Problem: ...
    def rows(self, content: Any) -> int | None: ...


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    dtype: str
    """NumPy's name, or "string"."""
    minimum: float | None = None
    maximum: float | None = None
    nullable: bool = False
    """NaN (or None) allowed."""
    unit: str = ""
    optional: bool = False
    """The column may be absent."""


@dataclass(frozen=True)
class TableSpec:
    """A Parquet table, a pandas DataFrame in memory."""

    columns: dict[str, Column]
    row_group: int = 1_000_000

    def save(self, file: Path, content: pd.DataFrame) -> None:
        there = [name for name in self.columns if name in content]
        table = pa.Table.from_pandas(content[there], preserve_index=False)
        pq.write_table(table.replace_schema_metadata(None), file, compression="zstd", row_group_size=self.row_group)

    def load(self, file: Path) -> pd.DataFrame:
        claimed = pq.read_metadata(file)
        if claimed.num_rows * claimed.num_columns * VALUE_BYTES > UNPACKED_LIMIT_BYTES:
            size = f"{claimed.num_rows} rows of {claimed.num_columns} columns"
            raise ValueError(f"{size} would take more than {UNPACKED_LIMIT_BYTES} bytes")
        frame = pq.read_table(file).to_pandas()
        for name, column in self.columns.items():
            if name in frame and column.dtype != "string" and not len(frame):
                frame[name] = frame[name].astype(column.dtype)
        return frame

    def problem(self, content: pd.DataFrame) -> Problem:
        if not isinstance(content, pd.DataFrame):
            return "content", f"expected a table, got {type(content).__name__}"
        given, required = set(content.columns), {name for name in self.columns if not self.columns[name].optional}
        if not required <= given <= set(self.columns):
            missing, extra = required - given, given - set(self.columns)
            return "columns", f"missing {sorted(missing)}, not declared {sorted(extra)}"
        for name in [name for name in self.columns if name in given]:
            column = self.columns[name]
            text = _column_problem(content[name], column)
            if text:
                return f"column {name}", text
        return None

    def rows(self, content: pd.DataFrame) -> int:
        return len(content)


def _column_problem(series: pd.Series, column: Column) -> str | None:
    if column.dtype == "string":
        if not column.nullable and series.isna().any():
            return f"row {int(series.isna().to_numpy().argmax())} is empty"
        wrong = [v for v in series.dropna().unique() if not isinstance(v, str)]
        return f"{wrong[0]!r} is not text" if wrong else None
    if str(series.dtype) != column.dtype:
        return f"has type {series.dtype}, expected {column.dtype}"
    values = series.to_numpy()
    if values.dtype.kind == "f":
        wrong_rows = np.isinf(values) if column.nullable else ~np.isfinite(values)
        if wrong_rows.any():
            row = int(wrong_rows.argmax())
            return f"row {row} is {values[row]}"
    for limit, bad, word in (
        (column.minimum, np.less, "below"),
        (column.maximum, np.greater, "above"),
    ):
        if limit is not None and len(values):
            wrong_rows = bad(values, limit)
            if wrong_rows.any():
                row = int(wrong_rows.argmax())
                return f"row {row} is {values[row]}, {word} {limit} {column.unit}".rstrip()
    return None


@dataclass(frozen=True)
class Array:
    """One array of an npz file."""

    dtype: str
    """NumPy's name; "S32" and the like for fixed-width ASCII."""
    shape: tuple[int | str, ...]
    """Numbers are fixed; equal letters must be equal extents; "k+1" is one more than "k"."""
    offsets: bool = False
    """Starts at 0 and never falls."""
    minimum: float | None = None


@dataclass(frozen=True)
class ArraysSpec:
    """An npz file without pickles, a dict of arrays in memory."""

    arrays: dict[str, Array] | None
    """None: any names, any shapes, finite numbers (a model's weights)."""

    def save(self, file: Path, content: dict[str, np.ndarray]) -> None:
        with file.open("wb") as stream:
            np.savez_compressed(stream, allow_pickle=False, **content)

    def load(self, file: Path) -> dict[str, np.ndarray]:
        with zipfile.ZipFile(file) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
        if unpacked > UNPACKED_LIMIT_BYTES:
            raise ValueError(f"would unpack to {unpacked} bytes, more than {UNPACKED_LIMIT_BYTES}")
        with np.load(file, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}

    def problem(self, content: dict[str, np.ndarray]) -> Problem:
        if not isinstance(content, dict):
            return "content", f"expected arrays, got {type(content).__name__}"
        for name, array in content.items():
            if array.dtype.kind not in "fiubS":
                return f"array {name}", f"has type {array.dtype}"
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                return f"array {name}", "holds values that are not finite"
        if self.arrays is None:
            return None
        if set(content) != set(self.arrays):
            missing, extra = set(self.arrays) - set(content), set(content) - set(self.arrays)
            return "arrays", f"missing {sorted(missing)}, not declared {sorted(extra)}"
        extents: dict[str, int] = {}
        for name, spec in self.arrays.items():
            text = _array_problem(content[name], spec, extents)
            if text:
                return f"array {name}", text
        return None

    def rows(self, content: dict[str, np.ndarray]) -> None:
        return None


def _array_problem(array: np.ndarray, spec: Array, extents: dict[str, int]) -> str | None:
    expected_type = np.dtype(spec.dtype)
    if array.dtype != expected_type:
        return f"has type {array.dtype}, expected {expected_type}"
    if array.ndim != len(spec.shape):
        return f"has shape {array.shape}, expected {spec.shape}"
    for extent, expected in zip(array.shape, spec.shape, strict=True):
        if isinstance(expected, int):
            wrong = extent != expected
        else:
            letter, _, plus = expected.partition("+")
            base = extent - int(plus or 0)
            wrong = extents.setdefault(letter, base) != base
        if wrong:
            return f"has shape {array.shape}, expected {spec.shape} with {extents}"
    if spec.offsets and (array[0] != 0 or (np.diff(array) < 0).any()):
        return "offsets must start at 0 and never fall"
    if spec.minimum is not None and array.size and array.min() < spec.minimum:
        return f"holds {array.min()}, below {spec.minimum}"
    return None


@dataclass(frozen=True)
class ModelSpec:
    """A JSON file described by a pydantic model."""

    model: type[BaseModel]

    def save(self, file: Path, content: BaseModel) -> None:
        text = json.dumps(content.model_dump(mode="json"), indent=1, sort_keys=True, allow_nan=False)
        file.write_text(text + "\n", encoding="utf-8")

    def load(self, file: Path) -> BaseModel:
        return self.model.model_validate_json(file.read_bytes())

    def problem(self, content: BaseModel) -> Problem:
        if not isinstance(content, self.model):
            return "content", f"expected a {self.model.__name__}, got {type(content).__name__}"
        return None

    def rows(self, content: BaseModel) -> None:
        return None


@dataclass(frozen=True)
class TextSpec:
    """A UTF-8 text file."""

    def save(self, file: Path, content: str) -> None:
        file.write_text(content, encoding="utf-8")

    def load(self, file: Path) -> str:
        return file.read_text(encoding="utf-8")

    def problem(self, content: str) -> Problem:
        return None if isinstance(content, str) else ("content", f"expected text, got {type(content).__name__}")

    def rows(self, content: str) -> None:
        return None
