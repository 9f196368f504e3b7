"""A module that runs another one n times in a row on the device.

One call from Python costs more than many a kernel. So runs are counted on the device, by a loop around the kernel. The
compiler can't take the kernel out of the loop: its inputs pass an optimisation barrier together with the loop's
counter. The outputs are part of the loop's state, so that each run writes them; an array that is updated in place is
handed from run to run.
"""

import re
from typing import NamedTuple

HEAD = re.compile(r"  func\.func public @main\(\n(.*?)  \) -> \((.*)\) \{\n", re.DOTALL)
ARGUMENT = re.compile(
    r"    %arg(?P<number>\d+): (?P<type>tensor<\S+>)(?: \{tf\.aliasing_output = (?P<result>\d+) : i32\})?,?"
    r" // (?P<low>\S+) to (?P<high>\S+)"
)


class Argument(NamedTuple):
    """A parameter of a module."""

    type: str
    """E.g. `tensor<8x128xf32>`."""
    low: float
    """The least number that may be in it."""
    high: float
    """The first beyond the largest."""
    result: int
    """Number of the result that is written into its buffer; -1: none."""


class Signature(NamedTuple):
    """Parameters of a module, and the types of its results."""

    arguments: list[Argument]
    results: list[str]


def signature(text: str) -> Signature:
    """Of a module's text, as `lib.targets.xla_module` writes it. Raises ValueError for another text."""
    head = HEAD.search(text)
    if head is None:
        raise ValueError("this is no module of lib.targets.xla_module: it has no public function @main in its form")
    arguments = [
        Argument(match["type"], float(match["low"]), float(match["high"]), int(match["result"] or -1))
        for match in ARGUMENT.finditer(head[1])
    ]
    return Signature(arguments, re.findall(r"tensor<\S+?>", head[2]))


def repeated(text: str) -> str:
    """The module with one more parameter before all others, an i32: how often it runs. Its results are the last run's;
    zeros after none."""
    arguments, results = signature(text)
    head = HEAD.search(text)
    assert head is not None
    end = text.rindex("}")
    kernel = ", ".join(f"%arg{number}: {one.type}" for number, one in enumerate(arguments))
    once = f"  func.func private @once({kernel}) -> ({', '.join(results)}) {{\n"
    return text[: head.start()] + once + text[head.end() : end] + "\n".join(_loop(arguments, results)) + "\n}\n"


def _loop(arguments: list[Argument], results: list[str]) -> list[str]:
    types, returned = [one.type for one in arguments], ", ".join(results)
    inputs = [f"%in{number}" for number in range(len(types))]
    state = ["tensor<i32>", "tensor<i32>", *types, *results]
    handed = {one.result: number for number, one in enumerate(arguments) if one.result >= 0}
    first = [f"%arg{handed[number]}" if number in handed else f"%zero{number}" for number in range(len(results))]
    start = ["%none", "%runs", *(f"%arg{number}" for number in range(len(types))), *first]
    held = ["%run", "%end", *inputs, *(f"%old{number}" for number in range(len(results)))]
    passed = [f"%old{one.result}" if one.result >= 0 else name for name, one in zip(inputs, arguments, strict=True)]
    following = ["%next", "%end", *inputs, *(_part("%new", number, len(results)) for number in range(len(results)))]
    barrier = len(types) + 1
    barred = [_part("%barred", number + 1, barrier) for number in range(len(types))]
    parameters = "".join(f", %arg{number}: {each}" for number, each in enumerate(types))
    return [
        f"  func.func public @main(%runs: tensor<i32>{parameters}) -> ({returned}) {{",
        '    %none = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>',
        '    %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>',
        *(_zero(number, each) for number, each in enumerate(results) if number not in handed),
        f"    %last:{len(state)} = \"stablehlo.while\"({', '.join(start)}) ({{",
        f"    ^bb0({', '.join(f'{name}: {each}' for name, each in zip(held, state, strict=True))}):",
        '      %more = "stablehlo.compare"(%run, %end) <{comparison_direction = #stablehlo<comparison_direction LT>}>'
        " : (tensor<i32>, tensor<i32>) -> tensor<i1>",
        '      "stablehlo.return"(%more) : (tensor<i1>) -> ()',
        "    }, {",
        f"    ^bb0({', '.join(f'{name}: {each}' for name, each in zip(held, state, strict=True))}):",
        '      %next = "stablehlo.add"(%run, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>',
        f"      %barred:{barrier} = \"stablehlo.optimization_barrier\"({', '.join(['%run', *passed])}) : "
        f"({', '.join(['tensor<i32>', *types])}) -> ({', '.join(['tensor<i32>', *types])})",
        f"      %new:{len(results)} = func.call @once({', '.join(barred)}) : ({', '.join(types)}) -> ({returned})",
        f"      \"stablehlo.return\"({', '.join(following)}) : ({', '.join(state)}) -> ()",
        f"    }}) : ({', '.join(state)}) -> ({', '.join(state)})",
        f"    return {', '.join(f'%last#{2 + len(types) + number}' for number in range(len(results)))} : {returned}",
        "  }",
    ]  # fmt: skip


def _part(name: str, number: int, count: int) -> str:
    return f"{name}#{number}" if count > 1 else name


def _zero(number: int, each: str) -> str:
    element = re.split(r"[<x]", each.rstrip(">"))[-1]
    zero = "false" if element == "i1" else "0" if "i" in element else "0.0"
    return f'    %zero{number} = "stablehlo.constant"() <{{value = dense<{zero}> : {each}}}> : () -> {each}'
