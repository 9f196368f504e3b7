"""Features of a tile: of the row itself, and projected on every node of its kernel."""

from typing import NamedTuple

import numpy as np
from numba import njit

from lib.gnn.dram_runs import contiguous_run, register_tile_bytes
from lib.gnn.feature_set import NODE_TILE_FEATURES, TILE_FEATURES
from lib.gnn.node_table import MATRIX, NodeTable, fill_of, turned_nodes
from lib.gnn.static_features import CLASSES, FIRST_WORK_CLASS
from lib.program.kernels import (
    BATCH,
    IN_C,
    KERNEL_CLASSES,
    KERNEL_H,
    KERNEL_W,
    NO_LOOP,
    OUT_C,
    OUT_H,
    OUT_W,
    OUTPUT,
    Kernels,
)
from lib.schedule.borrowed import borrowed
from lib.schedule.footprint import iterations, node_extent
from lib.schedule.loops import LOOP_ORDERS

WITH_LOOP_ORDER = np.array(
    [name in ("convolution", "depthwise-convolution", "dot", "window") for name in KERNEL_CLASSES]
)
"""bool[kernel classes]: classes whose loops run in the first of LOOP_ORDERS; the others run 0 to 7."""
FEW_CHANNELS = 16
"""The taps of a convolution with fewer input channels share the rows of the array: lowering, see docs/analytical.md."""
DEFAULT_NEST = LOOP_ORDERS[0]
ARRAY = TILE_FEATURES.index("array_fill_contraction")
TRANSFERS = TILE_FEATURES.index("input_runs")
TURNED = TILE_FEATURES.index("turned_ops")
MOVED = NODE_TILE_FEATURES.index("moved_bytes")


class Geometry(NamedTuple):
    """What tile features read of the kernels; k kernels, N nodes."""

    loops: np.ndarray
    loop_kind: np.ndarray
    base_dilation: np.ndarray
    kernel_class: np.ndarray
    nodes: NodeTable
    limits: np.ndarray
    """int64[k, 6] as from `hardware_limits`, of each kernel's hardware variant."""
    turned: np.ndarray
    """bool[N] as from `turned_nodes`."""


def geometry(kernels: Kernels, nodes: NodeTable, kernel_limits: np.ndarray) -> Geometry:
    """The geometry of `kernels`."""
    limits = np.asarray(kernel_limits)
    turned = turned_nodes(kernels, nodes, limits)
    return Geometry(
        kernels.loops, kernels.loop_kind, kernels.base_dilation, kernels.kernel_class, nodes, limits, turned
    )


def tile_features(kernels: Geometry, row_kernel: np.ndarray, tile: np.ndarray) -> np.ndarray:
    """float32[r, len(TILE_FEATURES)] for rows of kernel `row_kernel` (int[r]) with `tile` (int32[r, 8])."""
    out = np.zeros((len(row_kernel), len(TILE_FEATURES)), np.float32)
    _fill_tile_features(out, kernels, row_kernel, tile, _most_nodes(kernels))
    return out


def raw_tile_features(tile: np.ndarray) -> np.ndarray:
    """float32[r, len(RAW_TILE_FEATURES)] of `tile` int32[r, 8], as logarithms (Kaufman et al. 2021, section 3.1)."""
    extents = tile.astype(np.float64)
    values = np.concatenate([extents, extents.sum(axis=1, keepdims=True), extents.prod(axis=1, keepdims=True)], axis=1)
    return np.log2(1.0 + values).astype(np.float32)


def node_tile_features(kernels: Geometry, row_kernel: np.ndarray, tile: np.ndarray) -> np.ndarray:
    """float32[p, len(NODE_TILE_FEATURES)]: for each row, the nodes of its kernel in order."""
    pairs = int(np.diff(kernels.nodes.offset)[row_kernel].sum())
    out = np.zeros((pairs, len(NODE_TILE_FEATURES)), np.float32)
    _fill_node_tile_features(out, kernels, row_kernel, tile, _most_nodes(kernels))
    return out


def _most_nodes(kernels: Geometry) -> int:
    """Nodes of the largest kernel."""
    return int(np.diff(kernels.nodes.offset).max(initial=0))


