"""Features that need no tile: of nodes, kernels and hardware variants."""

import numpy as np
from numba import njit

from lib.gnn.feature_set import HARDWARE_FEATURES, KERNEL_FEATURES, NODE_FEATURES, WORK_CLASSES
from lib.gnn.node_table import NodeTable, fill_of
from lib.hardware.datapath import (
    Datapath,
    double_buffered_bytes,
    peak_flops_per_s,
    processing_elements,
    ridge_flops_per_byte,
    vector_lanes_of_core,
)
from lib.program.kernel_work import kernel_work
from lib.program.kernels import (
    INPUT,
    KERNEL_CLASSES,
    KERNEL_H,
    KERNEL_W,
    NO_LOOP,
    OUT_H,
    OUT_W,
    OUTPUT,
    REDUCTION,
    WEIGHT,
    WINDOW,
    Kernels,
)
from lib.program.op_kinds import OP_CLASSES
from lib.schedule.footprint import iterations, node_extent

CLASSES = len(OP_CLASSES)
FIRST_WORK_CLASS = OP_CLASSES.index(WORK_CLASSES[0])


def node_features(kernels: Kernels, nodes: NodeTable, kernel_limits: np.ndarray) -> np.ndarray:
    """float32[N, len(NODE_FEATURES)]; `kernel_limits` int64[k, ...] as from :func:`hardware_limits`."""
    out = np.zeros((len(nodes.op_kind), len(NODE_FEATURES)), np.float32)
    _fill_node_features(
        out,
        nodes,
        kernels.loops,
        kernels.loop_kind,
        kernels.base_dilation,
        kernels.edge_offset,
        kernels.edge,
        kernel_limits,
    )
    return out


