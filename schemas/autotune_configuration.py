"""The configuration that an autotuner chose for a program, for compilers and scripts: `configuration.json`."""

from schemas.base import StrictModel


class ChosenKernel(StrictModel):
    """One kernel at one place of the program."""

    name: str
    """As in `listing.txt` and `instructions.parquet`."""
    instructions: list[str]
    """Names of the instructions that it computes, in program order; the last one is its root."""
    kernel_class: str
    """convolution, dot, reduction, ..."""
    fingerprint: str
    """The same for kernels that compile to the same code."""
    kernel: int
    """Row of `chosen.parquet`, which has each fingerprint once."""
    executions: int
    """How often it runs at this place: more than once in a loop."""
    loops: dict[str, int]
    """Extents of its loops; those that it lacks are left out. Without a matrix or window op they are the output's
    dimensions, then the reduced ones."""
    tile: dict[str, int]
    """Extent of each of these loops that is held on chip at once."""
    seconds: float
    """Of one execution, by the target."""
    default_tile: dict[str, int]
    """The compiler's choice for this kernel."""
    default_s: float
    """Seconds of one execution with it, by the target."""
    in_default_configuration: bool
    """Whether the default configuration has a kernel of the same instructions here."""


class ChosenConfiguration(StrictModel):
    """Every kernel of the program with its instructions and its tile, in program order."""

    workload: str
    """Id of the program."""
    batch: int
    """Samples that a core works on at once."""
    hardware: str
    """The target's hardware variant."""
    runtime_s: float
    """Of the program, by the target (seconds)."""
    default_s: float
    """The same under the default configuration (seconds)."""
    kernels: list[ChosenKernel]
    """Instructions in none of them are parameters, constants and reshapes that cost nothing."""
