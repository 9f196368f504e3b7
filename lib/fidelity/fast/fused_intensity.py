"""Figure 13: operational intensity after the paper's fusion, by batch and size of the global buffer.

The paper's integer programme as printed, on its own regions and in its own byte convention. Tiles take no room (B_i =
0): what else the buffer holds is not printed.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from lib.fidelity.fast.conventions import table_5_bytes
from lib.fidelity.fast.published import beside
from lib.fidelity.fast.regions import Region, fast_regions
from lib.fidelity.fast.runs import chip
from lib.fidelity.figure import Figure
from lib.hardware.datapath import Datapath, datapath_from_spec, peak_flops_per_s
from lib.program.program import Program
from lib.residency.problem import printed_problem
from lib.residency.residency import solve_residency
from schemas.reference import load_reference

TABLE = "fast-fused-intensity"
MIB = 2**20
THRESHOLD = "all weights just fit or just do not: a few MiB decide"


def fused_intensity_figures(programs: Mapping[str, Program]) -> Iterator[Figure]:
    """The 36 cells: two models, batches and buffers."""
    datapath = datapath_from_spec(chip("fast-large"))
    table = load_reference().tables[TABLE]
    for row in table.rows:
        workload, batch = row.split(" batch ")
        if workload not in programs:
            continue
        regions = fast_regions(programs[workload].with_batch(int(batch)))
        for column in table.units:
            buffer_bytes = int(column.removesuffix("_mib")) * MIB
            ours = fused_intensity(regions, datapath, buffer_bytes)
            figure = beside(TABLE, row, column, ours)
            note = THRESHOLD if abs(figure.error_pct) > 25 else ""
            yield figure._replace(subject=f"{row}, {column.removesuffix('_mib')} MiB", quantity="intensity", note=note)


def fused_intensity(regions: list[Region], datapath: Datapath, buffer_bytes: int) -> float:
    """FLOPs over DRAM bytes of the regions with what the programme keeps in the buffer.

    A region computes at peak rate; placements hardly depend on that, since what is not waited for counts a little too.
    """
    sizes = np.array([[r.input_bytes + r.second_bytes, r.weight_bytes, r.output_bytes] for r in regions])
    assert sizes.sum() == sum(map(table_5_bytes, regions))
    transfer_s = sizes / datapath.dram_bytes_per_s
    compute_s = np.array([region.flops for region in regions]) / peak_flops_per_s(datapath)
    follows = np.array([place > 0 and region.producer == place - 1 for place, region in enumerate(regions)])
    problem = printed_problem(
        compute_s, np.maximum(compute_s, transfer_s.sum(axis=1)), transfer_s, sizes,
        np.zeros(len(regions), dtype=np.int64), follows, buffer_bytes, datapath.dram_bytes_per_s,
    )  # fmt: skip
    moved = solve_residency(problem).dram_bytes.sum()
    return float(sum(region.flops for region in regions) / moved)
