"""Small programs for the fusion autotuner, with prices that can be summed by hand."""

import numpy as np

from lib.autotune.target import Measured
from lib.cost.cost_model import Reason
from lib.program.kernels import Kernels
from lib.program.program import Program
from tests.program_examples import Sketch


def four_in_a_row() -> Program:
    """Four equal elementwise ops, each read by the next: kernels with as many ops are the same kernel."""
    s = Sketch()
    x = s.input(8, 128)
    for _ in range(4):
        x = s.op("negate", x)
    return s.program(x)


def hand_price(kernels: Kernels) -> np.ndarray:
    """1 s a kernel and 0.3 s times its ops squared: of four ops in a row two pairs take the least, 4.4 s.

    All in one: 1 + 4.8 = 5.8; three and one: 3.7 + 1.3 = 5.0; two and two: 2 * 2.2 = 4.4; two, one, one: 4.8; each
    alone: 4 * 1.3 = 5.2.
    """
    return 1.0 + 0.3 * np.diff(kernels.op_offset) ** 2.0


def hand_run(kernels: Kernels) -> Measured:
    """A target that takes exactly as long as :func:`hand_price` says."""
    return Measured(hand_price(kernels), np.full(kernels.number, Reason.OK, dtype=np.uint8))
