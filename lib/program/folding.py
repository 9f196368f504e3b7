"""Evaluates instructions whose operands are small known constants."""

import operator
from collections.abc import Callable

import numpy as np

from lib.program.program import LARGEST_VALUE, Instruction

ELEMENTWISE: dict[str, Callable] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "maximum": np.maximum,
    "minimum": np.minimum, "negate": operator.neg, "abs": np.abs, "sign": np.sign, "power": np.power,
    "and": operator.and_, "or": operator.or_, "xor": operator.xor, "floor": np.floor, "ceil": np.ceil,
    "round-nearest-even": np.round, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "exponential": np.exp,
    "exponential-minus-one": np.expm1, "log": np.log, "log-plus-one": np.log1p, "tanh": np.tanh,
    "logistic": lambda x: 1 / (1 + np.exp(-x)), "is-finite": np.isfinite, "sine": np.sin, "cosine": np.cos,
    "select": lambda condition, yes, no: np.where(condition, yes, no),
    "clamp": lambda low, x, high: np.minimum(np.maximum(low, x), high),
}  # fmt: skip
COMPARISONS = {
    "EQ": operator.eq, "NE": operator.ne, "GE": operator.ge, "GT": operator.gt, "LE": operator.le, "LT": operator.lt,
}  # fmt: skip
REDUCERS = {
    "add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
    "and": np.logical_and, "or": np.logical_or,
}  # fmt: skip


def is_float(dtype: str) -> bool:
    """Whether an element type is a floating-point one."""
    return dtype.startswith(("f", "bf"))


def folded_value(instruction: Instruction, operands: list[Instruction]) -> tuple[float, ...] | None:
    """The elements of the result, row-major, or None where they can't be told or are too many.

    Integers are exact (not wrapped at 32 bits: sizes may be those of a very large batch), floats single precision.
    """
    if instruction.elements > LARGEST_VALUE or not operands or any(operand.value is None for operand in operands):
        return None
    arrays = [_array(operand) for operand in operands]
    with np.errstate(all="ignore"):
        result = _evaluate(instruction, arrays)
    if result is None:
        return None
    stored: np.ndarray = np.asarray(result).astype(_storage(instruction.dtype))
    return tuple(float(element) for element in stored.reshape(-1))


def _array(constant: Instruction) -> np.ndarray:
    return np.array(constant.value).astype(_storage(constant.dtype)).reshape(constant.dimensions)


def _storage(dtype: str) -> type:
    if dtype == "pred":
        return np.bool_
    return (np.float64 if dtype == "f64" else np.float32) if is_float(dtype) else np.int64


def _evaluate(instruction: Instruction, arrays: list[np.ndarray]) -> np.ndarray | None:
    first = arrays[0]
    match instruction.opcode:
        case "reshape":
            return first.reshape(instruction.dimensions)
        case "convert" | "copy":
            return first
        case "transpose":
            return first.transpose(instruction.axes)
        case "broadcast":
            shape = [1] * len(instruction.dimensions)
            for axis, extent in zip(instruction.axes, first.shape, strict=True):
                shape[axis] = extent
            return np.broadcast_to(first.reshape(shape), instruction.dimensions)
        case "slice":
            limits = zip(instruction.slice_start, instruction.slice_limit, instruction.slice_stride, strict=True)
            return first[tuple(slice(*limit) for limit in limits)]
        case "concatenate":
            return np.concatenate(arrays, axis=instruction.axes[0])
        case "compare":
            return COMPARISONS[instruction.comparison](*arrays)
        case "not":
            return ~first
        case "divide" if is_float(instruction.dtype):
            return first / arrays[1]
        case "power" if not is_float(instruction.dtype) and (arrays[1] < 0).any():
            return None
        case "divide" | "remainder" if not is_float(instruction.dtype) and arrays[1].all():
            quotient = np.trunc(first / arrays[1]).astype(np.int64)
            return quotient if instruction.opcode == "divide" else first - quotient * arrays[1]
        case "reduce" if instruction.reducer in REDUCERS:
            reducer = REDUCERS[instruction.reducer]
            return reducer(reducer.reduce(first, axis=instruction.axes), arrays[1])
    function = ELEMENTWISE.get(instruction.opcode)
    return None if function is None else function(*arrays)
