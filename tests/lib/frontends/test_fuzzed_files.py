"""Files that were cut, garbled or written by something else: a program or words, never a traceback, never a hang."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lib.frontends.hlo_file import read_module
from lib.frontends.hlo_module import program_of
from lib.frontends.hlo_text import parse_hlo_text
from lib.job import in_words
from tests.lib.frontends.fuzzing import edits, garbled

TEXT = """\
HloModule fuzzed, entry_computation_layout={(f32[2,8,8,3]{3,2,1,0})->(f32[2,4], s32[2])}

add.1 {
  a.2 = f32[] parameter(0)
  b.3 = f32[] parameter(1)
  ROOT sum.4 = f32[] add(a.2, b.3), metadata={op_name="model/sum"}
}

%condition.5 (state.6: (s32[], f32[2,4])) -> pred[] {
  %state.6 = (s32[], f32[2,4]{1,0}) parameter(0)
  %count.7 = s32[] get-tuple-element(%state.6), index=0
  %limit.8 = s32[] constant(3)
  ROOT %less.9 = pred[] compare(%count.7, %limit.8), direction=LT
}

%body.10 (state.11: (s32[], f32[2,4])) -> (s32[], f32[2,4]) {
  %state.11 = (s32[], f32[2,4]{1,0}) parameter(0)
  %count.12 = s32[] get-tuple-element(%state.11), index=0
  %one.13 = s32[] constant(1)
  %next.14 = s32[] add(%count.12, %one.13)
  %x.15 = f32[2,4]{1,0} get-tuple-element(%state.11), index=1
  %y.16 = f32[2,4]{1,0} tanh(%x.15)
  ROOT %both.17 = (s32[], f32[2,4]{1,0}) tuple(%next.14, %y.16)
}

ENTRY %main.18 {
  %image.19 = f32[2,8,8,3]{3,2,1,0} parameter(0)
  %filter.20 = f32[3,3,3,4]{3,2,1,0} parameter(1)
  %map.21 = f32[2,4,4,4]{3,2,1,0} convolution(%image.19, %filter.20), window={size=3x3 stride=2x2 pad=0_1x0_1}, dim_labels=b01f_01io->b01f
  %zero.22 = f32[] constant(0)
  %pooled.23 = f32[2,4]{1,0} reduce(%map.21, %zero.22), dimensions={1,2}, to_apply=add.1
  %weights.24 = f32[4,4]{1,0} constant({ { 1, 2, 3, 4 }, { 1, 2, 3, 4 }, { 1, 2, 3, 4 }, { 1, 2, 3, nan } })
  %dot.25 = f32[2,4]{1,0} dot(%pooled.23, %weights.24), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %start.26 = s32[] constant(0)
  %before.27 = (s32[], f32[2,4]{1,0}) tuple(%start.26, %dot.25)
  %after.28 = (s32[], f32[2,4]{1,0}) while(%before.27), condition=%condition.5, body=%body.10
  %z.29 = f32[2,4]{1,0} get-tuple-element(%after.28), index=1
  %iota.30 = s32[2]{0} iota(), iota_dimension=0
  ROOT %result.31 = (f32[2,4]{1,0}, s32[2]{0}) tuple(%z.29, %iota.30)
}
"""  # noqa: E501 (as XLA writes it)
PIECES = [
    "{",
    "}",
    "(",
    ")",
    ",",
    "=",
    "%",
    "-1",
    "0",
    "99999999999999999999",
    "nan",
    "f32[",
    "]",
    "<=",
    '"',
    "\n",
    "ROOT ",
]


def program_or_words(content: bytes) -> None:
    """What the rule does with a file; fails on an error that a person would see as a traceback."""
    try:
        program_of(read_module(content, "fuzzed", Path("fuzzed.hlo")), "fuzzed", 2, inputs=None)
    except Exception as error:
        if in_words(error, error.__traceback__) is None:
            raise


def test_the_module_itself_is_sound():
    program = program_of(read_module(TEXT.encode(), "fuzzed", Path("fuzzed.hlo")), "fuzzed", 2, inputs=None)
    assert {"convolution", "dot", "tanh", "iota"} <= {one.opcode for one in program.instructions}


FUZZING = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@FUZZING
@given(edits(st.sampled_from([piece.encode() for piece in PIECES]) | st.binary(max_size=3) | st.just(b"")))
def test_garbled_text(edits):
    program_or_words(garbled(TEXT.encode(), edits))


@FUZZING
@given(st.integers(0, len(TEXT)))
def test_text_that_was_cut_off(length):
    program_or_words(TEXT[:length].encode())


@FUZZING
@given(edits(st.binary(max_size=8)))
def test_garbled_protocol_buffer(edits):
    program_or_words(garbled(parse_hlo_text(TEXT).SerializeToString(), edits))


@FUZZING
@given(st.binary(max_size=200))
@example(b"HloModule \xff")
@example(b"HloModule m\n" + b"(" * 100_000)
@example(b"HloModule m\nENTRY e {\n ROOT x = " + b"(" * 100_000)
@example(b"HloModule m\nENTRY e {\n ROOT x = f32[2] constant(" + b"{" * 100_000)
@example(b"HloModule m, a=" + b"{" * 100_000)
def test_anything(content):
    program_or_words(content)


@pytest.mark.parametrize("content", [b"PK\x03\x04", b"\x80\x04\x95", b"\x89HDF\r\n\x1a\n", b"ML\xefR", b"{}"])
def test_other_formats_are_told_what_belongs_there(content):
    with pytest.raises(ValueError, match=r"does not hold an HLO module.*TensorFlow writes one with"):
        read_module(content + bytes(100), "fuzzed", Path("fuzzed.hlo"))