@njit(cache=True)
def _fill_node_features(out, nodes, loops, loop_kind, base_dilation, edge_offset, edge, limits):
    for k in range(len(loops)):
        lanes, sublanes = limits[k, 0], limits[k, 1]
        first = nodes.offset[k]
        for n in range(first, nodes.offset[k + 1]):
            stride, order = nodes.stride[n], nodes.order[n]
            row = out[n]
            for slot in range(8):
                row[slot] = np.log2(1.0 + node_extent(slot, stride, loop_kind[k], base_dilation[k], loops[k]))
            row[8] = np.log2(1.0 + nodes.elements[n])
            points = iterations(nodes.iterates[n], loops[k]) if nodes.swept[n] else nodes.elements[n]
            row[9] = np.log2(1.0 + points)
            row[10] = nodes.element_bytes[n]
            is_op = nodes.op_class[n] < CLASSES
            if is_op:
                row[11 + nodes.op_class[n]] = 1.0
            flags = 11 + CLASSES
            row[flags] = not is_op and nodes.role[n] == INPUT
            row[flags + 1] = not is_op and nodes.role[n] == WEIGHT
            row[flags + 2] = nodes.is_hero[n]
            row[flags + 3] = nodes.role[n] == OUTPUT
            row[flags + 4] = np.log2(1.0 + stride[OUT_H])
            row[flags + 5] = np.log2(1.0 + stride[OUT_W])
            rows = max(1, sublanes * 4 // nodes.element_bytes[n])
            row[flags + 8] = row[flags + 9] = 1.0
            if order[0] != NO_LOOP:
                row[flags + 8] = fill_of(node_extent(order[0], stride, loop_kind[k], base_dilation[k], loops[k]), lanes)
            if order[1] != NO_LOOP:
                row[flags + 9] = fill_of(node_extent(order[1], stride, loop_kind[k], base_dilation[k], loops[k]), rows)
        for e in range(edge_offset[k], edge_offset[k + 1]):
            out[first + edge[e, 1], 11 + CLASSES + 6] += 1.0
            out[first + edge[e, 0], 11 + CLASSES + 7] += 1.0
        for n in range(first, nodes.offset[k + 1]):
            for column in range(11 + CLASSES + 6, 11 + CLASSES + 8):
                out[n, column] = np.log2(1.0 + out[n, column])


def kernel_features(kernels: Kernels) -> np.ndarray:
    """float32[k, len(KERNEL_FEATURES)]"""
    work = kernel_work(kernels)
    role_bytes = np.zeros((kernels.number, 3))
    _sum_bytes(
        role_bytes,
        kernels.operand_offset,
        kernels.operand_role,
        kernels.operand_elements,
        kernels.operand_element_bytes,
    )
    window = np.stack([kernels.loop_kind[:, slot] == WINDOW for slot in (KERNEL_H, KERNEL_W)], axis=1)
    columns = [
        np.log2(1.0 + work.flops[:, None]),
        np.log2(1.0 + work.vector_ops[:, FIRST_WORK_CLASS:]),
        np.log2(1.0 + role_bytes),
        np.log2(
            1.0
            + np.stack(
                [np.diff(kernels.operand_offset), np.diff(kernels.op_offset), np.diff(kernels.edge_offset)], axis=1
            )
        ),
        kernels.kernel_class[:, None] == np.arange(len(KERNEL_CLASSES)),
        np.log2(1.0 + kernels.loops),
        kernels.loop_kind == REDUCTION,
        window,
        np.log2(1.0 + kernels.base_dilation),
    ]
    features = np.concatenate([column.astype(np.float32) for column in columns], axis=1)
    assert features.shape[1] == len(KERNEL_FEATURES)
    return features


@njit(cache=True)
def _sum_bytes(role_bytes, operand_offset, operand_role, operand_elements, operand_element_bytes):
    for k in range(len(role_bytes)):
        for o in range(operand_offset[k], operand_offset[k + 1]):
            role_bytes[k, operand_role[o]] += operand_elements[o] * np.int64(operand_element_bytes[o])


def hardware_features(datapath: Datapath) -> np.ndarray:
    """float32[len(HARDWARE_FEATURES)], of one core's share of the chip."""
    l1_bytes = datapath.l1_input_bytes + datapath.l1_weight_bytes + datapath.l1_output_bytes
    multipliers = datapath.l2_input_multiplier + datapath.l2_weight_multiplier + datapath.l2_output_multiplier
    peak_vector = datapath.clock_hz * vector_lanes_of_core(datapath)
    values = {
        "clock_hz": np.log2(datapath.clock_hz),
        "cores": np.log2(datapath.cores),
        "pes": np.log2(processing_elements(datapath)),
        "pes_x": np.log2(datapath.pes_x),
        "pes_y": np.log2(datapath.pes_y),
        "systolic_rows": np.log2(datapath.systolic_rows),
        "systolic_columns": np.log2(datapath.systolic_columns),
        "vector_lanes": np.log2(datapath.vector_lanes),
        "l1_bytes": np.log2(1 + l1_bytes),
        "l1_input_bytes": np.log2(1 + datapath.l1_input_bytes),
        "l1_weight_bytes": np.log2(1 + datapath.l1_weight_bytes),
        "l1_output_bytes": np.log2(1 + datapath.l1_output_bytes),
        "l1_shared": float(datapath.l1_shared),
        "l2_kind": float(datapath.l2_kind),
        "l2_multiplier": np.log2(1 + multipliers),
        "l2_input_multiplier": np.log2(1 + datapath.l2_input_multiplier),
        "l2_weight_multiplier": np.log2(1 + datapath.l2_weight_multiplier),
        "l2_output_multiplier": np.log2(1 + datapath.l2_output_multiplier),
        "global_buffer_bytes": np.log2(1 + datapath.global_buffer_bytes),
        "dram_kind": float(datapath.dram_kind),
        "dram_channels": np.log2(1 + datapath.dram_channels),
        "dram_bytes_per_s": np.log2(datapath.dram_bytes_per_s),
        "element_bytes": np.log2(datapath.element_bytes),
        "depthwise_mapping": float(datapath.depthwise_mapping),
        "vector_path": float(datapath.vector_path),
        "array_efficiency": datapath.array_efficiency,
        "register_sublanes": np.log2(datapath.register_sublanes),
        "register_lanes": np.log2(datapath.register_lanes),
        "native_batch": np.log2(datapath.native_batch),
        "peak_flops_per_s": np.log2(peak_flops_per_s(datapath)),
        "peak_vector_ops_per_s": np.log2(peak_vector),
        "flops_per_dram_byte": np.log2(ridge_flops_per_byte(datapath)),
    }
    return np.array([values[name] for name in HARDWARE_FEATURES], np.float32)


def hardware_limits(datapath: Datapath) -> np.ndarray:
    """int64[6]: register lanes and sublanes, systolic rows and columns, bytes that one set of tiles may take, PEs."""
    tile_bytes = double_buffered_bytes(datapath)[0]
    sides = (datapath.register_lanes, datapath.register_sublanes, datapath.systolic_rows, datapath.systolic_columns)
    return np.array([*sides, tile_bytes, processing_elements(datapath)], np.int64)
