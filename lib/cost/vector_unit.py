"""The vector unit: arithmetic, loads, stores and cross-lane work of one tile.

A bundle issues ALU_SLOTS arithmetic instructions, one load, one store and one to the cross-lane unit, each over all
lanes; the four pipes work side by side, so the busiest one decides. A lane computes on 32 bits; buffers move 4 bytes
a lane and cycle.
"""

import math

from numba import njit

from lib.cost.simulator_constants import ALU_SLOTS
from lib.cost.vector_plan import COMPLETE_STEP, FREE, MATRIX, REDUCTION, STREAMED, WINDOW_OP
from lib.hardware.datapath import vector_lanes_of_core
from lib.program.kernels import NO_LOOP
from lib.schedule.footprint import node_extent

ARITHMETIC, LOAD, STORE, CROSS_LANE = range(4)
"""Pipes. Work is counted in lane-words: one 32-bit element an instruction, one 4-byte word a load or store."""


@njit(cache=True, error_model="numpy")
def register_elements(
    stride, layout, loop_kind, base_dilation, tile, element_bytes, swept, register_sublanes, register_lanes
) -> int:
    """Elements of a node's tile in whole registers: its most minor dimension rounded up to `register_lanes`, the second
    to `register_sublanes * 4 / element_bytes`.

    `swept`: count every point of the iteration space (reduction, window) instead of the result's elements.
    """
    elements = 1
    minor, second = layout[0], layout[1]
    rows = max(1, register_sublanes * 4 // element_bytes)
    for slot in range(8):
        if swept:
            extent = tile[slot] if stride[slot] > 0 else 1
        else:
            extent = node_extent(slot, stride, loop_kind, base_dilation, tile)
        if slot == minor:
            extent = -(-extent // register_lanes) * register_lanes
        elif slot == second:
            extent = -(-extent // rows) * rows
        elements *= extent
    if minor == NO_LOOP:
        return elements * register_lanes
    return elements


@njit(cache=True, error_model="numpy")
def _fold_registers(stride, output_stride, layout, tile, register_sublanes, register_lanes, pipes) -> None:
    """Add the end of a reduction over lanes or sublanes: what is left of it lies across one register and is summed by
    the cross-lane unit (lanes) or by log2(sublanes) rotations and additions (sublanes)."""
    minor, second = layout[0], layout[1]
    lanes_reduced = minor != NO_LOOP and stride[minor] > 0 and output_stride[minor] == 0
    rows_reduced = second != NO_LOOP and stride[second] > 0 and output_stride[second] == 0
    if not lanes_reduced and not rows_reduced:
        return
    registers = 1
    for slot in range(8):
        if output_stride[slot] == 0:
            continue
        extent = tile[slot]
        if slot == minor:
            extent = -(-extent // register_lanes)
        elif slot == second:
            extent = -(-extent // register_sublanes)
        registers *= extent
    elements = registers * register_lanes * register_sublanes
    if rows_reduced:
        pipes[ARITHMETIC] += elements * 2 * math.log2(max(2, register_sublanes))
    if lanes_reduced:
        pipes[CROSS_LANE] += elements


@njit(cache=True, error_model="numpy")
def vector_pipes(kernels, plan, k, tile, complete, datapath, pipes) -> float:
    """Add the work of kernel `k` for a tile (int[8]) to `pipes`, float64[4] in lane-words of the whole core.

    `complete`: the step completes the output tile, so that the ops after the hero run and the tile is stored. Returns
    the lane-words of values that went to the buffer and back in between.
    """
    sublanes, lanes = datapath.register_sublanes, datapath.register_lanes
    kind, dilation = kernels.loop_kind[k], kernels.base_dilation[k]
    first_operand, output = kernels.operand_offset[k], kernels.operand_offset[k + 1] - 1
    inputs = output - first_operand
    spilled = 0.0
    for node in range(plan.node_offset[k], plan.node_offset[k + 1]):
        local = node - plan.node_offset[k]
        phase = plan.phase[node]
        late = phase == COMPLETE_STEP
        if late and not complete:
            continue
        is_operand = local < inputs
        relayouts = plan.relayouts[node, 0] + (plan.relayouts[node, 1] if complete else 0)
        if is_operand:
            if phase == STREAMED and relayouts == 0:
                continue
            stride = kernels.operand_stride[first_operand + local]
            size = kernels.operand_element_bytes[first_operand + local]
        else:
            op = kernels.op_offset[k] + local - inputs
            stride, size = kernels.op_stride[op], kernels.op_element_bytes[op]
        node_class = plan.op_class[node]
        swept = node_class == REDUCTION or node_class == WINDOW_OP
        if node_class == MATRIX:
            stride = kernels.operand_stride[output]
        elements = register_elements(stride, plan.layout[node], kind, dilation, tile, size, swept, sublanes, lanes)
        if is_operand and phase != STREAMED:
            pipes[LOAD] += elements * size / 4
        elif node_class != FREE:
            pipes[ARITHMETIC] += elements * plan.instructions[node]
        if node_class == WINDOW_OP:
            pipes[LOAD] += elements * size / 4
        if swept:
            if complete:
                _fold_registers(
                    stride, kernels.operand_stride[output], plan.layout[node], tile, sublanes, lanes, pipes
                )  # fmt: skip
            if relayouts > 0 or plan.stores[node] > 0:
                elements = register_elements(
                    kernels.operand_stride[output], kernels.operand_order[output], kind, dilation, tile, size, False,
                    sublanes, lanes,
                )  # fmt: skip
        pipes[CROSS_LANE] += elements * relayouts
        words = elements * size / 4
        reloaded = (plan.reloads[node, 0] + (plan.reloads[node, 1] if complete else 0)) * words
        stored = plan.stores[node] * words
        pipes[LOAD] += reloaded
        pipes[STORE] += stored
        spilled += reloaded + stored
    if complete:
        size = kernels.operand_element_bytes[output]
        elements = register_elements(
            kernels.operand_stride[output], kernels.operand_order[output], kind, dilation, tile, size, False,
            sublanes, lanes,
        )  # fmt: skip
        pipes[STORE] += elements * size / 4
    return spilled


@njit(cache=True)
def vector_cycles(pipes, datapath) -> float:
    """Cycles of the busiest pipe. The cross-lane unit takes one sublane row of the registers a cycle."""
    cycles = max(pipes[ARITHMETIC] / ALU_SLOTS, max(pipes[LOAD], pipes[STORE]))
    cycles = max(cycles, pipes[CROSS_LANE] * datapath.register_sublanes)
    return cycles / vector_lanes_of_core(datapath)
