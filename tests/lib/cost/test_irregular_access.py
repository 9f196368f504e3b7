"""Rows that indices pick are read and written one by one."""

import numpy as np
import pytest

from lib.cost.dma import operand_transfer
from lib.cost.simulator_constants import SimulatorConstants
from lib.cost.tile_step import step_model
from lib.fusion.default_kernels import default_kernels
from lib.program.extraction import kernel_work
from lib.program.program import Indexing
from tests.datapath_examples import toy
from tests.lib.program.program_examples import Writer

LOOK_UP = Indexing(window=(1,), collapsed=(0,), indexed=(0,))
ROWS, WIDTH, PICKED = 5000, 256, 96
TABLE, INDICES, OUTPUT = range(3)


def look_up(*, elements: int = WIDTH):
    """96 rows of a table of 5000."""
    w = Writer()
    table, indices = w.weight(ROWS, elements), w.input(PICKED, dtype="s32")
    return default_kernels(w.program(w.add("gather", (PICKED, elements), table, indices, indexing=LOOK_UP)))


def transfer(found, operand: int, datapath) -> tuple[float, float]:
    model = step_model(found.kernels, datapath, SimulatorConstants())
    tile = np.append(found.kernels.loops[0], 1).astype(np.int64)
    size = float(found.kernels.operand_element_bytes[operand])
    return operand_transfer(model, operand, tile, size, datapath)


def test_a_look_up_moves_the_rows_that_it_picks():
    work = kernel_work(look_up().kernels)
    assert work.bytes_read[0] == PICKED * WIDTH * 4 + PICKED * 4
    assert work.bytes_written[0] == PICKED * WIDTH * 4


def test_each_row_is_a_run_of_its_own():
    datapath, constants = toy()._replace(dram_channels=1), SimulatorConstants()
    seconds, moved = transfer(look_up(), TABLE, datapath)
    assert moved == PICKED * WIDTH * 4
    rate = datapath.dram_bytes_per_s * constants.dram_efficiency
    start_s = constants.dma_run_cycles / datapath.clock_hz
    assert seconds == pytest.approx(moved / rate + PICKED * start_s)
    # Rows of 12 bytes take whole bursts.
    seconds, moved = transfer(look_up(elements=3), TABLE, datapath)
    assert moved == PICKED * 12
    assert seconds == pytest.approx(PICKED * (constants.burst_bytes / rate + start_s))
    # The result is written as one run, like any other array.
    assert transfer(look_up(), OUTPUT, datapath)[0] == pytest.approx(PICKED * WIDTH * 4 / rate + start_s)


def test_a_small_table_is_read_once():
    w = Writer()
    table, indices = w.weight(10, WIDTH), w.input(PICKED, dtype="s32")
    found = default_kernels(w.program(w.add("gather", (PICKED, WIDTH), table, indices, indexing=LOOK_UP)))
    assert kernel_work(found.kernels).bytes_read[0] == 10 * WIDTH * 4 + PICKED * 4


def test_a_scatter_reads_and_writes_the_rows_that_it_changes():
    w = Writer()
    table = w.add("inserted-copy", (ROWS, WIDTH), w.input(ROWS, WIDTH))
    indices, updates = w.input(PICKED, dtype="s32"), w.input(PICKED, WIDTH)
    scattered = w.add("scatter", (ROWS, WIDTH), table, indices, updates, indexing=LOOK_UP, body_ops=2, reducer="add")
    found = default_kernels(w.program(scattered))
    work = kernel_work(found.kernels)
    rows = PICKED * WIDTH * 4
    assert work.bytes_read.tolist() == [ROWS * WIDTH * 4, rows + PICKED * 4 + rows]
    assert work.bytes_written.tolist() == [ROWS * WIDTH * 4, rows]
    assert work.vector_ops[1].sum() == 2 * PICKED * WIDTH
