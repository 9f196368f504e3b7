"""What an npz file of kernels must hold: `lib.program.kernels.Kernels`, array by array."""

from schemas.artifact_files import Array

KERNEL_ARRAYS = {
    "loops": Array("int32", ("k", 8), minimum=1),
    "loop_kind": Array("uint8", ("k", 8)),
    "base_dilation": Array("uint8", ("k", 2), minimum=1),
    "kernel_class": Array("uint8", ("k",)),
    "hero": Array("int32", ("k",), minimum=0),
    "operand_offset": Array("int64", ("k+1",), offsets=True),
    "operand_role": Array("uint8", ("o",)),
    "operand_stride": Array("int32", ("o", 8), minimum=0),
    "operand_order": Array("uint8", ("o", 8)),
    "operand_elements": Array("int64", ("o",), minimum=0),
    "operand_element_bytes": Array("uint8", ("o",), minimum=1),
    "op_offset": Array("int64", ("k+1",), offsets=True),
    "op_kind": Array("uint8", ("n",)),
    "op_stride": Array("int32", ("n", 8), minimum=0),
    "op_elements": Array("int64", ("n",), minimum=0),
    "op_element_bytes": Array("uint8", ("n",), minimum=1),
    "op_form": Array("uint8", ("n",)),
    "edge_offset": Array("int64", ("k+1",), offsets=True),
    "edge": Array("int32", ("e", 2), minimum=0),
    "fingerprint": Array("S32", ("k",)),
}
