"""Which instructions stand in equal surroundings, on a few ops in a row."""

from lib.fusion.equal_places import RADIUS, equal_places
from lib.program.dataflow import Dataflow
from tests.program_examples import Sketch


def blocks(count: int, *, width: int = 4):
    """`count` times: negate, abs, cosine, sine, in a row; and the instructions by block."""
    s = Sketch()
    x = s.input(width)
    found = []
    for _ in range(count):
        found.append([])
        for opcode in ("negate", "abs", "cosine", "sine"):
            x = s.op(opcode, x)
            found[-1].append(x)
    return Dataflow(s.program(x)), found


def test_the_same_op_of_each_inner_block_is_together_and_no_other_is():
    flow, found = blocks(5)
    equal = equal_places(flow)
    for place in range(4):
        inner = tuple(block[place] for block in found[1:-1])  # a block has four ops: ends are RADIUS steps away at most
        assert RADIUS == 3
        assert set(inner) <= set(equal[inner[0]]) <= {block[place] for block in found}
        assert equal[inner[0]] is equal[inner[1]]


def test_what_reads_the_input_stands_alone():
    flow, found = blocks(5)
    assert equal_places(flow)[found[0][0]] == (found[0][0],)


def test_other_extents_are_no_equal_places():
    s = Sketch()
    narrow, wide = s.op("negate", s.input(4)), s.op("negate", s.input(8))
    flow = Dataflow(s.program(s.op("abs", narrow), s.op("abs", wide)))
    equal = equal_places(flow)
    assert equal[narrow] == (narrow,)
    assert equal[wide] == (wide,)
