"""The padding ablation of a small program."""

from lib.fidelity.fast.padding import ablation_text, padding_ablation
from lib.program.program import DotDimensions
from tests.lib.cost.random_kernels import TPU_V3
from tests.lib.program.program_examples import Writer


def network(width: int):
    """Two dense layers, [512, width] x [width, width] each."""
    w = Writer()
    x = w.input(512, width)
    for _ in range(2):
        x = w.add("dot", (512, width), x, w.weight(width, width), dot=DotDimensions((1,), (0,)))
    return w.program(x)


def test_a_prime_width_needs_padding():
    prime, even = padding_ablation(network(1021), TPU_V3, "paper"), padding_ablation(network(1024), TPU_V3, "paper")
    for off, on in (prime.alone_s, prime.resident_s):
        assert off > 2 * on
    assert even.alone_s[0] <= even.alone_s[1] * 1.02
    assert even.slower == []
    assert len(prime.slower) == 1  # both layers are one kernel
    assert prime.resident_s[1] < prime.alone_s[1]


def test_the_text_shows_what_padding_is_worth():
    text = ablation_text(padding_ablation(network(1021), TPU_V3, "lifetime"), "lifetime").splitlines()
    assert [line.split("  ")[0] for line in text[1:3]] == ["nothing resident", "residency lifetime"]
    assert text[3].startswith("kernels that lose a tenth or more without: ")
