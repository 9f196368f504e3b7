"""Instructions as text: attributes read as XLA writes them."""

import pytest

from lib.frontends.hlo_module import program_of
from lib.frontends.hlo_text import parse_hlo_text
from lib.program.instruction_text import instruction_text
from tests.program_examples import Sketch

MODULE = """
HloModule example

%plus (a: f32[], b: f32[]) -> f32[] {{
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}}

ENTRY %main (x: {first}, y: {second}) -> {result} {{
  %x = {first} parameter(0)
  %y = {second} parameter(1)
  ROOT %out = {result} {call}
}}
"""


@pytest.mark.parametrize(
    ("first", "second", "result", "call"),
    [
        (
            "f32[2,9,9,4]{3,2,1,0}", "f32[3,3,2,8]{3,2,1,0}", "f32[2,5,5,8]{3,2,1,0}",
            "convolution(%x, %y), window={size=3x3 stride=2x2 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, "
            "feature_group_count=2",
        ),
        (
            "f32[2,5,5,8]{3,2,1,0}", "f32[3,3,8,4]{3,2,1,0}", "f32[2,9,9,4]{3,2,1,0}",
            "convolution(%x, %y), window={size=3x3 pad=1_1x1_1 lhs_dilate=2x2 rhs_reversal=1x1}, "
            "dim_labels=b01f_01io->b01f",
        ),
        (
            "f32[6,8,16]{2,1,0}", "f32[6,16,4]{2,1,0}", "f32[6,8,4]{2,1,0}",
            "dot(%x, %y), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}",
        ),
        ("f32[8,16]{1,0}", "f32[]", "f32[8]{0}", "reduce(%x, %y), dimensions={1}, to_apply=add"),
        ("f32[8,16]{1,0}", "f32[]", "f32[10,19]{1,0}", "pad(%x, %y), padding=1_1x3_0"),
        ("f32[8,16]{1,0}", "f32[]", "f32[4,8]{1,0}", "slice(%x), slice={[2:6], [0:16:2]}"),
        ("f32[8,16]{1,0}", "f32[8,16]{1,0}", "pred[8,16]{1,0}", "compare(%x, %y), direction=LT"),
    ],
    ids=["convolution", "gradient", "dot", "reduce", "pad", "slice", "compare"],
)  # fmt: skip
def test_what_is_read_is_written_the_same(first, second, result, call):
    text = MODULE.format(first=first, second=second, result=result, call=call).replace("to_apply=add", "to_apply=%plus")
    program = program_of(parse_hlo_text(text), "example", 1, inputs=2)
    (found,) = [one for one in program.instructions if one.opcode == call.split("(")[0]]
    parameters = iter("xy")
    names = [next(parameters) if one.opcode == "parameter" else one.name for one in program.instructions]
    assert instruction_text(found, names).endswith(call)


def test_parameters_and_constants_say_what_they_are():
    sketch = Sketch()
    weight, one = sketch.weight(8, 128), sketch.put("constant", (2,), value=(1.0, 0.5))
    names = [instruction.name for instruction in sketch.instructions]
    texts = [instruction_text(sketch.instructions[index], names) for index in (weight, one)]
    assert texts == [
        "%parameter.0 = bf16[8,128]{1,0} parameter(weight)",
        "%constant.1 = bf16[2]{0} constant({1, 0.5})",
    ]
