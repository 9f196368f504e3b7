"""The peers and the simulator on the same layers, one core each, in the same run.

What is compared: a peer's unit of work beside one of ours. SCALE-Sim simulates a layer under one mapping, address by
address; ZigZag allocates memories for one order of a layer's loops and costs it; the simulator prices a kernel under
one schedule, with everything that docs/simulator.md lists (transfers, pipeline of tiles, arrays, vector unit).
"""

import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from lib.benchmark.measurement import Measurement, rates, repeated_s
from lib.benchmark.peers.layers import LAYERS, Layer, convolution
from lib.benchmark.setting import Setting, preset_datapath
from lib.code_fingerprint import ROOT
from lib.cost.simulator import Simulator
from lib.cost.simulator_constants import FOLDS_APART
from lib.fidelity.scalesim import Layer as ScaleSimRow
from lib.fidelity.zigzag import tpu_like
from lib.hardware.datapath import Datapath
from lib.schedule.tiles import tile_space

ENVIRONMENT = ROOT / ".venv-peers"
"""The peers' own, made by `make bench` from `requirements-peers.lock`; `ready` lies in it once it is whole."""
MIB = 2**20
GRACE_S = 120.0
"""A peer that has begun its last layer within the budget may take so much longer."""


class PeersMissing(Exception):
    """The peers' environment is not there."""


def peer_ratios(setting: Setting) -> list[Measurement]:
    """Both peers; raises PeersMissing where they could not be installed."""
    if not (ENVIRONMENT / "ready").exists():
        raise PeersMissing(
            "left out: SCALE-Sim and ZigZag are not installed; `make bench` does that where there is a package index"
        )
    layers = LAYERS[: setting.peer_layers]
    return [*scalesim_figures(layers, setting), *zigzag_figures(layers, setting)]


def scalesim_figures(layers: tuple[Layer, ...], setting: Setting) -> list[Measurement]:
    """128 x 128, weight-stationary, CALC mode; also whether the compute cycles are the same."""
    size = 128
    request = {"rows": size, "columns": size, "dataflow": "ws"}
    answers = run_peer("run_scalesim.py", request, layers, setting.peer_budget_s)
    theirs = {answer["name"]: 1.0 / answer["seconds"] for answer in answers}
    errors = [_cycle_error_pct(layer, size, answer) for layer, answer in zip(layers, answers, strict=False)]
    error = Measurement(
        "bench.peer.scalesim.compute_cycles_error_pct",
        "largest difference of compute cycles to SCALE-Sim, folds not overlapped", "%", (max(errors),),
    )  # fmt: skip
    datapath = scalesim_array(size)
    return [*_beside("scalesim", "SCALE-Sim", "layers", "layers", theirs, layers, datapath), error]


def zigzag_figures(layers: tuple[Layer, ...], setting: Setting) -> list[Measurement]:
    """Its own `tpu_like` accelerator, 32 x 32, weight-stationary."""
    answers = run_peer("run_zigzag.py", {}, layers, setting.peer_budget_s)
    theirs = {answer["name"]: answer["evaluations"] / answer["seconds"] for answer in answers}
    return _beside("zigzag", "ZigZag", "mappings", "loop orders", theirs, layers, tpu_like())


def run_peer(script: str, request: dict[str, Any], layers: tuple[Layer, ...], budget_s: float) -> list[dict[str, Any]]:
    """What a peer's program answers, a dictionary a layer, for the layers that it began within the budget.

    Raises RuntimeError with the end of its error output where it fails.
    """
    request = request | {"budget_s": budget_s, "layers": [layer._asdict() for layer in layers]}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "request.json"
        file.write_text(json.dumps(request), encoding="utf-8")
        command = [str(ENVIRONMENT / "bin" / "python"), str(Path(__file__).parent / script), str(file)]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False,
            timeout=budget_s + GRACE_S,
        )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{script} failed: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)


def scalesim_array(size: int) -> Datapath:
    """TPU-v3 with one core of one `size` x `size` array, one byte an element, and SCALE-Sim's three SRAMs of 1 MiB."""
    return preset_datapath(
        "tpu-v3", cores=1, pes_x=1, pes_y=1, systolic_rows=size, systolic_columns=size, global_buffer_bytes=3 * MIB,
        number_format="int8",
    )  # fmt: skip


def our_rate(layer: Layer, datapath: Datapath, tiles: int = 256, least_s: float = 0.2) -> float:
    """Schedule rows a second of the simulator on one layer, one core: up to `tiles` tiles of its tile space."""
    kernels, simulator = convolution(layer), Simulator()
    schedules = tile_space(kernels, datapath, tiles, seed=1)
    seconds = repeated_s(lambda: simulator.cost(kernels, schedules, datapath), repetitions=10_000, budget_s=least_s)
    return statistics.median(rates(len(schedules.kernel), seconds))


def _beside(
    peer: str, title: str, unit: str, work: str, theirs: dict[str, float], layers: tuple[Layer, ...], datapath: Datapath
) -> list[Measurement]:
    """The peer's rate, ours, and their ratio, layer by layer. `theirs`: units of work a second by layer."""
    ours = {layer.name: our_rate(layer, datapath) for layer in layers if layer.name in theirs}
    ratios = tuple(ours[name] / theirs[name] for name in theirs)
    ran = f"{len(theirs)} of ResNet-50's {len(LAYERS)} convolution shapes"
    note = f"{ran}, in the time that there was: {', '.join(theirs)}" if len(theirs) < len(LAYERS) else ran
    where = f"{datapath.systolic_rows}x{datapath.systolic_columns} array, one core"
    name = f"bench.peer.{peer}"
    return [
        Measurement(f"{name}.{unit}_per_s", f"{title}: {work}, {where}", "1/s", tuple(theirs.values()), note),
        Measurement(f"{name}.our_rows_per_s", f"simulator: rows, same layers, {where}", "1/s", tuple(ours.values())),
        Measurement(f"{name}.ratio", f"simulator rows over {title} {work}, same layers", "", ratios),
    ]


def _cycle_error_pct(layer: Layer, size: int, answer: dict[str, Any]) -> float:
    theirs = answer["compute_cycles"]
    row = ScaleSimRow(layer.name, *layer.products, "ws", size, size, theirs, "")
    return abs(100.0 * (row.our_cycles(FOLDS_APART) / theirs - 1.0))
