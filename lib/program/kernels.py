"""Kernels as a structure of arrays: what every cost model, feature extractor and dataset reads.

A kernel is described by up to eight canonical loops and by nodes (operands and ops) that say along
which loops they extend. Extents of a node for a tile `t` (int32[8]) with its row `stride`:

- loop j with `stride[j] > 0`: `(t[j] - 1) * stride[j] + 1` elements, otherwise 1;
- the pairs (out_h, kernel_h) and (out_w, kernel_w) of a *window* loop share a dimension:
  `((t[out] - 1) * stride[out] + (t[kernel] - 1) * stride[kernel]) // base_dilation + 1`;
- never more than the node's whole `elements`.
"""

from typing import NamedTuple

import numpy as np

LOOPS = ("batch", "out_h", "out_w", "out_c", "in_c", "kernel_h", "kernel_w", "group")
"""Canonical loops. A kernel without a matrix or window op numbers the root's output dimensions from
slot 0 (major first), then the reduced ones."""
BATCH, OUT_H, OUT_W, OUT_C, IN_C, KERNEL_H, KERNEL_W, GROUP = range(8)

ABSENT, PARALLEL, REDUCTION, WINDOW = range(4)
"""Loop kinds. A WINDOW loop (kernel_h, kernel_w) reduces too, over the window that it shares with
out_h, out_w."""

INPUT, WEIGHT, OUTPUT = range(3)
"""Operand roles."""

KERNEL_CLASSES = ("convolution", "depthwise-convolution", "dot", "reduction", "window", "elementwise", "movement")

NO_LOOP = 255
"""Filler in `operand_order`."""


class Kernels(NamedTuple):
    """k kernels, o operands, n ops, e edges. Written to disk as it stands (npz)."""

    loops: np.ndarray
    """int32[k, 8] extents of the canonical loops; 1 where absent."""
    loop_kind: np.ndarray
    """uint8[k, 8] ABSENT, PARALLEL, REDUCTION or WINDOW."""
    base_dilation: np.ndarray
    """uint8[k, 2] zeros-inserting dilation of the input's h and w (transposed convolution); else 1."""
    kernel_class: np.ndarray
    """uint8[k] position in KERNEL_CLASSES."""
    hero: np.ndarray
    """int32[k] index into the op arrays of the matrix, reduction or window op, else the root."""
    operand_offset: np.ndarray
    """int64[k + 1]"""
    operand_role: np.ndarray
    """uint8[o] INPUT, WEIGHT or OUTPUT; each kernel's single output comes last."""
    operand_stride: np.ndarray
    """int32[o, 8] see the module's docstring; 0 where the operand does not extend along the loop."""
    operand_order: np.ndarray
    """uint8[o, 8] loops from the operand's most minor dimension to its most major one, NO_LOOP after
    the last; a dimension shared by an output and a window loop is named by the output loop."""
    operand_elements: np.ndarray
    """int64[o] whole size."""
    operand_element_bytes: np.ndarray
    """uint8[o]"""
    op_offset: np.ndarray
    """int64[k + 1]"""
    op_kind: np.ndarray
    """uint8[n] number of the op kind; ops of a kernel are in topological order, the root last."""
    op_stride: np.ndarray
    """int32[n, 8] the loops over which the op is evaluated (a matrix op, reduction or window: its whole
    iteration space, so every loop of the kernel that it runs over; a movement or elementwise op: its result)."""
    op_elements: np.ndarray
    """int64[n] elements of the op's result."""
    op_element_bytes: np.ndarray
    """uint8[n] bytes of one element of the result."""
    op_form: np.ndarray
    """uint8[n] bits of `lib.program.op_form.FORMS`; 0 for all but matrix ops. Not in the fingerprint: kernels that
    differ in it alone are one kernel, since on described hardware they cost the same."""
    edge_offset: np.ndarray
    """int64[k + 1]"""
    edge: np.ndarray
    """int32[e, 2] (source, target) within the kernel: nodes are its operands but the output, in order,
    then its ops."""
    fingerprint: list[str]
    """One a kernel: 32 hexadecimal digits of its canonical form (layout and sizes of types in, names out)."""

    @property
    def number(self) -> int:
        """Number of kernels."""
        return len(self.loops)


