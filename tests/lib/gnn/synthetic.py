"""Small shards with made-up runtimes, for tests of the learned model."""

import numpy as np
import pandas as pd

from lib.dataset.shards import Shard
from lib.hardware.datapath import Datapath
from lib.program.kernel_builder import KernelsBuilder
from lib.program.kernels import LOOPS, Kernels
from tests.kernel_examples import convolution_relu, depthwise, dot, elementwise, max_pool, reduction

TPU_V3_CORE = Datapath(
    clock_hz=0.94e9, cores=2, pes_x=2, pes_y=1, systolic_rows=128, systolic_columns=128, vector_lanes=512,
    l1_shared=True, l1_input_bytes=21_845, l1_weight_bytes=21_845, l1_output_bytes=21_846, l2_kind=0,
    l2_input_multiplier=1, l2_weight_multiplier=1, l2_output_multiplier=1, global_buffer_bytes=16 * 2**20,
    dram_kind=1, dram_channels=8, dram_bytes_per_s=450e9, element_bytes=2, depthwise_mapping=0, vector_path=0,
    array_efficiency=1.0, register_sublanes=8, register_lanes=128, native_batch=64,
)  # fmt: skip

PARTS = ("compute_s", "steps", "transfer_s")

SPEC = {
    "id": "test", "task": "tile", "join": "late", "tile_features": "projected",
    "static_features": "kernel", "graph_network": "graphsage", "edges": "both", "layers": 2, "width": 16,
    "reduction": "column-wise", "loss": "pairwise-logistic", "knowledge": "analytical", "steps": 60,
    "batch_kernels": 8, "tiles_per_kernel": 6, "learning_rate": 3e-3, "patience": 10, "hardware": ["tpu-v3"],
}  # fmt: skip


def kernels(count: int, seed: int) -> Kernels:
    """Kernels of all classes in random sizes."""
    rng = np.random.default_rng(seed)
    builder = KernelsBuilder()
    for position in range(count):
        size, channels = int(rng.integers(7, 57)), int(rng.integers(1, 9)) * 32
        row = [
            lambda size=size, channels=channels: convolution_relu(height=size, width=size, out_c=channels),
            lambda size=size, channels=channels: depthwise(height=size, width=size, channels=channels),
            lambda size=size, channels=channels: dot(rows=size, columns=channels),
            lambda size=size, channels=channels: elementwise(height=size, width=size, channels=channels),
            lambda size=size, channels=channels: reduction(height=size, width=size, channels=channels),
            lambda size=size, channels=channels: max_pool(height=size, width=size, channels=channels),
        ][position % 6]()
        builder.add(row)
    return builder.build()


def shard(task: str, workload: str = "net", count: int = 12, rows: int = 10, seed: int = 0) -> Shard:
    """A shard whose times depend on the tile: work in whole registers, plus a cost for each step."""
    rng = np.random.default_rng(seed)
    k = kernels(count, seed)
    rows_per_kernel = rows if task == "tile" else 1
    kernel = np.repeat(np.arange(k.number, dtype=np.int32), rows_per_kernel)
    parts = rng.integers(1, 9, size=(len(kernel), 8))
    tile = np.maximum(-(-k.loops[kernel] // parts), 1).astype(np.int32)
    steps = np.prod(-(-k.loops[kernel] // tile).astype(np.float64), axis=1)
    work = np.prod(np.ceil(tile / 8) * 8.0, axis=1) * steps
    compute_s, transfer_s = work * 1e-14, np.prod(k.loops[kernel].astype(np.float64), axis=1) * 1e-14
    frame = pd.DataFrame({"kernel": kernel})
    for slot, loop in enumerate(LOOPS):
        frame[f"tile_{loop}"] = tile[:, slot]
    frame["is_default"] = np.diff(kernel, prepend=-1) > 0
    frame["runtime_s"] = np.maximum(compute_s, transfer_s) + steps * 2e-7
    frame["analytical_s"] = np.maximum(compute_s, transfer_s)
    frame["analytical_compute_s"], frame["analytical_transfer_s"] = compute_s, transfer_s
    frame["analytical_steps"] = steps
    table = pd.DataFrame(
        {
            "kernel": np.arange(k.number, dtype=np.int32),
            "kernel_class": ["x"] * k.number,
            "root": ["y"] * k.number,
            "default_executions": np.ones(k.number, np.int32),
        }
    )
    configurations = pd.DataFrame(
        {"configuration": np.int32(0), "kernel": table["kernel"], "executions": np.ones(k.number, np.int32)}
    )
    return Shard(k, table, frame, configurations, workload, "tpu-v3", TPU_V3_CORE, task)
