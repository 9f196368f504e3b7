"""Files with HLO modules."""

import pytest

from lib.frontends import trace
from lib.frontends.errors import FrontendError
from lib.program.program import BatchError
from tests.lib.frontends.hlo_examples import Module


def spec(name: str) -> dict:
    return {
        "id": "from-file", "family": "x", "source": {"kind": "hlo", "name": name}, "arguments": {},
        "input_shape": None, "mode": "inference", "batch": 2, "sizing": "bfloat16", "trip_count": None,
    }  # fmt: skip


def test_a_file_is_read_relative_to_the_study(tmp_path):
    module = Module()
    adder = module.adder()
    module.start()
    module.add(
        "reduce", (2,), module.parameter(0, 2, 8), module.constant(0.0), dimensions=[1], called_computation_ids=[adder]
    )
    (tmp_path / "module.pb").write_bytes(module.proto.SerializeToString())
    program = trace(spec("module.pb"), tmp_path)
    assert [one.opcode for one in program.instructions] == ["parameter", "constant", "reduce"]
    assert program.instructions[2].reducer == "add"
    assert program.batch == 2
    with pytest.raises(BatchError, match="HLO file"):
        program.with_batch(4)


def test_what_is_not_a_module_is_refused(tmp_path):
    (tmp_path / "text.pb").write_text("Module test\n\nENTRY main { }")
    (tmp_path / "empty.pb").write_bytes(b"")
    for name in ("text.pb", "empty.pb"):
        with pytest.raises(FrontendError, match=rf"workload 'from-file': .*{name} does not hold an HLO module"):
            trace(spec(name), tmp_path)
    with pytest.raises(FrontendError, match=r"can't read .*none.pb: No such file"):
        trace(spec("none.pb"), tmp_path)