OFFSETS = {
    "operand_offset": ("operand_role", "operand_stride", "operand_order", "operand_elements", "operand_element_bytes"),
    "op_offset": ("op_kind", "op_stride", "op_elements", "op_element_bytes", "op_form"),
    "edge_offset": ("edge",),
}
"""Offset arrays and the arrays that they cut into kernels."""
PER_KERNEL = ("loops", "loop_kind", "base_dilation", "kernel_class")

DTYPES = {
    "loops": "int32", "loop_kind": "uint8", "base_dilation": "uint8", "kernel_class": "uint8", "hero": "int32",
    "operand_offset": "int64", "operand_role": "uint8", "operand_stride": "int32", "operand_order": "uint8",
    "operand_elements": "int64", "operand_element_bytes": "uint8", "op_offset": "int64", "op_kind": "uint8",
    "op_stride": "int32", "op_elements": "int64", "op_element_bytes": "uint8", "op_form": "uint8",
    "edge_offset": "int64", "edge": "int32",
}  # fmt: skip
TRAILING = {
    "loops": (8,), "loop_kind": (8,), "base_dilation": (2,), "operand_stride": (8,), "operand_order": (8,),
    "op_stride": (8,), "edge": (2,),
}  # fmt: skip


def empty_kernels() -> Kernels:
    """No kernels at all."""
    fields = {}
    for name, dtype in DTYPES.items():
        length = 1 if name in OFFSETS else 0
        fields[name] = np.zeros((length, *TRAILING.get(name, ())), dtype=dtype)
    return Kernels(**fields, fingerprint=[])


def take(kernels: Kernels, index: np.ndarray) -> Kernels:
    """The kernels at `index` (int[m]), in that order; an index may repeat."""
    index = np.asarray(index, dtype=np.int64)
    fields: dict = {name: getattr(kernels, name)[index] for name in PER_KERNEL}
    for offset_name, names in OFFSETS.items():
        offset = getattr(kernels, offset_name)
        start, length = offset[index], offset[index + 1] - offset[index]
        new_offset = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
        rows = np.repeat(start - new_offset[:-1], length) + np.arange(new_offset[-1])
        fields[offset_name] = new_offset
        for name in names:
            fields[name] = getattr(kernels, name)[rows]
    fields["hero"] = (kernels.hero[index] - kernels.op_offset[index] + fields["op_offset"][:-1]).astype(np.int32)
    return Kernels(**fields, fingerprint=[kernels.fingerprint[i] for i in index])


def concatenate(parts: list[Kernels]) -> Kernels:
    """All kernels of `parts`, one after the other."""
    if not parts:
        return empty_kernels()
    fields: dict = {name: np.concatenate([getattr(p, name) for p in parts]) for name in PER_KERNEL}
    for offset_name, names in OFFSETS.items():
        lengths = np.concatenate([np.diff(getattr(p, offset_name)) for p in parts])
        fields[offset_name] = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        for name in names:
            fields[name] = np.concatenate([getattr(p, name) for p in parts])
    shift = np.cumsum([0] + [len(p.op_kind) for p in parts[:-1]])
    fields["hero"] = np.concatenate([p.hero + s for p, s in zip(parts, shift, strict=True)]).astype(np.int32)
    return Kernels(**fields, fingerprint=[f for p in parts for f in p.fingerprint])


def unique(kernels: Kernels) -> tuple[Kernels, np.ndarray]:
    """Distinct kernels by fingerprint in order of first appearance, and int32[k], each kernel's place there."""
    place: dict[str, int] = {}
    inverse = np.array([place.setdefault(f, len(place)) for f in kernels.fingerprint], dtype=np.int32)
    first = np.full(len(place), -1, dtype=np.int64)
    first[inverse[::-1]] = np.arange(kernels.number)[::-1]
    return take(kernels, first), inverse


def kernels_to_arrays(kernels: Kernels) -> dict[str, np.ndarray]:
    """Arrays for an npz file; fingerprints as fixed-width ASCII."""
    arrays = {name: getattr(kernels, name) for name in DTYPES}
    arrays["fingerprint"] = np.array([f.encode() for f in kernels.fingerprint], dtype="S32")
    return arrays


def kernels_from_arrays(arrays: dict[str, np.ndarray]) -> Kernels:
    """The inverse of :func:`kernels_to_arrays`."""
    fields = {name: arrays[name] for name in DTYPES}
    return Kernels(**fields, fingerprint=[f.decode() for f in arrays["fingerprint"]])
