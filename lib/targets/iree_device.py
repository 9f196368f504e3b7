"""Compiles MLIR for the local CPU with IREE and runs it. The one place that imports iree."""

import re
import tempfile
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

try:
    import iree.runtime as runtime
    from iree.compiler import tools
    from iree.compiler.api import Output, Session, Source
    from iree.compiler.version import VERSION as COMPILER_VERSION
    from iree.runtime.version import VERSION as RUNTIME_VERSION
except ImportError as error:
    raise ImportError(
        f"runtime: iree needs packages that are not installed ({error}); install them with"
        " 'pip install -r requirements-devices.lock'"
    ) from error

FLAGS = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
    "--iree-input-type=none",
)
INPUT_SEED = 0
"""Of the values of inputs: standard normal, the same for every module."""
KEPT = 4096
"""Compiled modules that are kept, of some 15 KB each, so that a second pass compiles nothing."""
LONGEST_MESSAGE = 300
"""Characters of a compiler's message: behind them it lists all features of the CPU."""


class IreeError(RuntimeError):
    """A module that IREE doesn't compile, or compiles otherwise than it was told."""


def load(text: str, platform: str = "cpu", threads: int = 1) -> Callable[[int], None]:
    """Compile a module for the local CPU and make its inputs. The result runs it n times, outputs awaited.

    One thread: in the caller ('local-sync'); several: in a pool ('local-task'). Raises IreeError.
    """
    _check_platform(platform)
    run = _Session(text, threads)
    run.make_inputs()
    return run.times


def outputs(text: str, *inputs: np.ndarray) -> np.ndarray:
    """The module's result for inputs (float32, in the shapes of the text). Raises IreeError."""
    session = _Session(text, 1)
    session.give(inputs)
    return session.result()


def device(platform: str = "cpu") -> dict[str, str]:
    """The CPU's name and IREE's versions. Raises IreeError for another platform."""
    _check_platform(platform)
    return {"device": _cpu_name(), "iree-compiler": COMPILER_VERSION, "iree-runtime": RUNTIME_VERSION}


def chosen_sizes(text: str, loops: int) -> tuple[list[int], list[int]]:
    """The sizes of `distribution` and `vector_reduction` that a module's op of so many loops is compiled with.

    0: the whole loop. Raises IreeError, also where IREE runs over other loops.
    """
    chosen = _sizes_of_op(text, _compile(text)[1])
    if chosen is None:
        raise IreeError("IREE rewrites the op and tiles other loops than those of the text")
    levels = {level: _numbers(sizes) for level, sizes in re.findall(r"(\w+) = \[([^\]]*)\]", chosen)}
    return levels.get("distribution", [0] * loops), levels.get("vector_reduction", [0] * loops)


def _sizes_of_op(text: str, configuration: str) -> str | None:
    """The lowering configuration of the op that walks its arrays as the text says; None: there is no such op."""
    maps = _maps(text)[0]
    for op in re.findall(r"linalg\.generic [^\n]*", configuration):
        sizes = re.search(r"#iree_cpu\.lowering_config<([^>]*)>", op)
        if sizes is not None and _maps(op) == [maps]:
            return sizes.group(1)
    return None


def _maps(text: str) -> list[str]:
    return re.findall(r"indexing_maps = \[(.*?)\],\s*iterator_types", text)


def _numbers(sizes: str) -> list[int]:
    return [int(size) for size in sizes.split(",")]


def _check_platform(platform: str) -> None:
    if platform != "cpu":
        raise IreeError(f"platform: {platform}; IREE's tiles are measured on cpu alone")


def _cpu_name() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown CPU"


@lru_cache(maxsize=KEPT)
def _compiled(text: str) -> bytes:
    return _compile(text)[0]


