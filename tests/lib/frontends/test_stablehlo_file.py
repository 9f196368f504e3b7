"""Files with StableHLO modules."""

import pytest
from tensorflow.compiler.mlir.stablehlo import stablehlo_extension

from lib.frontends import trace
from lib.frontends.errors import FrontendError
from lib.program.work import program_work

TEXT = """\
module @jit_f {
  func.func public @main(%x: tensor<2x3xf32> {mhlo.layout_mode = "default"}, %w: tensor<3x4xf32>)
      -> (tensor<2x4xf32> {jax.result_info = ""}, tensor<2xi32>) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %1 = stablehlo.tanh %0 : tensor<2x4xf32>
    %2 = stablehlo.iota dim = 0 : tensor<2xi32>
    return %1, %2 : tensor<2x4xf32>, tensor<2xi32>
  }
}
"""


def spec(name: str) -> dict:
    return {
        "id": "from-file", "family": "x", "source": {"kind": "stablehlo", "name": name}, "arguments": {},
        "input_shape": None, "mode": "inference", "batch": 2, "sizing": "bfloat16", "trip_count": None,
    }  # fmt: skip


def test_text_and_bytecode_give_the_same_program(tmp_path):
    (tmp_path / "module.mlir").write_text(TEXT)
    (tmp_path / "module.mlirbc").write_bytes(stablehlo_extension.serialize_portable_artifact_str(TEXT, "1.0.0"))
    program = trace(spec("module.mlir"), tmp_path)
    assert program == trace(spec("module.mlirbc"), tmp_path)
    roles = {one.dimensions: one.role for one in program.instructions if one.opcode == "parameter"}
    assert roles == {(2, 3): "input", (3, 4): "weight"}
    assert {"dot", "tanh", "iota"} <= {one.opcode for one in program.instructions}
    assert program_work(program)["flops"] == 2 * 2 * 3 * 4
    assert program.batch == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("stablehlo.tanh", "stablehlo.tahn", r"module\.mlir:6: .*tahn"),
        ("@main", "@other", "has no function @main"),
        ("tensor<3x4xf32>", "tensor<?x4xf32>", r"tensor<\?x4xf32> is dynamic; every extent must be known"),
        ("f32", "complex", "complex"),
    ],
)
def test_what_is_wrong_is_said(old, new, message, tmp_path):
    (tmp_path / "module.mlir").write_text(TEXT.replace(old, new))
    with pytest.raises(FrontendError, match=rf"workload 'from-file': .*{message}"):
        trace(spec("module.mlir"), tmp_path)


def test_other_files_are_refused(tmp_path):
    (tmp_path / "empty.mlir").write_text("HloModule x")
    with pytest.raises(FrontendError, match=r"empty\.mlir:1: .*must hold a StableHLO module as MLIR text or bytecode"):
        trace(spec("empty.mlir"), tmp_path)
    with pytest.raises(FrontendError, match=r"can't read .*none\.mlir: No such file"):
        trace(spec("none.mlir"), tmp_path)


@pytest.mark.parametrize("bytecode", [False, True])
def test_deep_nesting_is_refused(bytecode, tmp_path):
    """The module, its function, two for each case and a type. A thousand would end the process without a word."""
    body = "stablehlo.return %x : tensor<4xf32>"
    for level in range(200):
        case = f'%{level} = "stablehlo.case"(%i) ({{ {body} }}) : (tensor<i32>) -> tensor<4xf32>\n'
        body = f"{case} stablehlo.return %{level} : tensor<4xf32>"
    text = f"module {{ func.func @main(%i: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {{ {case} return %199"
    text += " : tensor<4xf32> } }"
    content = stablehlo_extension.serialize_portable_artifact_str(text, "1.0.0") if bytecode else text.encode()
    (tmp_path / "deep").write_bytes(content)
    with pytest.raises(FrontendError, match=r"deep: brackets are nested 403 levels deep; allowed: 256"):
        trace(spec("deep"), tmp_path)
