"""What compiles and times modules, as datasets and autotuners ask it."""

from collections.abc import Sequence
from typing import Protocol

from lib.targets.measuring import Measurements
from lib.targets.module import Module


class Measurer(Protocol):
    """`lib.targets.measuring.Measuring`, or a stand-in for tests."""

    def measure(self, modules: Sequence[Module], label: str = "") -> Measurements:
        """Of every module, in order; what fails is told by its reason, never by an error."""
        ...
