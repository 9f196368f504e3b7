"""The slow truth that the simulator's closed form is checked against: it walks through every tile step.

What one step costs (matrix unit, vector unit and mesh, one transfer) is shared with the product code. Everything about
the sequence is worked out here again, event by event: trip counts, edge tiles, which operand changes, when an output
tile is complete, when partial sums leave and come back, and what overlaps what.
"""

from itertools import product

import numpy as np

from lib.cost.dma import operand_transfer
from lib.cost.matrix_unit import pe_splits
from lib.cost.pe_memory import usable_array
from lib.cost.simulator_constants import ACCUMULATOR_BYTES, SimulatorConstants
from lib.cost.tile_step import compute_step, step_model
from lib.hardware.datapath import Datapath
from lib.program.kernels import GROUP, OUTPUT, Kernels
from lib.program.op_kinds import op_kind_table
from lib.schedule.loops import loop_nest
from lib.schedule.schedules import Schedules


class Walker:
    """Walks single rows; costs of equal tiles are remembered."""

    def __init__(self, kernels: Kernels, datapath: Datapath):
        self.kernels, self.datapath = kernels, datapath
        self.constants = SimulatorConstants()
        self.model = step_model(kernels, datapath, self.constants)
        self.compute_cost: dict = {}
        self.transfer_cost: dict = {}

    def compute(self, k, extents, complete, dataflow, spatial) -> float:
        key = (k, extents, complete, dataflow, spatial)
        if key not in self.compute_cost:
            out, room = np.zeros((2, 8)), np.zeros((4, 5))
            tile = np.array([*extents, 1], dtype=np.int64)
            array = usable_array(self.datapath, dataflow)
            splits = pe_splits(self.datapath, int(self.kernels.loops[k, GROUP]), *spatial)
            compute_step(self.model, k, tile, np.uint8(dataflow), splits, array, self.datapath, room, out)
            self.compute_cost[key] = out[int(complete), 0]
        return self.compute_cost[key]

    def transfer(self, operand, extents, element_bytes) -> tuple[float, float]:
        key = (operand, extents, element_bytes)
        if key not in self.transfer_cost:
            tile = np.array([*extents, 1], dtype=np.int64)
            self.transfer_cost[key] = operand_transfer(self.model, operand, tile, float(element_bytes), self.datapath)
        return self.transfer_cost[key]

    def walk(self, schedules: Schedules, row: int) -> tuple[float, np.ndarray]:
        """Seconds and DRAM bytes (inputs, weights, output) of a schedule row."""
        k, tile, padded = int(schedules.kernel[row]), schedules.tile[row], schedules.padded[row]
        dataflow, order = int(schedules.dataflow[row]), int(schedules.loop_order[row])
        spatial, resident = tuple(schedules.spatial[row, :2].tolist()), int(schedules.resident[row])
        kernels = self.kernels
        classes = dict(op_kind_table())
        hero = op_kind_table()[kernels.op_kind[kernels.hero[k]]][0]
        nest = [int(j) for j in loop_nest(order, classes[hero] in ("matrix", "window"))]
        extents = [int(e) for e in kernels.loops[k]]
        sizes = [int(t) for t in tile]
        starts = {j: range(0, extents[j], sizes[j]) for j in nest}
        first, end = int(kernels.operand_offset[k]), int(kernels.operand_offset[k + 1])
        moving_roles = [role for role in range(3) if not resident & 1 << role]
        operands = [o for o in range(first, end - 1) if kernels.operand_role[o] in moving_roles]
        output = end - 1
        along = {o: [j for j in range(8) if kernels.operand_stride[o, j] > 0] for o in (*operands, output)}
        visits_needed = int(np.prod([len(starts[j]) for j in nest if j not in along[output]], dtype=np.int64))

        # Every step: what it holds, what it must load, and in which state its output tile is before and after.
        steps = []
        held: dict = dict.fromkeys(operands)
        visits: dict = {}
        output_held = None
        for position in product(*(starts[j] for j in nest)):
            at = dict(zip(nest, position, strict=True))
            now = tuple(min(sizes[j], extents[j] - at[j]) for j in range(8))
            computed = tuple(min(sizes[j], max(extents[j], int(padded[j])) - at[j]) for j in range(8))
            needed = []
            for o in operands:
                place = tuple(at[j] for j in along[o])
                if held[o] != place:
                    held[o] = place
                    needed.append(o)
            place = tuple(at[j] for j in along[output])
            returns = OUTPUT in moving_roles and place != output_held and place in visits
            output_held = place
            visits[place] = visits.get(place, 0) + 1
            steps.append((now, computed, needed, place, returns, visits[place] == visits_needed))
        assert all(count == visits_needed for count in visits.values())

        moved = np.zeros(3)
        loads, stores, computes = [], [], []
        for number, (now, computed, needed, place, returns, complete) in enumerate(steps):
            seconds = 0.0
            for o in needed:
                cost, count = self.transfer(o, now, kernels.operand_element_bytes[o])
                seconds += cost
                moved[kernels.operand_role[o]] += count
            size = int(kernels.operand_element_bytes[output])
            if returns:
                cost, count = self.transfer(output, now, max(size, ACCUMULATOR_BYTES))
                seconds += cost
                moved[OUTPUT] += count
            loads.append(seconds + self.constants.dma_latency_s if needed or returns else 0.0)
            computes.append(self.compute(k, computed, complete, dataflow, spatial))
            leaves = number + 1 == len(steps) or steps[number + 1][3] != place
            if leaves and OUTPUT in moving_roles:
                leaving_size = size if complete else max(size, ACCUMULATOR_BYTES)
                cost, count = self.transfer(output, now, leaving_size)
                stores.append(cost + self.constants.dma_latency_s)
                moved[OUTPUT] += count
            else:
                stores.append(0.0)

        time = self.constants.kernel_launch_s + loads[0]
        for number in range(len(steps)):
            moving = loads[number + 1] if number + 1 < len(steps) else 0.0
            moving += stores[number - 1] if number > 0 else 0.0
            time += max(computes[number], moving)
        return time + stores[-1], moved
