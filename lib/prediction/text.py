"""Predictions as text for the terminal."""

import numpy as np
import pandas as pd

from lib.program.kernels import ABSENT, Kernels
from lib.schedule.loop_nest import loop_names
from schemas.dataset_artifact import TILE_COLUMNS

MICROSECONDS = 1e6


def total_text(table: pd.DataFrame, batch: int | None, cores: int) -> str:
    """The program's runtime on one core by the model and the analytical one, and samples a second of all cores.

    `batch`: samples of a run; None where it is not known.
    """
    predicted_s = float(table["predicted_total_s"].sum())
    analytical_s = float((table["analytical_s"] * table["executions"]).sum())
    kernels, runs = len(table), int(table["executions"].sum())
    text = (
        f"{kernels} kernel{'s' * (kernels > 1)}, {runs} execution{'s' * (runs > 1)}:"
        f" {predicted_s * MICROSECONDS:,.1f} us"
        f" ({analytical_s * MICROSECONDS:,.1f} us by the analytical model)"
    )
    if batch is not None:
        text += f"; {cores * batch / predicted_s:,.0f} samples/s on " + ("1 core" if cores == 1 else f"{cores} cores")
    return text


def runtime_text(table: pd.DataFrame, most: int) -> str:
    """The first `most` rows of :func:`lib.prediction.kernel_table.runtime_table`; microseconds of all executions."""
    width = max(len(name) for name in ["kernel", *table["root"].head(most)])
    lines = [
        f"{'number':>6}  {'kernel':{width}}  {'class':21}  {'executions':>10}  {'predicted us':>12}  {'analytical':>12}"
        f"  {'share':>6}"
    ]
    for row in table.head(most).itertuples(index=False):
        lines.append(
            f"{row.kernel:6}  {row.root:{width}}  {row.kernel_class:21}  {row.executions:10}"
            f"  {row.predicted_total_s * MICROSECONDS:12.1f}"
            f"  {row.analytical_s * row.executions * MICROSECONDS:12.1f}  {100 * row.share:5.1f}%"
        )
    if len(table) > most:
        lines.append(f"{'':6}  ({len(table) - most} more; --top {len(table)} shows all, --csv FILE writes all)")
    return "\n".join(lines)


def tile_text(kernels: Kernels, tiles: pd.DataFrame, shown: pd.DataFrame) -> str:
    """Chosen and default tile of the kernels of `shown` (rows of the runtime table) where they differ."""
    default, chosen = (tiles[[f"{name}_{c}" for c in TILE_COLUMNS]].to_numpy() for name in ("default", "chosen"))
    differs = (default != chosen).any(axis=1)
    choice = tiles["tiles"].to_numpy() > 1
    lines = [
        f"The tile model chooses another tile than the compiler for {int(differs.sum())} of the {int(choice.sum())}"
        " kernels with a choice"
    ]
    for number, root in zip(shown["kernel"], shown["root"], strict=True):
        if differs[number]:
            lines += [
                f"{number:6}  {root} ({tiles['tiles'][number]} tiles)",
                f"{'':8}chosen   {tile_words(kernels, number, chosen[number])}",
                f"{'':8}default  {tile_words(kernels, number, default[number])}",
            ]
    return "\n".join(lines)


def tile_words(kernels: Kernels, k: int, tile: np.ndarray) -> str:
    """The loops that the tile cuts, e.g. `out_h 14 of 56, out_c 128 of 256`."""
    cut = [
        f"{name} {tile[slot]} of {kernels.loops[k, slot]}"
        for slot, name in enumerate(loop_names(kernels, k))
        if kernels.loop_kind[k, slot] != ABSENT and tile[slot] < kernels.loops[k, slot]
    ]
    return ", ".join(cut) or "the whole kernel at once"
