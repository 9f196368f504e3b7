"""Predicts a program's runtime with trained models: `python -m lib.predict PROGRAM --model RESULTS/model/M/seed-N`.

PROGRAM is a folder RESULTS/program/WORKLOAD or a file: HLO, StableHLO (.mlir), a Keras file (.keras), a SavedModel.
Prints the runtime by kernel and in total for one core; with a tile model also the tiles that it chooses where they
differ from the compiler's default.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from lib.command_line import run_command
from lib.fusion.default_kernels import default_kernels
from lib.job import print_answer
from lib.prediction import load_model
from lib.prediction.asked_hardware import AskedHardware, hardware_named, training_note
from lib.prediction.asked_program import batch_of, program_at
from lib.prediction.kernel_table import runtime_table, tile_table
from lib.prediction.text import runtime_text, tile_text, total_text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m lib.predict", description=__doc__)
    parser.add_argument("program", type=Path, metavar="PROGRAM", help="a traced program's folder or a file")
    parser.add_argument("--model", type=Path, required=True, metavar="FOLDER", help="predicts seconds")
    parser.add_argument("--tile-model", type=Path, metavar="FOLDER", help="chooses tiles")
    parser.add_argument("--hardware", action="append", metavar="NAME", help="a preset or of --study; default tpu-v3")
    parser.add_argument("--study", type=Path, metavar="FILE", help="a study whose hardware may be named")
    parser.add_argument("--batch", type=_positive, metavar="N", help="instead of the traced program's own")
    parser.add_argument("--sizing", choices=("bfloat16", "as-traced"), default="bfloat16", help="of a file")
    parser.add_argument("--trip-count", type=_positive, metavar="N", help="of a file's loops that need it")
    parser.add_argument("--top", type=_positive, default=20, metavar="N", help="kernels to print; default 20")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="all kernels go there too")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is below 1")
    return number


def answer(asked: argparse.Namespace) -> str:
    """The text that the shell gets; writes the CSV file. Raises errors in words."""
    hardware = _one_hardware(asked.hardware, asked.study)
    models = [load_model(asked.model)] + ([load_model(asked.tile_model)] if asked.tile_model else [])
    _check_models(models, asked)
    program = program_at(asked.program, batch=asked.batch, sizing=asked.sizing, trip_count=asked.trip_count)
    found = default_kernels(program)
    table = runtime_table(found, models[0], hardware.datapath)
    notes = [training_note(learned.model, hardware) for learned in models]
    batch = batch_of(asked.program, program)
    lines = [
        program.name + (f", batch {batch}" if batch else "") + f", one core of {hardware.id}, default tiles",
        *(f"Note: {note}." for note in notes if note),
        total_text(table, batch, hardware.datapath.cores),
        "",
        runtime_text(table, asked.top),
    ]
    if asked.tile_model:
        tiles = tile_table(found.kernels, models[1], hardware.datapath)
        lines += ["", tile_text(found.kernels, tiles, table.head(asked.top))]
        table = table.merge(tiles, on="kernel", how="left")
    if asked.csv:
        table.to_csv(asked.csv, index=False)
        lines += ["", f"All {len(table)} kernels: {asked.csv}"]
    return "\n".join(lines)


def _one_hardware(names: list[str] | None, study: Path | None) -> AskedHardware:
    if names and len(names) > 1:
        raise ValueError(f"--hardware was given {', '.join(names)}; ask about one hardware variant at a time")
    return hardware_named(names[0] if names else "tpu-v3", study)


def _check_models(models: list, asked: argparse.Namespace) -> None:
    from lib.prediction.model_folder import require_seconds, require_tiles

    require_seconds(models[0], asked.model)
    if asked.tile_model:
        require_tiles(models[1], asked.tile_model)


def main(arguments: Sequence[str]) -> int:
    """Print the prediction; 1 and what is wrong on standard error if something is."""
    asked = _parser().parse_args(arguments)
    return print_answer(lambda: answer(asked))


if __name__ == "__main__":
    run_command(main)
