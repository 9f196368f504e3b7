"""Which instructions may follow a matrix op, a reduction or a window reduction within its own kernel."""

from lib.program.dataflow import MATRIX, REARRANGING, Dataflow


def epilogue_owners(flow: Dataflow) -> list[int]:
    """For each instruction the hero whose epilogue it can be (a hero: itself), or -1.

    An instruction can be a hero's epilogue if it has as many elements, every path from the hero to an output passes
    through it or rejoins before it, and all instructions on the way are elementwise or rearranging ones of that size.
    Of several heroes a matrix op goes first, then the later one.
    """
    exits = _common_exits(flow)
    owner = [-1] * len(flow.instructions)
    heroes = [i for i in range(len(flow.instructions)) if flow.live[i] and flow.is_hero(i)]
    for hero in sorted(heroes, key=lambda i: (flow.op_class[i] == MATRIX, i)):
        current = hero
        while True:
            between = _between(flow, current, exits[current], flow.instructions[hero].elements)
            if between is None:
                break
            for index in between:
                owner[index] = hero
            current = exits[current]
    for hero in heroes:
        owner[hero] = hero
    return owner


def _between(flow: Dataflow, start: int, end: int, elements: int) -> set[int] | None:
    """Instructions after `start` up to and with `end`; None if one of them can't be in an epilogue of that size."""
    if end < 0:
        return None
    seen: set[int] = set()
    waiting = [use.reader for use in flow.uses[start]]
    while waiting:
        index = waiting.pop()
        if index in seen:
            continue
        fits = flow.is_elementwise(index) or flow.instructions[index].opcode in REARRANGING
        if not fits or flow.instructions[index].elements != elements:
            return None
        seen.add(index)
        if index != end:
            waiting.extend(use.reader for use in flow.uses[index])
    return seen


def _common_exits(flow: Dataflow) -> list[int]:
    """Immediate post-dominator of each instruction: the first one that all its paths to outputs share; -1 if none.

    Cooper, Harvey, Kennedy, A Simple, Fast Dominance Algorithm (2001), on the reversed acyclic graph: one pass.
    """
    count = len(flow.instructions)
    exits = [-1] * count
    depth = [0] * count
    for index in range(count - 1, -1, -1):
        readers = {use.reader for use in flow.uses[index]}
        if flow.output[index] or not readers:
            continue
        common = readers.pop()
        for reader in readers:
            while common != reader and min(common, reader) >= 0:
                if depth[common] >= depth[reader]:
                    common = exits[common]
                else:
                    reader = exits[reader]
            if min(common, reader) < 0:
                common = -1
        exits[index] = common
        depth[index] = depth[common] + 1 if common >= 0 else 0
    return exits
