"""What a device can compile and run: a module of text."""

from collections.abc import Callable
from typing import NamedTuple, Protocol


class Module(NamedTuple):
    """A kernel, a kernel with its tile, or a whole program, as a device's compiler takes it."""

    runtime: str
    """Of the study's `runtime:`: xla or iree."""
    text: str
    """Everything that decides what is compiled, tile attributes too: equal texts are equal programs."""


class Device(Protocol):
    """What a device module offers (`lib.targets.xla_device`, `lib.targets.iree_device`), as functions of its own.

    A device module is the one place that imports the device's packages, at its top. It is imported only in a process
    that is pinned to its cores already and has `threads` in NPROC and OMP_NUM_THREADS.
    """

    def load(self, text: str, platform: str, threads: int) -> Callable[[int], None]:
        """Compile a module's text and make its inputs, seeded. The result runs it n times, one run after the other, and
        comes back when all outputs are there. Raises any exception where it can't be compiled; its message is kept.
        """
        ...

    def device(self, platform: str) -> dict[str, str]:
        """What decides runtimes besides text, cores and threads: name of the device, versions of compiler and runtime.
        Raises any exception where there is no such platform; its message says so."""
        ...
