"""Compiles and runs modules by XLA, on the CPU or a GPU. The one place that imports jax.

jax's public parts are used (`jax.extend.backend`, `jax.device_put`), and two methods of the client that they return:
`compile_and_load` of a module's text, and `execute`, `cost_analysis` of what it gives. A contract test runs them.

Threads: XLA's CPU client reads their number from the environment variable NPROC when it is made, once a process;
without it there is one for each core that the process may run on.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import jax
import jaxlib
import numpy as np
from jax.extend import backend

from lib.targets.xla_repeat import Argument, repeated, signature

SEED = 0
COMPILED = 512
"""Executables that are kept, by text."""
MOST_RUNS = 2**31 - 1
"""Of one call: what the loop's counter holds."""
ELEMENT_TYPES = {
    "i1": np.bool_, "i8": np.int8, "ui8": np.uint8, "i16": np.int16, "ui16": np.uint16, "i32": np.int32,
    "ui32": np.uint32, "i64": np.int64, "ui64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64,
    "bf16": jax.numpy.bfloat16,
}  # fmt: skip


def load(text: str, platform: str, threads: int) -> Callable[[int], None]:
    """Compile a module of `lib.targets.xla_module` and make its inputs, the same ones each time.

    The result runs it n times, one run after the other, and comes back when the outputs of the last are there. On the
    CPU the runs are counted by XLA (`lib.targets.xla_repeat`); on a GPU, where each step of such a loop would wait for
    the host, they are enqueued one by one, so that a kernel shorter than a launch is timed as long as a launch.
    `threads` must be in NPROC when the first module is loaded. Raises RuntimeError for an unknown platform, XLA's own
    errors for what it can't compile.
    """
    client = _client(platform)
    (device, *_) = client.devices()
    inputs = [jax.device_put(values, device) for values in inputs_of(text)]
    if platform == "cpu":
        executable = _compiled(repeated(text), platform)

        def run(n: int) -> None:
            while n > 0:
                runs = jax.device_put(np.int32(min(n, MOST_RUNS)), device)
                for output in executable.execute([runs, *inputs]):
                    output.block_until_ready()
                n -= MOST_RUNS

        return run

    executable, handed = (
        _compiled(text, platform),
        {one.result: number for number, one in enumerate(signature(text).arguments) if one.result >= 0},
    )

    def enqueue(n: int) -> None:
        outputs = []
        for _ in range(n):
            outputs = executable.execute(inputs)
            for result, argument in handed.items():
                inputs[argument] = outputs[result]  # its buffer is the output's now
        for output in outputs:
            output.block_until_ready()

    return enqueue


def outputs(text: str, platform: str, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """The results of one run of a module on the given inputs."""
    (device, *_) = _client(platform).devices()
    arrays = [jax.device_put(values, device) for values in inputs]
    return [np.asarray(output) for output in _compiled(text, platform).execute(arrays)]


def inputs_of(text: str) -> list[np.ndarray]:
    """The inputs that a module is run on: uniform in the range that stands beside each parameter."""
    rng = np.random.default_rng(SEED)
    return [_drawn(argument, rng) for argument in signature(text).arguments]


def device(platform: str) -> dict[str, str]:
    """Name of the device and versions of what compiles for it. Raises RuntimeError where there is no such platform."""
    client = _client(platform)
    (one, *_) = client.devices()
    return {
        "name": one.device_kind,
        "platform": client.platform,
        "platform_version": " ".join(client.platform_version.split()),
        "jax": jax.__version__,
        "jaxlib": jaxlib.__version__,
    }


def cost_analysis(text: str, platform: str = "cpu") -> dict[str, float]:
    """XLA's own analysis of the compiled module: `flops` and `bytes` read and written by its kernels."""
    found = _compiled(text, platform).cost_analysis()
    return {"flops": float(found.get("flops", 0.0)), "bytes": float(found.get("bytes accessed", 0.0))}


@cache
def _client(platform: str) -> Any:
    jax.config.update("jax_cpu_enable_async_dispatch", False)  # runs in the calling thread, which is pinned
    jax.config.update("jax_enable_x64", True)  # else 64-bit inputs would be made 32-bit ones
    try:
        return backend.get_backend(platform)
    except RuntimeError as error:
        raise RuntimeError(f"platform '{platform}': XLA finds no such device here; cpu is always there") from error


@lru_cache(maxsize=COMPILED)
def _compiled(text: str, platform: str) -> Any:
    client = _client(platform)
    return client.compile_and_load(text, client.devices()[:1])


def _drawn(argument: Argument, rng: np.random.Generator) -> np.ndarray:
    *extents, element = argument.type.removeprefix("tensor<").removesuffix(">").split("x")
    shape = [int(extent) for extent in extents]
    dtype = np.dtype(ELEMENT_TYPES[element])
    low, high = argument.low, argument.high
    if element.startswith(("f", "bf")):
        return (low + (high - low) * rng.random(shape, dtype=np.float32)).astype(dtype)
    return rng.integers(int(low), int(high), shape).astype(dtype)
