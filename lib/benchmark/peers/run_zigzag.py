"""Runs ZigZag on some layers; a program for the peers' own environment, which imports nothing of this repository.

Usage: `python run_zigzag.py REQUEST`, a JSON file with `budget_s` and `layers` (each `name out_height out_width
in_channels out_channels kernel stride`). Prints one JSON list: for each layer that was begun within the budget
`name`, `seconds` and `evaluations`, the loop orders whose memories were allocated and whose cost was computed.

The accelerator and the spatial mapping are ZigZag's own `tpu_like` (32 x 32, weight-stationary), as shipped.
"""

import contextlib
import io
import json
import logging
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml
import zigzag
from zigzag.api import get_hardware_performance_zigzag
from zigzag.stages.evaluation.cost_model_evaluation import CostModelStage

INPUTS = Path(zigzag.__file__).parent / "inputs"
BITS = {"W": 8, "I": 8, "O": 16, "O_final": 8}


class Counter:
    """Counts runs of ZigZag's cost model."""

    def __init__(self) -> None:
        self.evaluations = 0
        original = CostModelStage.run

        def counted(stage: CostModelStage) -> Any:
            self.evaluations += 1
            return original(stage)

        CostModelStage.run = counted


def workload(layer: dict) -> list[dict]:
    """A convolution in ZigZag's own words."""
    kernel, stride = layer["kernel"], layer["stride"]
    return [
        {
            "id": 0,
            "name": layer["name"],
            "operator_type": "Conv",
            "equation": "O[b][k][oy][ox]+=W[k][c][fy][fx]*I[b][c][iy][ix]",
            "dimension_relations": [f"ix={stride}*ox+1*fx", f"iy={stride}*oy+1*fy"],
            "loop_dims": ["B", "K", "C", "OY", "OX", "FY", "FX"],
            "loop_sizes": [
                1, layer["out_channels"], layer["in_channels"], layer["out_height"], layer["out_width"], kernel, kernel,
            ],
            "operand_precision": BITS,
            "operand_source": {"I": 0, "W": 0},
        }
    ]  # fmt: skip


def run_layer(layer: dict, mapping: Path, counter: Counter) -> dict:
    """One layer, all loop orders that ZigZag's search (LOMA, at most six loop prime factors) looks at."""
    counter.evaluations = 0
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            get_hardware_performance_zigzag(
                workload(layer), str(INPUTS / "hardware" / "tpu_like.yaml"), str(mapping), opt="latency",
                dump_folder=folder, pickle_filename=f"{folder}/result.pickle", loma_show_progress_bar=False,
            )  # fmt: skip
        seconds = time.perf_counter() - started
    return {"name": layer["name"], "seconds": seconds, "evaluations": counter.evaluations}


def main(request: dict) -> list[dict]:
    """All layers, as long as the budget lasts."""
    logging.disable(logging.CRITICAL)
    counter = Counter()
    done: list[dict] = []
    end = time.perf_counter() + request["budget_s"]
    with tempfile.TemporaryDirectory() as folder:
        # The shipped mapping file also has entries of an example network; only its default is wanted.
        mappings = yaml.safe_load((INPUTS / "mapping" / "tpu_like.yaml").read_text())
        mapping = Path(folder) / "mapping.yaml"
        mapping.write_text(yaml.safe_dump([entry for entry in mappings if entry["name"] == "default"]))
        for layer in request["layers"]:
            if time.perf_counter() < end:
                done.append(run_layer(layer, mapping, counter))
    return done


if __name__ == "__main__":
    print(json.dumps(main(json.loads(Path(sys.argv[1]).read_text()))))
