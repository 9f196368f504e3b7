"""Constants of HLO text."""

from typing import Any

import numpy as np

from lib.frontends.hlo_instruction import LITERAL_BYTES, LITERAL_FIELDS
from lib.frontends.hlo_text_tokens import HloTextError, Tokens

WORDS = {"true": 1.0, "false": 0.0}


def read_literal(tokens: Tokens, proto: Any) -> None:
    """Read what stands between the parentheses of `constant(...)` into the instruction's literal.

    Nothing is kept of numbers that are left out (`{...}`), of tuples and of types that programs don't hold. Raises
    HloTextError for what is no number, and for another count of them than the shape has.
    """
    from tensorflow.compiler.xla import xla_data_pb2

    dtype = xla_data_pb2.PrimitiveType.Name(proto.shape.element_type).lower()
    if dtype not in (*LITERAL_FIELDS, *LITERAL_BYTES, "bf16"):
        _skip(tokens)
        return
    line = tokens.next.line
    numbers = _numbers(tokens)
    if numbers is None:
        return
    extents = list(proto.shape.dimensions)
    if len(numbers) != np.prod(extents, dtype=int):
        raise HloTextError(line, f"the constant '{proto.name}' of shape {extents} has {len(numbers)} numbers")
    proto.literal.shape.CopyFrom(proto.shape)
    if dtype in LITERAL_FIELDS:
        as_written = float if dtype.startswith("f") else bool if dtype == "pred" else int
        getattr(proto.literal, LITERAL_FIELDS[dtype]).extend(as_written(number) for number in numbers)
    elif dtype == "bf16":
        # All numbers that XLA prints of bfloat16 are ones that it holds: the upper half of a float32.
        bits = np.array(numbers, np.float32).view(np.uint32) >> 16
        proto.literal.bf16s = bits.astype("<u2").tobytes()
    else:
        setattr(proto.literal, f"{dtype}s", np.array(numbers).astype(LITERAL_BYTES[dtype]).tobytes())


def _numbers(tokens: Tokens) -> list[Any] | None:
    """Numbers up to the closing parenthesis, row-major; None where dots stand for them."""
    numbers: list[Any] = []
    while tokens.next.text != ")":
        if tokens.next.text in ("{", "}", ","):
            tokens.take()
        elif tokens.next.text == ".":
            _skip(tokens)
            return None
        else:
            numbers.append(_number(tokens))
    return numbers


def _number(tokens: Tokens) -> Any:
    word = tokens.next.text
    if word in WORDS:
        tokens.take()
        return WORDS[word]
    try:
        number = int(word) if word.lstrip("-").isdigit() else float(word)
    except ValueError:
        raise tokens.error(f"'{word}' where a number of a constant must stand") from None
    tokens.take()
    return number


def _skip(tokens: Tokens) -> None:
    while tokens.next.text != ")":
        tokens.skip_value()
