"""HLO modules as text: equal to the protocol buffer of the same module, and told where they are wrong."""

import keras
import pytest
import tensorflow as tf

from lib.frontends import trace
from lib.frontends.errors import FrontendError
from lib.frontends.hlo_module import program_of
from lib.frontends.hlo_text import is_hlo_text, parse_hlo_text
from lib.frontends.hlo_text_tokens import HloTextError
from lib.frontends.tensorflow_function import parse_module
from lib.program.executions import executions
from lib.program.program import ConvolutionDimensions, DotDimensions, Indexing, Program, Window
from tests.lib.frontends.test_hlo_file import spec
from workflow.studies.builders import embedding_recommender, lstm_language_model, small_convolution_network


def program(text: str) -> Program:
    return program_of(parse_hlo_text(text), "example", 2, inputs=1)


def only(program: Program, opcode: str):
    (found,) = [one for one in program.instructions if one.opcode == opcode]
    return found


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize(
    "build",
    [
        lambda: small_convolution_network(width=4),
        lambda: lstm_language_model(vocabulary=20, width=8, layers=1, length=3),
        lambda: embedding_recommender(tables=2, rows=50, width=4, features=3, bottom=(8,), top=(8,)),
    ],
    ids=["convolutions", "lstm", "look-ups"],
)
def test_text_and_protocol_buffer_give_the_same_program(build, training):
    keras.utils.clear_session()
    model = build()
    inputs = [tf.TensorSpec([2, *tensor.shape[1:]], tensor.dtype) for tensor in model.inputs]

    def forward(*tensors):
        return model(tensors[0] if len(tensors) == 1 else list(tensors), training=training)

    def gradients(*tensors):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(forward(*tensors)))
        return tape.gradient(loss, [variable.value for variable in model.trainable_variables])

    compiled = tf.function(gradients if training else forward, jit_compile=True)
    written = compiled.experimental_get_compiler_ir(*inputs)
    from_proto, from_text = parse_module(written(stage="hlo_serialized")), parse_hlo_text(written(stage="hlo"))
    expected = program_of(from_proto, "example", 2, inputs=len(inputs), scope=model.name)
    assert program_of(from_text, "example", 2, inputs=len(inputs), scope=model.name) == expected


CONVOLUTION = """
// Types of operands and percent signs may be left out.
HloModule example, entry_computation_layout={(f32[2,8,8,3]{3,2,1,0:T(8,128)})->f32[2,4,4,8]}

FileNames
1 "model.py"

StackFrames
1 {file_location_id=1 parent_frame_id=1}

ENTRY main {
  x = f32[2,8,8,3]{3,2,1,0:T(8,128)} parameter(0)
  w = f32[3,3,3,8]{3,2,1,0} parameter(1), sharding={replicated}
  ROOT y = f32[2,4,4,8]{0,3,2,1} convolution(x, w), window={size=3x3 stride=2x2 pad=0_1x0_1 rhs_reversal=1x0},
    dim_labels=b01f_01io->b01f, feature_group_count=1, backend_config={"a": [1, {"b": "}"}]}, metadata={op_name="a/b"}
}
"""


def test_a_convolution():
    module = parse_hlo_text(CONVOLUTION)
    assert module.entry_computation_id == module.computations[0].id
    found = program_of(module, "example", 2, inputs=1)
    one = only(found, "convolution")
    assert (one.name, one.dimensions, one.layout) == ("a/b", (2, 4, 4, 8), (0, 3, 2, 1))
    assert one.window == Window((3, 3), (2, 2), (0, 0), (1, 1), (1, 1), (1, 1), (1, 0))
    assert one.convolution == ConvolutionDimensions(0, 3, (1, 2), 2, 3, (0, 1), 0, 3, (1, 2))
    assert [(i.role, i.dimensions) for i in found.instructions if i.opcode == "parameter"] == [
        ("input", (2, 8, 8, 3)), ("weight", (3, 3, 3, 8)),
    ]  # fmt: skip


LOOP = """
HloModule loop
%body (state: (s32[], /*index=1*/ f32[4])) -> (s32[], f32[4]) {
  %state = (s32[], f32[4]{0}) parameter(0)
  %counter = s32[] get-tuple-element((s32[], f32[4]{0}) %state), index=0
  %one = s32[] constant(1)
  %next = s32[] add(s32[] %counter, s32[] %one)
  %array = f32[4]{0} get-tuple-element((s32[], f32[4]{0}) %state), index=1
  %tanh = f32[4]{0} tanh(f32[4]{0} %array)
  ROOT %both = (s32[], f32[4]{0}) tuple(s32[] %next, f32[4]{0} %tanh)
}
%condition (state: (s32[], f32[4])) -> pred[] {
  %state = (s32[], f32[4]{0}) parameter(0)
  %counter = s32[] get-tuple-element((s32[], f32[4]{0}) %state), index=0
  %limit = s32[] constant(7)
  ROOT %more = pred[] compare(s32[] %counter, s32[] %limit), direction=LT
}
ENTRY %main (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  %zero = s32[] constant(0)
  %start = (s32[], f32[4]{0}) tuple(%zero, %x)
  %loop = (s32[], f32[4]{0}) while((s32[], f32[4]{0}) %start), condition=%condition, body=%body
  ROOT %after = f32[4]{0} get-tuple-element((s32[], f32[4]{0}) %loop), index=1
}
"""


