"""Files in the form of TpuGraphs' tile collection, written node by node."""

from pathlib import Path

import numpy as np

from lib.targets.tpugraphs_columns import OPCODES, TYPES

TYPE_COLUMN = {name: 2 + place for place, name in enumerate(TYPES)}


def node(opcode: str, dtype: str = "f32", shape=(), layout=None, root=False, **columns) -> tuple[int, np.ndarray]:
    """(opcode number, float32[140]); `columns`: lists by the name of their first column, numbers by theirs."""
    row = np.zeros(140, dtype=np.float32)
    row[0] = root
    row[TYPE_COLUMN[dtype]] = 1
    row[21 : 21 + len(shape)] = shape
    row[28] = np.prod(shape) if shape else 1
    layout = tuple(reversed(range(len(shape)))) if layout is None else layout
    row[134 : 134 + len(layout)] = layout
    places = {
        "parameter": 30, "dimensions": 31, "size": 37, "stride": 45, "low": 53, "high": 61, "dilation": 69, "base": 77,
        "numbers": 93, "slice_start": 109, "slice_stride": 113, "slice_product": 116, "slice_limit": 117,
    }  # fmt: skip
    for name, value in columns.items():
        value = np.atleast_1d(value)
        row[places[name] : places[name] + len(value)] = value
    return OPCODES.index(opcode), row


def bounds(kernel=(), output=(), given=()) -> list[float]:
    """A row of `config_feat`."""
    row = [0.0] * 24
    for first, part in ((0, kernel), (8, output), (16, given)):
        row[first : first + len(part)] = part
        row[first + 6], row[first + 7] = sum(part), float(np.prod(part)) if part else 0.0
    return row


def write_file(path: Path, nodes, edges, configurations, runtimes=None, **replaced) -> Path:
    """Write an npz file; `replaced` arrays stand in for those made of the rest, None leaves one out."""
    runtimes = [1000 * (1 + place) for place in range(len(configurations))] if runtimes is None else runtimes
    arrays = {
        "node_feat": np.array([row for _, row in nodes], dtype=np.float32),
        "node_opcode": np.array([opcode for opcode, _ in nodes], dtype=np.uint8),
        "edge_index": np.array(edges, dtype=np.int64).reshape(-1, 2),
        "config_feat": np.array(configurations, dtype=np.float32),
        "config_runtime": np.array(runtimes, dtype=np.int64),
        "config_runtime_normalizers": np.full(len(runtimes), 1500, dtype=np.int64),
    } | replaced
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return path


def copy_file(path: Path, **replaced) -> Path:
    """A copy of f32[32, 5, 5, 256] from row-major to the layout {3, 0, 2, 1}, two tiles."""
    nodes = [
        node("parameter", shape=(32, 5, 5, 256)),
        node("copy", shape=(32, 5, 5, 256), layout=(3, 0, 2, 1), root=True),
    ]
    return write_file(path, nodes, [(1, 0)], [bounds(output=(5, 5, 4, 2)), bounds(output=(3, 2, 1, 1))], **replaced)


def convolution_nodes(numbers=(0, 3, 1, 2, 0, 0, 2, 3, 0, 1, 0, 0, 0, 3, 1, 1)):
    """A fusion: relu of a 3 x 3 convolution (same padding, stride 1) of f32[8, 14, 14, 64] with f32[3, 3, 64, 256].

    Edges name the weights first: the files sort operands by number.
    """
    window = {"size": (3, 3), "stride": (1, 1), "low": (1, 1), "high": (1, 1), "dilation": (1, 1), "base": (1, 1)}
    image, weights, result = (8, 14, 14, 64), (3, 3, 64, 256), (8, 14, 14, 256)
    nodes = [
        node("parameter", shape=weights, parameter=1),
        node("parameter", shape=image, parameter=0),
        node("convolution", shape=result, **window, numbers=numbers),
        node("constant"),
        node("broadcast", shape=result),
        node("maximum", shape=result, root=True),
        node("parameter", shape=image, parameter=0),
        node("parameter", shape=weights, parameter=1),
        node("fusion", shape=result, root=True),
    ]
    edges = [(2, 0), (2, 1), (4, 3), (5, 2), (5, 4), (8, 6), (8, 7), (8, 5)]
    return nodes, edges
