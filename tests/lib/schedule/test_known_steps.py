"""Rows that a descent remembers are never taken for one another."""

from itertools import product

import numpy as np

from lib.schedule.known_steps import ROWS, row_number, row_place


def test_every_row_of_every_kernel_has_a_number_of_its_own():
    # Six tiles of the first kernel and three of the second: counted on from the kernel alone they would run into one
    # another, (0 + 1) * 6 + 0 = (1 + 1) * 3 + 0.
    numbers = []
    for kernel, counts in ((0, (6, 1)), (1, (3, 1)), (2, (2, 2))):
        extents = np.array([*counts, 1, 1, 1, 1, 1, 1])
        for first, second in product(range(counts[0]), range(counts[1])):
            digits = np.array([first, second, 0, 0, 0, 0, 0, 0])
            for dataflow, order, resident in product(range(3), range(3), range(8)):
                numbers.append(row_number(kernel, digits, extents, dataflow, order, resident))
    assert len(set(numbers)) == len(numbers) == (6 + 3 + 4) * 9 * 8
    assert min(numbers) > 0  # 0 stands for an empty place


def test_rows_spread_over_the_table():
    places = [row_place(np.int64(number)) for number in range(1, 2 * ROWS)]
    assert min(places) >= 0
    assert max(places) < ROWS
    assert len(set(places)) > ROWS / 2