def _compile(text: str) -> tuple[bytes, str]:
    """The compiled module and what the compiler says about tiles of its dispatches."""
    with tempfile.TemporaryDirectory() as folder:
        compiled = _compile_here(text, [*FLAGS, f"--iree-hal-dump-executable-configurations-to={folder}"])
        configuration = "".join(file.read_text() for file in sorted(Path(folder).iterdir()))
    if compiled is None:
        raise IreeError(f"IREE can't compile it: {_first_error(_complaints(text))}")
    told = re.search(r"#iree_cpu\.lowering_config<([^>]*)>", text)
    if told is not None and told.group(1) != _sizes_of_op(text, configuration):
        raise IreeError(f"IREE rewrites the op, so that its tile is lost or means other loops: {told.group(1)}")
    return compiled, configuration


def _compile_here(text: str, flags: Sequence[str]) -> bytes | None:
    """Compiled in this process, which saves the 0.1 s that a compiler of its own takes to start; None: it fails."""
    with Session() as session:
        session.set_flags(*flags)
        invocation = session.invocation()
        if not invocation.parse_source(Source.wrap_buffer(session, text.encode())) or not invocation.execute():
            return None
        with Output.open_membuffer() as output:
            invocation.output_vm_bytecode(output)
            return bytes(output.map_memory())


def _complaints(text: str) -> str:
    """What the compiler says about a text that it doesn't take: within this process it says that to the console."""
    try:
        tools.compile_str(text, extra_args=FLAGS)
    except tools.CompilerToolError as error:
        return str(error)
    return "it compiles in a process of its own"


def _first_error(message: str) -> str:
    """The first line that tells an error, without the place in the text."""
    lines = message.splitlines()
    first = next((line for line in lines if "error:" in line), lines[0] if lines else "no message")
    return first.split("error:")[-1].strip()[:LONGEST_MESSAGE]


@lru_cache(maxsize=2)
def _configuration(threads: int) -> runtime.Config:
    if threads > 1:
        runtime.flags.parse_flags(f"--task_topology_group_count={threads}")
    return runtime.Config("local-task" if threads > 1 else "local-sync")


class _Session:
    """A module on the device."""

    def __init__(self, text: str, threads: int):
        configuration = _configuration(threads)
        self._device = configuration.device
        module = runtime.VmModule.copy_buffer(configuration.vm_instance, _compiled(text))
        modules = [*configuration.default_vm_modules, module]
        self._context = runtime.VmContext(configuration.vm_instance, modules)
        self._function: Any = module.lookup_function("main")
        signature = self._function.reflection["iree.abi.declaration"].split("->")[0]
        self._shapes = [
            tuple(int(extent) for extent in extents.split("x"))
            for extents in re.findall(r"tensor<([0-9x]+)xf32>", signature)
        ]
        self._inputs = runtime.VmVariantList(len(self._shapes))

    def make_inputs(self) -> None:
        """Inputs of standard normal values."""
        generator = np.random.default_rng(INPUT_SEED)
        self.give([generator.standard_normal(shape, dtype=np.float32) for shape in self._shapes])

    def give(self, inputs) -> None:
        """Put the inputs on the device."""
        for array in inputs:
            self._inputs.push_ref(
                self._device.allocator.allocate_buffer_copy(
                    memory_type=runtime.MemoryType.DEVICE_LOCAL, allowed_usage=runtime.BufferUsage.DEFAULT,
                    device=self._device, buffer=np.ascontiguousarray(array, dtype=np.float32),
                    element_type=runtime.HalElementType.FLOAT_32,
                )
            )  # fmt: skip

    def times(self, number: int) -> None:
        """Run so often; a call comes back when its output is there."""
        for _ in range(number):
            self._run()

    def _run(self) -> Any:
        results = runtime.VmVariantList(1)
        self._context.invoke(self._function, self._inputs, results)
        return results

    def result(self) -> np.ndarray:
        """The output of one run."""
        view = self._run().get_as_ref(0).deref(runtime.HalBufferView)
        return np.array(runtime.DeviceArray(self._device, view, implicit_host_transfer=True).to_host())
