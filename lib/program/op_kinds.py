"""The table of op kinds: their numbers and cost classes."""

from functools import cache
from pathlib import Path

import numpy as np
import yaml

PRESET = Path(__file__).parents[2] / "schemas" / "presets" / "op_kinds.yaml"

OP_CLASSES = ("free", "matrix", "reduction", "window", "simple", "divide", "transcendental", "movement")
"""Cost classes; the position is the class's number."""
SWEPT_CLASSES = np.array([name in ("matrix", "reduction", "window") for name in OP_CLASSES])
"""bool[op classes]: evaluated at every point of their loops; the others once an element of their result."""
ELEMENTWISE_CLASSES = ("simple", "divide", "transcendental")
"""Classes of the ops of which each element of the result needs one element of each operand."""


@cache
def op_kind_table() -> tuple[tuple[str, str], ...]:
    """(name, class) of every op kind, in the order of their numbers."""
    rows = yaml.safe_load(PRESET.read_text(encoding="utf-8"))
    return tuple((row["name"], row["class"]) for row in rows)


@cache
def op_kind_numbers() -> dict[str, int]:
    """Number of each op kind by its HLO opcode."""
    return {name: number for number, (name, _) in enumerate(op_kind_table())}


@cache
def op_classes_by_opcode() -> dict[str, str]:
    """Cost class of each op kind by its HLO opcode."""
    return dict(op_kind_table())


@cache
def op_class_numbers() -> np.ndarray:
    """uint8[op kinds]: the cost class's number (position in OP_CLASSES) of each op kind."""
    return np.array([OP_CLASSES.index(cls) for _, cls in op_kind_table()], dtype=np.uint8)
