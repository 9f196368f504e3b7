"""Sorts, scans, pooling gradients, arg-reductions and slices at computed offsets as kernels, by hand."""

import numpy as np
import pytest

from lib.cost.analytical import Analytical
from lib.cost.simulator import Simulator
from lib.fusion.default_kernels import default_kernels
from lib.program.extraction import ProgramKernels, kernel_work
from lib.program.kernels import KERNEL_CLASSES, NO_LOOP
from lib.program.program import Indexing
from lib.program.work import program_work
from lib.schedule.default import default_schedule
from tests.datapath_examples import tpu_v3
from tests.lib.program.program_examples import Writer, window

ROWS, COLUMNS = 8, 300


def kernel_of(w: Writer, *outputs: int) -> tuple[ProgramKernels, dict]:
    """The kernels, and the program's own count of work."""
    program = w.program(*outputs)
    return default_kernels(program), program_work(program)


def prices(found: ProgramKernels) -> np.ndarray:
    """Seconds of every kernel by both cost models."""
    schedules = default_schedule(found.kernels, tpu_v3())
    return np.array([model.cost(found.kernels, schedules, tpu_v3()).value for model in (Analytical(), Simulator())])


def sorting(w: Writer) -> int:
    # 300 elements: 9 levels, 9 * 10 / 2 = 45 stages of a comparison, a fetch and a selection.
    return w.add("sort", (ROWS, COLUMNS), w.input(ROWS, COLUMNS), axes=(1,), body_ops=3)


def scanning(w: Writer) -> int:
    return w.add("scan", (ROWS, COLUMNS), w.input(ROWS, COLUMNS), w.constant(0.0), axes=(1,), reducer="add")


def largest_and_where(w: Writer) -> int:
    x, place = w.input(ROWS, COLUMNS), w.add("iota", (ROWS, COLUMNS), axes=(1,))
    return w.add("reduce", (ROWS,), x, place, w.constant(0.0), w.constant(0.0), axes=(1,), body_ops=5)


@pytest.mark.parametrize(
    ("make", "operations", "written"),
    [
        (sorting, ROWS * COLUMNS * 45 * 3, ROWS * COLUMNS * 4),
        (scanning, ROWS * COLUMNS * 9, ROWS * COLUMNS * 4),
        (largest_and_where, ROWS * COLUMNS * 5, ROWS * 4),
    ],
)
def test_work_along_a_dimension(make, operations, written):
    w = Writer()
    found, of_program = kernel_of(w, make(w))
    work = kernel_work(found.kernels)
    assert KERNEL_CLASSES[found.kernels.kernel_class[0]] == "reduction"
    assert work.vector_ops[0].sum() == of_program["vector_ops"] == operations
    assert (work.bytes_read[0], work.bytes_written[0]) == (ROWS * COLUMNS * 4, written)
    # At least what all lanes of both PEs take for the operations (512 lanes each, two instructions a cycle).
    assert (prices(found) > operations / (2 * 512 * 2) / 0.94e9).all()


@pytest.mark.parametrize(
    ("size", "stride", "small", "windows"),
    [(2, 2, 4, 1), (3, 1, 8, 9), (3, 2, 4, 4)],  # an element lies in ceil(size / stride) windows a dimension
)
def test_gradient_of_max_pooling(size, stride, small, windows):
    w = Writer()
    x, gradient = w.input(2, 8, 8, 4), w.input(2, small, small, 4)
    pooled = window(size, stride)
    spread = {name: (1, *getattr(pooled, name), 1) for name in ("size", "stride", "window_dilation", "base_dilation")}
    padding = {name: (0, *getattr(pooled, name), 0) for name in ("padding_low", "padding_high")}
    whole = type(pooled)(**spread, **padding)
    found, _ = kernel_of(
        w, w.add("select-and-scatter", (2, 8, 8, 4), x, gradient, w.constant(0.0), window=whole, body_ops=4)
    )
    work = kernel_work(found.kernels)
    assert KERNEL_CLASSES[found.kernels.kernel_class[0]] == "window"
    assert work.vector_ops[0].sum() == 2 * 8 * 8 * 4 * windows * 4
    assert work.bytes_read[0] == 4 * (2 * 8 * 8 * 4 + 2 * small * small * 4)
    assert work.bytes_written[0] == 4 * 2 * 8 * 8 * 4
    assert (prices(found) > 0).all()


def test_slices_at_computed_offsets_move_what_they_cut_out():
    w = Writer()
    table, place = w.input(100, 64), w.input(dtype="s32")
    row = w.add("dynamic-slice", (1, 64), table, place, w.constant(0.0, dtype="s32"))
    buffer = w.add("inserted-copy", (100, 64), table)
    result = w.add("dynamic-update-slice", (100, 64), buffer, w.add("tanh", (1, 64), row), place, place)
    found, of_program = kernel_of(w, result)
    work = kernel_work(found.kernels)
    # The copy; the row in, tanh, the row out, in one kernel; offsets are scalars of 4 bytes.
    assert work.bytes_read.tolist() == [100 * 64 * 4, 64 * 4 + 4]
    assert work.bytes_written.tolist() == [100 * 64 * 4, 64 * 4]
    assert of_program["activation_bytes"] == (100 + 3) * 64 * 4
    assert (prices(found) > 0).all()


def test_a_gather_does_not_enter_a_reduction():
    w = Writer()
    numbers = Indexing(window=(1,), collapsed=(0,), indexed=(0,))
    picked = w.add("gather", (32, 64), w.weight(1000, 64), w.input(32, dtype="s32"), indexing=numbers)
    found, _ = kernel_of(w, w.add("reduce", (64,), picked, w.constant(0.0), axes=(0,), reducer="add"))
    assert [KERNEL_CLASSES[c] for c in found.kernels.kernel_class] == ["movement", "reduction"]
    assert found.kernels.operand_order[0, 2] == NO_LOOP
