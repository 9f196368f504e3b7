"""Features of how arrays lie in memory and in which form matrix ops are written.

Which implementation a compiler takes, and how well it uses vector registers, depends on both on a real device. The
simulator and the analytical model price all of it alike, so these features are for measured labels.
"""

import numpy as np
from numba import njit

from lib.gnn.feature_set import KERNEL_LAYOUT_FEATURES, NODE_LAYOUT_FEATURES
from lib.gnn.node_table import OPERAND
from lib.gnn.tile_features import Geometry
from lib.program.kernels import NO_LOOP, OUTPUT, REDUCTION
from lib.program.op_form import FORMS
from lib.schedule.footprint import node_extent

BITS = len(FORMS)


def node_layout_features(kernels: Geometry) -> np.ndarray:
    """float32[N, len(NODE_LAYOUT_FEATURES)]"""
    out = np.zeros((len(kernels.nodes.op_kind), len(NODE_LAYOUT_FEATURES)), np.float32)
    _fill_nodes(out, kernels, _root_minor_loops(kernels.nodes.offset, kernels.nodes.role, kernels.nodes.order))
    return out


def kernel_layout_features(kernels: Geometry) -> np.ndarray:
    """float32[k, len(KERNEL_LAYOUT_FEATURES)]"""
    out = np.zeros((len(kernels.loops), len(KERNEL_LAYOUT_FEATURES)), np.float32)
    _fill_kernels(out, kernels, _root_minor_loops(kernels.nodes.offset, kernels.nodes.role, kernels.nodes.order))
    return out


@njit(cache=True)
def _root_minor_loops(offset, role, order):
    """uint8[k]: the loop that each kernel's output extends along in its most minor dimension, or NO_LOOP."""
    minor = np.full(len(offset) - 1, NO_LOOP, np.uint8)
    for k in range(len(minor)):
        for n in range(offset[k], offset[k + 1]):
            if role[n] == OUTPUT:
                minor[k] = order[n, 0]
    return minor


@njit(cache=True)
def _minor_extent(kernels, k, n):
    """Elements of a node side by side in memory; 0 of a single number."""
    minor = kernels.nodes.order[n, 0]
    if minor == NO_LOOP:
        return 0
    return node_extent(minor, kernels.nodes.stride[n], kernels.loop_kind[k], kernels.base_dilation[k], kernels.loops[k])


@njit(cache=True)
def _fill_nodes(out, kernels, root_minor):
    nodes = kernels.nodes
    for k in range(len(root_minor)):
        for n in range(nodes.offset[k], nodes.offset[k + 1]):
            minor = nodes.order[n, 0]
            out[n, 0] = np.log2(1.0 + _minor_extent(kernels, k, n))
            out[n, 1] = minor == root_minor[k] or minor == NO_LOOP
            out[n, 2] = minor != NO_LOOP and kernels.loop_kind[k, minor] == REDUCTION
            for bit in range(BITS):
                out[n, 3 + bit] = (nodes.form[n] >> bit) & 1


@njit(cache=True)
def _fill_kernels(out, kernels, root_minor):
    nodes = kernels.nodes
    for k in range(len(root_minor)):
        turned_bytes = 0
        for n in range(nodes.offset[k], nodes.offset[k + 1]):
            minor = nodes.order[n, 0]
            if nodes.role[n] == OUTPUT:
                out[k, 0] = np.log2(1.0 + _minor_extent(kernels, k, n))
                out[k, 1] = nodes.element_bytes[n]
            if minor != NO_LOOP and nodes.op_class[n] == OPERAND:
                if minor != root_minor[k]:
                    turned_bytes += nodes.elements[n] * nodes.element_bytes[n]
                if kernels.loop_kind[k, minor] == REDUCTION:
                    out[k, 3] = 1.0
            if nodes.is_hero[n]:
                for bit in range(BITS):
                    out[k, 4 + bit] = (nodes.form[n] >> bit) & 1
        out[k, 2] = np.log2(1.0 + turned_bytes)
