"""A stand-in for a device: what a module takes stands in a function, passes differ by a known share."""

import numpy as np

from lib.cost.cost_model import Reason
from lib.targets.measuring import Measurements
from lib.targets.module import Module

SECOND_PASS = 1.02
"""The second pass over the first."""
SPENT_S = 0.25
"""Of each module, compiler included."""


class FakeMeasurer:
    """`seconds_of`: text to seconds of one run, or None for a module that does not compile. Keeps what it was asked."""

    def __init__(self, seconds_of):
        self.seconds_of, self.asked = seconds_of, []

    def measure(self, modules, label=""):
        texts = [module.text for module in modules]
        self.asked += texts
        seconds = np.array([self.seconds_of(text) for text in texts], dtype=np.float64)  # None becomes NaN
        fails = np.isnan(seconds)
        return Measurements(
            seconds=seconds,
            passes=seconds[:, None] * np.array([[1.0, SECOND_PASS]]),
            reason=np.where(fails, Reason.FAILED, Reason.OK).astype(np.uint8),
            messages=["does not compile" if failed else "" for failed in fails],
            compile_s=np.full(len(texts), 0.1),
            spent_s=np.full(len(texts), SPENT_S),
            flops=np.array([float(len(text)) for text in texts]),
            bytes=np.full(len(texts), 8.0),
            device={"runtime": "fake", "noise_floor_pct": 2.0, "noise_limit_pct": 3.0},
        )


class NamedKernels:
    """A kernel's module names its instructions."""

    def __init__(self, program):
        self.names = [instruction.name for instruction in program.instructions]

    def module(self, instructions):
        return Module("xla", " ".join(self.names[index] for index in instructions))
