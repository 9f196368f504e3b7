"""Building kernels: what contradicts itself is refused, and what the fingerprint tells apart."""

import dataclasses

import pytest

from lib.program.extraction import extract
from lib.program.kernel_builder import KernelRow, KernelsBuilder
from lib.program.kernels import INPUT, OUTPUT, REDUCTION, WEIGHT
from tests.kernel_examples import convolution_relu, dot, elementwise
from tests.program_examples import Sketch


def fingerprint(row: KernelRow) -> str:
    builder = KernelsBuilder()
    builder.add(row)
    return builder.build().fingerprint[0]


def changed(row: KernelRow, part: str, position: int, **fields) -> KernelRow:
    """The kernel with some fields of one operand or op changed."""
    parts = list(getattr(row, part))
    parts[position] = dataclasses.replace(parts[position], **fields)
    return dataclasses.replace(row, **{part: parts})


def test_kernels_are_numbered_as_they_are_added():
    builder = KernelsBuilder()
    assert [builder.add(row) for row in (dot(), elementwise(), dot())] == [0, 1, 2]
    assert builder.build().number == 3


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (changed(dot(), "operands", 2, role=INPUT), "exactly one output"),
        (changed(dot(), "operands", 0, role=OUTPUT), "exactly one output"),
        (dataclasses.replace(dot(), operands=dot().operands[::-1]), "it is the last operand"),
        (dataclasses.replace(dot(), operands=[]), "exactly one output"),
        (dataclasses.replace(dot(), hero=1), "hero 1 is not one of 1 ops"),
        (dataclasses.replace(dot(), hero=-1), "hero -1 is not one of 1 ops"),
        (changed(elementwise(), "ops", 0, sources=(3,)), r"op 0 \(add\) has a source that does not come before"),
        (changed(elementwise(), "ops", 1, sources=(3,)), r"op 1 \(logistic\) has a source"),
        (changed(elementwise(), "ops", 0, sources=(-1,)), r"op 0 \(add\) has a source"),
        (changed(elementwise(), "ops", 0, opcode="fft"), r"op 0 has the opcode 'fft'"),
    ],
)
def test_what_contradicts_itself_is_refused_in_words(row, message):
    with pytest.raises(ValueError, match=message):
        KernelsBuilder().add(row)


def test_a_fingerprint_is_32_hexadecimal_digits_and_stands_for_itself_alone():
    builder = KernelsBuilder()
    for row in (dot(), convolution_relu(), dot()):
        builder.add(row)
    first, second, third = builder.build().fingerprint
    assert first == third == fingerprint(dot())
    assert second == fingerprint(convolution_relu())
    assert len(first) == 32
    int(first, 16)


BLOCK = convolution_relu()


@pytest.mark.parametrize(
    "other",
    [
        convolution_relu(batch=8),
        dataclasses.replace(BLOCK, kernel_class=1),
        dataclasses.replace(BLOCK, hero=1),
        dataclasses.replace(BLOCK, base_dilation=(1, 2)),
        dataclasses.replace(BLOCK, loop_kind=(*BLOCK.loop_kind[:7], REDUCTION)),
        changed(BLOCK, "operands", 0, order=(2, 4, 1, 0)),
        changed(BLOCK, "operands", 0, stride=(1, 2, 2, 0, 1, 1, 1, 0)),
        changed(BLOCK, "operands", 0, elements=1),
        changed(BLOCK, "operands", 0, element_bytes=4),
        changed(BLOCK, "operands", 0, role=WEIGHT),
        changed(BLOCK, "ops", 2, opcode="minimum"),
        changed(BLOCK, "ops", 2, element_bytes=4),
        changed(BLOCK, "ops", 2, sources=(3, 4)),
        dataclasses.replace(BLOCK, operands=[BLOCK.operands[i] for i in (1, 0, 2, 3)]),
        changed(changed(BLOCK, "ops", 1, opcode="maximum"), "ops", 2, opcode="add"),
    ],
)
def test_the_fingerprint_tells_apart_what_may_cost_differently(other):
    assert fingerprint(other) != fingerprint(BLOCK)


def biased(names: str, dtype: str = "bf16", reverse: bool = False, layout: tuple[int, int] = (1, 0)) -> str:
    """Fingerprint of tanh(x + b) or tanh(b + x)."""
    s = Sketch()
    x, b = s.put("parameter", (4, 8), (), f"{names}-x", dtype, role="input"), s.weight(8)
    s.instructions[x] = s.instructions[x].replace(layout=layout)
    pair = [x, s.broadcast(b, (4, 8), (1,))]
    total = s.put("add", (4, 8), reversed(pair) if reverse else pair, f"{names}-sum")
    program = s.program(s.op("tanh", total, name=f"{names}-tanh"))
    root = len(program.instructions) - 1
    return extract(program, [root if i in (total, root) else -1 for i in range(root + 1)]).kernels.fingerprint[0]


def test_names_are_not_in_a_fingerprint_but_order_layout_and_type_are():
    assert biased("one") == biased("other")
    assert len({biased("one"), biased("one", reverse=True), biased("one", layout=(0, 1)), biased("one", "f32")}) == 4
