"""The lifetime problem of a program's kernels, priced by the simulator."""

import numpy as np

from lib.cost.cost_model import CostModel
from lib.hardware.datapath import Datapath
from lib.program.extraction import ProgramKernels
from lib.program.kernels import INPUT, WEIGHT
from lib.residency.lifetime_problem import LifetimeProblem
from lib.residency.program_residency import PlacementCosts, placement_costs, tile_room
from lib.schedule.schedules import Schedules


def lifetime_problem(
    found: ProgramKernels, leaves: np.ndarray, schedules: Schedules, datapath: Datapath, model: CostModel, *,
    count_tiles: bool = True,
) -> LifetimeProblem:  # fmt: skip
    """The problem of a program's occurrences in their order; arguments as for
    :func:`lib.residency.program_residency.residency_problem`, whose prices and room it has."""
    costs = placement_costs(found.kernels, schedules, datapath, model)
    return priced_lifetime_problem(found, leaves, schedules, costs, datapath, count_tiles=count_tiles)


def priced_lifetime_problem(
    found: ProgramKernels, leaves: np.ndarray, schedules: Schedules, costs: PlacementCosts, datapath: Datapath, *,
    count_tiles: bool = True,
) -> LifetimeProblem:  # fmt: skip
    """The same where the rows' costs by placement are known already."""
    kernels, place = found.kernels, found.occurrence_kernel
    choices = costs.seconds.shape[2]
    tiles, sums = tile_room(kernels, schedules, datapath, count_tiles)
    operand_kernel = np.repeat(np.arange(kernels.number), np.diff(kernels.operand_offset))
    role, output = kernels.operand_role, kernels.operand_offset[1:] - 1
    size = kernels.operand_elements * kernels.operand_element_bytes
    is_output = np.zeros(len(role), dtype=bool)
    is_output[output] = True

    def of_kernels(chosen: np.ndarray, values: np.ndarray) -> np.ndarray:
        total = np.zeros((kernels.number, *values.shape[1:]), dtype=np.int64)
        np.add.at(total, operand_kernel[chosen], values[chosen])
        return total

    weights, inputs = (role == WEIGHT) & ~is_output, (role == INPUT) & ~is_output
    input_bytes = of_kernels(inputs, size)
    element_bytes = kernels.operand_element_bytes[output].astype(np.int64)
    wider = np.where(sums, np.maximum(element_bytes, 4)[:, None], element_bytes[:, None])
    runs = found.occurrence_executions[:, None, None]

    edges = found.occurrence_edge
    edges = edges[role[kernels.operand_offset[place[edges[:, 1]]] + edges[:, 2]] == INPUT]
    pairs, number = np.unique(edges[:, 1::-1], axis=0, return_inverse=True)
    operand = kernels.operand_offset[place[edges[:, 1]]] + edges[:, 2]
    share = np.bincount(number, size[operand] / input_bytes[place[edges[:, 1]]], minlength=len(pairs))
    read_tiles = np.zeros((len(pairs), choices), dtype=np.int64)
    np.add.at(read_tiles, number, tiles[operand])
    return LifetimeProblem(
        seconds=costs.seconds[place] * runs,
        dram_bytes=costs.dram_bytes.sum(axis=3)[place] * runs,
        dram_bytes_per_s=datapath.dram_bytes_per_s,
        weight_bytes=of_kernels(weights, size)[place],
        tensor_bytes=size[output][place],
        held_bytes=(kernels.operand_elements[output][:, None] * wider)[place],
        leaves=leaves,
        tile_bytes=of_kernels(np.ones(len(role), dtype=bool), tiles)[place],
        weight_tile_bytes=of_kernels(weights, tiles)[place],
        output_tile_bytes=tiles[output][place],
        read_offset=np.searchsorted(pairs[:, 0], np.arange(len(place) + 1)),
        read_tensor=pairs[:, 1].astype(np.int64),
        read_share=share,
        read_tile_bytes=read_tiles,
        capacity_bytes=datapath.global_buffer_bytes,
    )
