"""Runs SCALE-Sim on some layers; a program for the peers' own environment, which imports nothing of this repository.

Usage: `python run_scalesim.py REQUEST`, a JSON file with `rows`, `columns`, `dataflow`, `budget_s` and `layers` (each
`name out_height out_width in_channels out_channels kernel stride`). Prints one JSON list: for each layer that was
begun within the budget `name`, `seconds` and `compute_cycles`.

CALC mode: bandwidth is what the layer asks for, so cycles are those of the array alone.
"""

import contextlib
import io
import json
import sys
import tempfile
import time
from pathlib import Path

from scalesim.scale_sim import scalesim

CONFIGURATION = """[general]
run_name = run
[architecture_presets]
ArrayHeight = {rows}
ArrayWidth = {columns}
IfmapSramSzkB = 1024
FilterSramSzkB = 1024
OfmapSramSzkB = 1024
IfmapOffset = 0
FilterOffset = 10000000
OfmapOffset = 20000000
Dataflow = {dataflow}
Bandwidth = 10
ReadRequestBuffer = 32
WriteRequestBuffer = 32
[layout]
IfmapCustomLayout = False
IfmapSRAMBankBandwidth = 10
IfmapSRAMBankNum = 10
IfmapSRAMBankPort = 2
FilterCustomLayout = False
FilterSRAMBankBandwidth = 10
FilterSRAMBankNum = 10
FilterSRAMBankPort = 2
[sparsity]
SparsitySupport = false
[run_presets]
InterfaceBandwidth = CALC
UseRamulatorTrace = False
"""
TOPOLOGY_HEADER = "Layer name, IFMAP height, IFMAP width, Filter height, Filter width, Channels, Filters, Strides,\n"
LAYOUT = "Layer name," + " unused," * 14 + "\n{name}," + " 1," * 14 + "\n"
"""A layout file is demanded even where layouts are off."""


def run_layer(request: dict, layer: dict) -> dict:
    """One layer; inputs are given already padded, since SCALE-Sim knows no padding."""
    kernel, stride = layer["kernel"], layer["stride"]
    height, width = ((layer[side] - 1) * stride + kernel for side in ("out_height", "out_width"))
    with tempfile.TemporaryDirectory() as folder:
        configuration, topology, layout = (Path(folder) / name for name in ("array.cfg", "topology.csv", "layout.csv"))
        configuration.write_text(CONFIGURATION.format(**request))
        sizes = (height, width, kernel, kernel, layer["in_channels"], layer["out_channels"], stride)
        topology.write_text(TOPOLOGY_HEADER + f"{layer['name']}, " + "".join(f"{size}, " for size in sizes) + "\n")
        layout.write_text(LAYOUT.format(name=layer["name"]))
        started = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            run = scalesim(
                save_disk_space=True, verbose=False, config=str(configuration), topology=str(topology),
                layout=str(layout),
            )  # fmt: skip
            run.run_scale(top_path=folder)
        seconds = time.perf_counter() - started
        (simulated,) = run.runner.single_layer_sim_object_list
    _, compute_cycles, *_ = simulated.get_compute_report_items()
    return {"name": layer["name"], "seconds": seconds, "compute_cycles": int(compute_cycles)}


def main(request: dict) -> list[dict]:
    """All layers, as long as the budget lasts."""
    done: list[dict] = []
    end = time.perf_counter() + request["budget_s"]
    for layer in request["layers"]:
        if time.perf_counter() < end:
            done.append(run_layer(request, layer))
    return done


if __name__ == "__main__":
    print(json.dumps(main(json.loads(Path(sys.argv[1]).read_text()))))
