"""Figure 3: FLOPs of a model over the DRAM bytes that it needs."""

from collections.abc import Iterator, Mapping
from itertools import groupby

from lib.fidelity.fast.conventions import figure_3_bytes, fused_bytes, own_bytes
from lib.fidelity.fast.published import beside
from lib.fidelity.fast.regions import Region, fast_regions
from lib.fidelity.figure import Figure
from lib.program.program import Program
from schemas.reference import load_reference

TABLE = "fast-intensity"
BATCH = 64
"""Of all bars but one."""


def intensity_figures(programs: Mapping[str, Program]) -> Iterator[Figure]:
    """Every bar, and without a counterpart the intensity as our kernels count."""
    for name, row in load_reference().tables[TABLE].rows.items():
        if name not in programs:
            continue
        program = programs[name].with_batch(BATCH)
        bars = batch_intensities(program) | {"batch_1": unfused_intensity(programs[name].with_batch(1))}
        printed = dict(zip(load_reference().tables[TABLE].units, row, strict=True))
        for column, value in printed.items():
            if value is not None:
                note = "no definition found that gives it" if column == "ideal" else ""
                yield beside(TABLE, name, column, bars[column], note)
        own = sum(region.flops for region in fast_regions(program)) / own_bytes(program)
        yield Figure(
            "fast-figure-3", name, "own_convention_batch_64", "FLOP/byte", "validation", own, float("nan"),
            "every kernel of the default fusion reads and writes; comparable with no figure of the paper",
        )  # fmt: skip


def unfused_intensity(program: Program) -> float:
    """Convention `figure-3`."""
    regions = fast_regions(program)
    return sum(region.flops for region in regions) / sum(map(figure_3_bytes, regions))


def batch_intensities(program: Program) -> dict[str, float]:
    """The bars of one model at the program's batch, by column of the reference table."""
    regions = fast_regions(program)
    flops = sum(region.flops for region in regions)
    blocks = [list(block) for _, block in groupby(regions, key=lambda region: region.block or region.name)]
    moved = {
        "batch_64": sum(map(figure_3_bytes, regions)),
        "fused_dsconv": sum(fused_bytes(part) for part in _separable(regions)),
        "fused_mbconv": sum(map(fused_bytes, blocks)),
        "pinned_weights": sum(fused_bytes(block, pinned_weights=True) for block in blocks),
        "ideal": regions[0].input_bytes + regions[-1].output_bytes,
    }
    return {column: flops / count for column, count in moved.items()}


def _separable(regions: list[Region]) -> list[list[Region]]:
    """Each depthwise convolution with the projection that follows it; the other regions alone."""
    parts: list[list[Region]] = []
    for region in regions:
        if parts and parts[-1][-1].kind == "depthwise" and region.block == parts[-1][-1].block:
            parts[-1].append(region)
        else:
            parts.append([region])
    return parts