@njit(cache=True, error_model="numpy")
def _trips(loops, tile, trips):
    steps = 1.0
    for slot in range(8):
        trips[slot] = -(-loops[slot] // tile[slot])
        steps *= trips[slot]
    return steps


@njit(cache=True, error_model="numpy")
def _loads(iterates, trips, kernel_class):
    """Times that a node's slice is fetched (or stored): a slice stays while only loops inside of the
    innermost one that moves it advance."""
    total = 1.0
    loads = 1.0
    for position in range(8):
        slot = DEFAULT_NEST[position] if WITH_LOOP_ORDER[kernel_class] else position
        total *= trips[slot]
        if iterates[slot] > 0 and trips[slot] > 1:
            loads = total
    return loads


@njit(cache=True, error_model="numpy")
def _padded_elements(stride, order, element_bytes, loop_kind, base_dilation, tile, limits, fill):
    """Elements of a node's tile in whole registers; `fill` (float64[3]) gets the filled shares of lanes and
    sublanes, and the elements themselves."""
    fill[:] = 1.0
    elements = 1.0
    for position in range(8):
        if order[position] == NO_LOOP:
            break
        extent = node_extent(order[position], stride, loop_kind, base_dilation, tile)
        elements *= extent
        if position == 0:
            fill[0] = fill_of(extent, limits[0])
        elif position == 1:
            fill[1] = fill_of(extent, max(1, limits[1] * 4 // element_bytes))
    fill[2] = elements
    return elements / (fill[0] * fill[1])


@njit(cache=True, error_model="numpy")
def _fill_tile_features(owned_out, owned_kernels, row_kernel, owned_tile, most_nodes):
    """`owned_...`: arrays that the caller keeps alive."""
    out, kernels, tile = borrowed((owned_out, owned_kernels, owned_tile))
    loops_of, kind_of, dilation_of, class_of, nodes, limits_of, turned = kernels
    offset, _, op_class_of, role_of, _, stride_of, swept, iterates_of, order_of, elements_of, bytes_of, _, alike = nodes
    trips = np.zeros(8, np.int64)
    fill = np.zeros(3)
    tile_bytes = np.zeros(3)
    moved = np.zeros(3)
    transfer = np.zeros((3, 4))  # by role: runs, bytes, bytes in whole register tiles, bytes of the whole
    work = np.zeros(CLASSES)
    padded, evaluated, loads = np.zeros(most_nodes), np.zeros(most_nodes), np.zeros(most_nodes)
    per_load = np.zeros((most_nodes, 3))
    for r in range(len(row_kernel)):
        k, t, row = row_kernel[r], tile[r], out[r]
        loops, loop_kind, base_dilation = loops_of[k], kind_of[k], dilation_of[k]
        limits, kernel_class = limits_of[k], class_of[k]
        steps = _trips(loops, t, trips)
        waste = 0.0
        for slot in range(8):
            row[slot] = np.log2(1.0 + t[slot]) if t[slot] > 1 else 1.0
            row[8 + slot] = np.log2(trips[slot]) if trips[slot] > 1 else 0.0
            covered = trips[slot] * t[slot]
            if covered > loops[slot]:
                row[16 + slot] = np.log2(covered / loops[slot])
                waste += row[16 + slot]
        row[24] = np.log2(steps)
        row[25] = waste
        tile_bytes[:] = 0.0
        moved[:] = 0.0
        work[:] = 0.0
        transfer[:] = 0.0
        whole = turned_elements = 0.0
        for n in range(offset[k], offset[k + 1]):
            place = alike[n] - offset[k]
            if alike[n] == n:
                padded[place] = _padded_elements(
                    stride_of[n], order_of[n], bytes_of[n], loop_kind, base_dilation, t, limits, fill
                )
                points = float(iterations(iterates_of[n], t)) if swept[n] else min(fill[2], elements_of[n])
                evaluated[place] = points * steps / (fill[0] * fill[1])
                loads[place] = _loads(stride_of[n], trips, kernel_class)
                elements = min(fill[2], float(elements_of[n]))
                run, tiled = contiguous_run(
                    stride_of[n], order_of[n], bytes_of[n], loops, loop_kind, base_dilation, t, limits[1], limits[0]
                )
                run = min(run, elements)
                per_load[place, 0] = elements / run
                per_load[place, 1] = elements * bytes_of[n]
                covered = register_tile_bytes(run * bytes_of[n], tiled, limits[1], limits[0])
                per_load[place, 2] = elements / run * covered
            if turned[n]:
                turned_elements += evaluated[place]
            role = role_of[n]
            if role <= OUTPUT:
                node_bytes = padded[place] * bytes_of[n]
                tile_bytes[role] += node_bytes
                moved[role] += node_bytes * loads[place]
                whole += elements_of[n] * bytes_of[n]
                for column in range(3):
                    transfer[role, column] += per_load[place, column] * loads[place]
                transfer[role, 3] += elements_of[n] * bytes_of[n]
            if op_class_of[n] < CLASSES:
                work[op_class_of[n]] += evaluated[place]
        for role in range(3):
            row[26 + role] = np.log2(1.0 + tile_bytes[role])
            row[30 + role] = np.log2(1.0 + moved[role])
        row[29] = np.log2(1.0 + tile_bytes.sum() / limits[4])
        row[33] = np.log2((1.0 + moved.sum()) / (1.0 + whole))
        row[34] = row[35] = 1.0
        if work[MATRIX] > 0.0:
            row[34] = fill_of(t[IN_C], limits[2])
            row[35] = fill_of(t[OUT_C], limits[3])
        for position in range(FIRST_WORK_CLASS, CLASSES):
            if work[position] > 0.0:
                row[36 + position - FIRST_WORK_CLASS] = np.log2(1.0 + work[position])
        if work[MATRIX] > 0.0:
            _fill_array_features(row[ARRAY:TRANSFERS], loops[IN_C], base_dilation, t, steps, limits)
        else:
            row[ARRAY] = 1.0
        _fill_transfer_features(row[TRANSFERS:TURNED], transfer)
        row[TURNED] = np.log2(1.0 + turned_elements)


@njit(cache=True, error_model="numpy")
def _fill_array_features(out, in_c_whole, base_dilation, tile, steps, limits):
    """How a matrix op's tile fills the systolic arrays: of one, and of all PEs when these share its pixels, its output
    channels or its contraction (the work over what all arrays could do in the busiest one's time)."""
    rows, columns, pes = limits[2], limits[3], limits[5]
    taps = np.int64(np.ceil(tile[KERNEL_H] / base_dilation[0]) * np.ceil(tile[KERNEL_W] / base_dilation[1]))
    pixels, out_c = tile[BATCH] * tile[OUT_H] * tile[OUT_W], tile[OUT_C]
    contraction = taps * tile[IN_C]
    row_folds = -(-contraction // rows) if in_c_whole < FEW_CHANNELS else taps * -(-tile[IN_C] // rows)
    column_folds = -(-out_c // columns)
    stream = max(pixels, rows)
    ideal = float(pixels) * out_c * contraction / (float(rows) * columns * pes)
    out[0] = fill_of(contraction, rows)
    out[1] = np.log2(row_folds * column_folds * steps)
    out[2] = np.log2(pixels / rows)
    out[3] = np.log2(ideal / (row_folds * column_folds * max(-(-pixels // pes), rows)))
    out_c_of_pe = -(-out_c // pes)
    out[4] = np.log2(ideal / (row_folds * -(-out_c_of_pe // columns) * stream))
    out[5] = np.log2(ideal / (-(-row_folds // pes) * column_folds * stream))


@njit(cache=True, error_model="numpy")
def _fill_transfer_features(out, transfer):
    """What moves to and from DRAM. `transfer`: float64[3, 4] runs, bytes, bytes in whole register tiles and bytes of
    the whole, by role."""
    for role in range(3):
        runs, moved, covered, whole = transfer[role]
        if runs > 0.0:
            out[role] = np.log2(1.0 + runs)
            out[3 + role] = np.log2(1.0 + moved / runs)
            out[6 + role] = np.log2(covered / whole)
    out[9] = np.log2(1.0 + transfer[:, 0].sum())
    out[10] = np.log2(transfer[:, 2].sum() / transfer[:, 3].sum())


@njit(cache=True, error_model="numpy")
def _fill_node_tile_features(owned_out, owned_kernels, row_kernel, owned_tile, most_nodes):
    """`owned_...`: arrays that the caller keeps alive."""
    out, kernels, tile = borrowed((owned_out, owned_kernels, owned_tile))
    nodes = kernels.nodes
    trips = np.zeros(8, np.int64)
    fill = np.zeros(3)
    moved = np.zeros(most_nodes)
    pair = 0
    for r in range(len(row_kernel)):
        k, t = row_kernel[r], tile[r]
        loop_kind, base_dilation, limits = kernels.loop_kind[k], kernels.base_dilation[k], kernels.limits[k]
        _trips(kernels.loops[k], t, trips)
        for n in range(nodes.offset[k], nodes.offset[k + 1]):
            row, place = out[pair], nodes.alike[n] - nodes.offset[k]
            if nodes.alike[n] != n:
                row[:] = out[pair - n + nodes.alike[n]]
            else:
                moved[place] = _project(
                    row, nodes.stride[n], nodes.order[n], nodes.elements[n], nodes.element_bytes[n],
                    kernels.kernel_class[k], loop_kind, base_dilation, t, trips, limits, fill,
                )  # fmt: skip
            row[MOVED] = moved[place] if nodes.role[n] <= OUTPUT else 0.0
            pair += 1


@njit(cache=True, error_model="numpy")
def _project(
    row, stride, order, whole, element_bytes, kernel_class, loop_kind, base_dilation, tile, trips, limits, fill
) -> float:
    """Fill a row of node tile features but MOVED, whose value for a node that is loaded or stored is returned."""
    distinct = 1.0
    for slot in range(8):
        extent = node_extent(slot, stride, loop_kind, base_dilation, tile)
        row[slot] = np.log2(1.0 + extent) if extent > 1 else 1.0
        if stride[slot] > 0:
            distinct *= trips[slot]
    padded = _padded_elements(stride, order, element_bytes, loop_kind, base_dilation, tile, limits, fill)
    loads = _loads(stride, trips, kernel_class)
    run = 1.0
    for position in range(8):
        if order[position] == NO_LOOP:
            break
        slot = order[position]
        run *= node_extent(slot, stride, loop_kind, base_dilation, tile)
        if trips[slot] > 1:
            break
    row[8] = np.log2(1.0 + min(fill[2], whole))
    row[9] = np.log2(1.0 + padded)
    row[10] = fill[0]
    row[11] = fill[1]
    row[12] = np.log2(distinct)
    row[13] = np.log2(loads)
    row[15] = np.log2(1.0 + run * element_bytes)
    return np.log2(1.0 + padded * element_bytes * loads)
