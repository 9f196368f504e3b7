"""A new op kind is one line of `schemas/presets/op_kinds.yaml`."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lib.cost.analytical import Analytical
from lib.cost.simulator import Simulator
from lib.fusion.default_kernels import default_kernels
from lib.program import op_kinds
from lib.program.program import Program
from lib.schedule.default import default_schedule
from tests.datapath_examples import tpu_v3
from tests.lib.program.program_examples import Writer

TABLES = (op_kinds.op_kind_table, op_kinds.op_kind_numbers, op_kinds.op_classes_by_opcode, op_kinds.op_class_numbers)


@pytest.fixture
def softplus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The op kind `softplus`, which no version of the table has."""
    table = tmp_path / "op_kinds.yaml"
    table.write_text(op_kinds.PRESET.read_text(encoding="utf-8") + "- {name: softplus, class: transcendental}\n")
    for read in TABLES:
        read.cache_clear()
    with monkeypatch.context() as changed:
        changed.setattr(op_kinds, "PRESET", table)
        yield
    for read in TABLES:
        read.cache_clear()


def activated(opcode: str) -> Program:
    """An op of its own on 64 x 512 numbers."""
    w = Writer()
    return w.program(w.add(opcode, (64, 512), w.input(64, 512)))


def prices(program: Program) -> list[float]:
    """Seconds by both cost models."""
    found = default_kernels(program)
    assert found.kernels.number == 1
    schedules = default_schedule(found.kernels, tpu_v3())
    return [float(model.cost(found.kernels, schedules, tpu_v3()).value[0]) for model in (Analytical(), Simulator())]


@pytest.mark.usefixtures("softplus")
def test_a_toy_op_is_priced_as_its_class():
    toy, known, simple = (prices(activated(opcode)) for opcode in ("softplus", "tanh", "negate"))
    np.testing.assert_array_equal(toy, known)
    assert toy[1] >= simple[1]


def test_without_its_line_it_is_refused_by_name():
    with pytest.raises((KeyError, ValueError), match="softplus"):
        prices(activated("softplus"))
