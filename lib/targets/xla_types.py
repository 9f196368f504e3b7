"""Types, constants and lists of numbers as StableHLO text."""

import math
from collections.abc import Sequence

from lib.program.program import ELEMENT_BYTES, Instruction

ELEMENT_TYPES = {
    "pred": "i1", "s8": "i8", "u8": "ui8", "s16": "i16", "u16": "ui16", "s32": "i32", "u32": "ui32", "s64": "i64",
    "u64": "ui64", "bf16": "bf16", "f16": "f16", "f32": "f32", "f64": "f64",
}  # fmt: skip
"""MLIR's name of each element type of a program."""
EXPONENT_BITS = {"bf16": (8, 7), "f16": (5, 10), "f32": (8, 23), "f64": (11, 52)}
"""Bits of exponent and of mantissa, by type."""
SINGLE_DIGITS, DIGITS = 8, {"f64": 16}
"""Digits behind the point that tell all numbers of single precision, of double precision, apart."""
UNKNOWN = 0.5
"""Stands for numbers of a small constant that a program has lost: 0 and 1 would be simplified away."""


def tensor(dtype: str, dimensions: Sequence[int]) -> str:
    """E.g. `tensor<8x128xf32>`."""
    return f"tensor<{''.join(f'{extent}x' for extent in dimensions)}{ELEMENT_TYPES[dtype]}>"


def type_of(instruction: Instruction) -> str:
    """The type of an instruction's result."""
    return tensor(instruction.dtype, instruction.dimensions)


def integers(numbers: Sequence[int]) -> str:
    """The attribute `array<i64: 1, 2>`."""
    return f"array<i64: {', '.join(map(str, numbers))}>" if numbers else "array<i64>"


def booleans(flags: Sequence[int]) -> str:
    """The attribute `array<i1: true, false>`."""
    return f"array<i1: {', '.join('true' if flag else 'false' for flag in flags)}>" if flags else "array<i1>"


def listed(numbers: Sequence[int]) -> str:
    """`[1, 2]`."""
    return f"[{', '.join(map(str, numbers))}]"


def padding(low: Sequence[int], high: Sequence[int]) -> str:
    """The attribute of low and high padding, a row a dimension."""
    rows = ", ".join(f"[{before}, {after}]" for before, after in zip(low, high, strict=True))
    return f"dense<{f'[{rows}]' if rows else ''}> : tensor<{len(low)}x2xi64>"


def constant(instruction: Instruction) -> str:
    """The attribute of a constant's values; of one whose values are unknown, UNKNOWN (1 as an integer) everywhere."""
    dtype = instruction.dtype
    unknown = (UNKNOWN if _is_float(dtype) else 1.0,)
    values = instruction.value if instruction.value is not None else unknown
    numbers = [_number(value, dtype) for value in values]
    text = numbers[0] if len(set(numbers)) == 1 else _nested(numbers, instruction.dimensions)
    return f"dense<{text}> : {type_of(instruction)}"


def _nested(numbers: Sequence[str], dimensions: Sequence[int]) -> str:
    if not dimensions:
        return numbers[0]
    part = len(numbers) // dimensions[0]
    rows = [_nested(numbers[row * part : (row + 1) * part], dimensions[1:]) for row in range(dimensions[0])]
    return f"[{', '.join(rows)}]"


def _is_float(dtype: str) -> bool:
    return dtype in EXPONENT_BITS


def _number(value: float, dtype: str) -> str:
    if dtype == "pred":
        return "true" if value else "false"
    if not _is_float(dtype):
        return str(_wrapped(int(value), dtype))
    if math.isfinite(value):
        return f"{value:.{DIGITS.get(dtype, SINGLE_DIGITS)}e}"
    return _bits(value, dtype)


def _wrapped(value: int, dtype: str) -> int:
    """As an integer of that type holds it: sizes of very large batches may be beyond it."""
    bits = 8 * ELEMENT_BYTES[dtype]
    value %= 1 << bits
    return value - (1 << bits) if dtype.startswith("s") and value >> (bits - 1) else value


def _bits(value: float, dtype: str) -> str:
    """Infinities and what is no number: MLIR takes their bits alone."""
    exponent, mantissa = EXPONENT_BITS[dtype]
    bits = ((1 << exponent) - 1) << mantissa
    if math.isnan(value):
        bits |= 1 << (mantissa - 1)
    elif value < 0:
        bits |= 1 << (exponent + mantissa)
    return f"0x{bits:0{(exponent + mantissa + 1) // 4}X}"
