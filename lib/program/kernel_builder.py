"""Builds :class:`Kernels` one kernel at a time, with its canonical fingerprint."""

import hashlib
from dataclasses import dataclass, field

import numpy as np

from lib.program.kernels import DTYPES, NO_LOOP, OFFSETS, OUTPUT, TRAILING, Kernels
from lib.program.op_kinds import op_kind_numbers


@dataclass(slots=True)
class OperandRow:
    """One operand; see :class:`Kernels` for the meaning of each field."""

    role: int
    stride: tuple[int, ...]
    order: tuple[int, ...]
    """Loops from minor to major, without filler."""
    elements: int
    element_bytes: int


@dataclass(slots=True)
class OpRow:
    """One op; `sources` are nodes: operands (without the output) first, then ops."""

    opcode: str
    stride: tuple[int, ...]
    elements: int
    element_bytes: int
    sources: tuple[int, ...]
    form: int = 0


@dataclass(slots=True)
class KernelRow:
    """One kernel. The output is the last operand; the root is the last op."""

    kernel_class: int
    loops: tuple[int, ...]
    loop_kind: tuple[int, ...]
    hero: int
    """Index of the hero among `ops`."""
    operands: list[OperandRow]
    ops: list[OpRow]
    base_dilation: tuple[int, int] = (1, 1)


@dataclass(slots=True)
class KernelsBuilder:
    """Collects kernels; :meth:`build` makes the arrays."""

    rows: list[KernelRow] = field(default_factory=list)

    def add(self, row: KernelRow) -> int:
        """Append a kernel and return its index. Raises ValueError where its parts contradict each other."""
        roles = [operand.role for operand in row.operands]
        if roles.count(OUTPUT) != 1 or roles[-1] != OUTPUT:
            raise ValueError("a kernel has exactly one output, and it is the last operand")
        if not 0 <= row.hero < len(row.ops):
            raise ValueError(f"hero {row.hero} is not one of {len(row.ops)} ops")
        for position, op in enumerate(row.ops):
            if op.opcode not in op_kind_numbers():
                raise ValueError(f"op {position} has the opcode '{op.opcode}', which is no op kind")
            if any(not 0 <= s < len(row.operands) - 1 + position for s in op.sources):
                raise ValueError(f"op {position} ({op.opcode}) has a source that does not come before it")
        self.rows.append(row)
        return len(self.rows) - 1

    def build(self) -> Kernels:
        """All kernels as arrays."""
        columns: dict[str, list] = {name: [] for name in DTYPES}
        for offset in OFFSETS:
            columns[offset].append(0)
        fingerprints = []
        for row in self.rows:
            first_op = columns["op_offset"][-1]
            single = _kernel_columns(row)
            for name, values in single.items():
                columns[name].extend(values)
            columns["hero"].append(first_op + row.hero)
            for offset, names in OFFSETS.items():
                columns[offset].append(columns[offset][-1] + len(single[names[0]]))
            fingerprints.append(_fingerprint(row, single))
        arrays = {
            name: np.array(values, dtype=DTYPES[name]).reshape(-1, *TRAILING.get(name, ()))
            for name, values in columns.items()
        }
        return Kernels(**arrays, fingerprint=fingerprints)


def _kernel_columns(row: KernelRow) -> dict[str, list]:
    numbers = op_kind_numbers()
    inputs = len(row.operands) - 1
    return {
        "loops": [row.loops],
        "loop_kind": [row.loop_kind],
        "base_dilation": [row.base_dilation],
        "kernel_class": [row.kernel_class],
        "operand_role": [o.role for o in row.operands],
        "operand_stride": [o.stride for o in row.operands],
        "operand_order": [tuple(o.order) + (NO_LOOP,) * (8 - len(o.order)) for o in row.operands],
        "operand_elements": [o.elements for o in row.operands],
        "operand_element_bytes": [o.element_bytes for o in row.operands],
        "op_kind": [numbers[o.opcode] for o in row.ops],
        "op_stride": [o.stride for o in row.ops],
        "op_elements": [o.elements for o in row.ops],
        "op_element_bytes": [o.element_bytes for o in row.ops],
        "op_form": [o.form for o in row.ops],
        "edge": [(s, inputs + position) for position, o in enumerate(row.ops) for s in o.sources],
    }


def _fingerprint(row: KernelRow, single: dict[str, list]) -> str:
    digest = hashlib.sha256()
    for name in sorted(single.keys() - {"op_form"}):
        if name == "op_kind":
            digest.update(" ".join(o.opcode for o in row.ops).encode())
        else:
            digest.update(np.array(single[name], dtype=np.int64).tobytes())
        digest.update(b"|")
    digest.update(str(row.hero).encode())
    return digest.hexdigest()[:32]