def test_a_loop_with_a_counter():
    found = program(LOOP)
    times = dict(zip((one.opcode for one in found.instructions), executions(found.instructions), strict=True))
    assert times["tanh"] == 7


PARTS = """
HloModule parts
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[8,16] parameter(0)
  table = f32[100,16] parameter(1)
  places = s32[3,1] parameter(2)
  rows = f32[3,16] gather(table, places), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
    index_vector_dim=1, slice_sizes={1,16}
  changed = f32[100,16] scatter(table, places, rows), update_window_dims={1}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum
  zero = f32[] constant(0)
  part = f32[4,8] slice(x), slice={[0:8:2], [8:16]}
  wide = f32[5,10] pad(part, zero), padding=1_0_0x-1_1_0
  total = f32[5] reduce(wide, zero), dimensions={1}, to_apply=sum
  square = f32[8,8] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  numbers = f32[2,2] constant({ { 1, -2.5 }, { inf, 1e-05 } })
  flags = pred[2] constant({true, false})
  half = bf16[3] constant({1, 2, -0.5})
  many = f32[100] constant({...})
  ROOT all = (f32[100,16], f32[5], f32[8,8], f32[2,2], pred[2], bf16[3], f32[100])
    tuple(changed, total, square, numbers, flags, half, many)
}
"""


def test_attributes_and_constants():
    found = program(PARTS)
    assert only(found, "gather").indexing == Indexing(window=(1,), collapsed=(0,), indexed=(0,), vector=(1,))
    scatter = only(found, "scatter")
    assert (scatter.indexing.collapsed, scatter.reducer) == ((0,), "add")
    part = only(found, "slice")
    assert (part.slice_start, part.slice_limit, part.slice_stride) == ((0, 8), (8, 16), (2, 1))
    assert (only(found, "pad").padding_low, only(found, "pad").padding_high) == ((1, -1), (0, 1))
    assert (only(found, "reduce").axes, only(found, "reduce").reducer) == ((1,), "add")
    assert only(found, "dot").dot == DotDimensions((1,), (1,))
    values = {one.dimensions: one.value for one in found.instructions if one.opcode == "constant"}
    assert values[(2, 2)] == pytest.approx((1.0, -2.5, float("inf"), 1e-5))
    assert (values[(2,)], values[(3,)], values[(100,)]) == ((1.0, 0.0), (1.0, 2.0, -0.5), None)


BAD = """\
HloModule bad
sum {
  a = f32[] parameter(0)
  ROOT b = f32[] add(a, a)
}
ENTRY main {
  x = f32[2,3] parameter(0)
  zero = f32[] constant(0)
  y = f32[2] reduce(x, zero), dimensions={1}, to_apply=sum
  ROOT z = f32[2] tanh(y)
}
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("tanh(y)", "tanh(yy)", 10, r"'z' \(tanh\) reads 'yy', which does not stand before it .*; did you mean 'y'\?"),
        ("to_apply=sum", "to_apply=summ", 9, "the computation 'summ' is called but not in the module; did you mean"),
        ("f32[2,3]", "f33[2,3]", 7, "'f33' is no element type; did you mean 'f32'"),
        ("f32[2,3]", "f32[2,x]", 7, "'x' where an extent must stand"),
        ("constant(0)", "constant({1, 2})", 8, r"the constant 'zero' of shape \[\] has 2 numbers"),
        ("constant(0)", "constant(one)", 8, "'one' where a number of a constant must stand"),
        ("ENTRY ", "", 12, "no computation is marked ENTRY"),
        ("  y =", "  x =", 9, "there are two instructions 'x' in 'main'"),
        ("zero = f32[]", "zero f32[]", 8, "'f32' where '=' must stand"),
        ("tanh(y)\n}\n", "tanh(y)\n", 11, "the text ends in the middle|'' where an instruction"),
        ("sum {", "main {", 6, "there are two computations 'main'"),
        ("dimensions={1}", "window={sice=1}", 9, "'sice' is no part of a window; allowed: size, stride"),
    ],
)
def test_the_line_and_what_is_wrong_are_said(old, new, line, message):
    assert BAD.replace(old, new) != BAD
    with pytest.raises(HloTextError, match=message) as caught:
        parse_hlo_text(BAD.replace(old, new, 1))
    assert caught.value.line == line


def test_a_file_of_text_is_told_by_its_content(tmp_path):
    (tmp_path / "module.txt").write_text("// a comment\n" + LOOP)
    found = trace(spec("module.txt"), tmp_path)
    assert [one.opcode for one in found.instructions] == ["parameter", "loop-state", "tanh", "loop-result"]
    (tmp_path / "bad.hlo").write_text(BAD.replace("tanh(y)", "tanh(yy)"))
    with pytest.raises(FrontendError, match=r"workload 'from-file': .*bad\.hlo:10: 'z' \(tanh\) reads 'yy'"):
        trace(spec("bad.hlo"), tmp_path)
    (tmp_path / "odd.hlo").write_text(BAD.replace("tanh(y)", "tanhh(y)"))
    with pytest.raises(
        FrontendError, match=r"HLO instruction 'z' \(tanhh\): the op kind 'tanhh' \(did you mean 'tanh'"
    ):
        trace(spec("odd.hlo"), tmp_path)
    assert not is_hlo_text(b"\x0a\x04main")
