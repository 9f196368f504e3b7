"""Energy by hand, and never more power than TDP."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lib.cost.energy import Energy, energy_of_rows, matrix_products
from lib.cost.pipeline import PART_NAMES
from lib.cost.simulator import Simulator
from lib.hardware.datapath import datapath_from_spec, spec_of_datapath
from lib.hardware.power import chip_power
from lib.program.kernel_builder import KernelRow, KernelsBuilder
from lib.schedule.schedules import schedules_for_tiles
from schemas.power_area import PowerAreaModel
from tests.datapath_examples import TPU_V3_SPEC
from tests.kernel_examples import dot, elementwise
from tests.lib.cost.random_designs import convolution, random_datapath, random_kernels_of_all_kinds
from tests.lib.cost.random_kernels import TPU_V3, random_rows
from tests.lib.hardware.designs import FAST_LARGE

PJ = 1e-12
MODELS: tuple[PowerAreaModel, ...] = ("public", "fast-fitted")


def energy(row: KernelRow, datapath, tile, model: PowerAreaModel = "public") -> tuple[Energy, float, dict]:
    builder = KernelsBuilder()
    builder.add(row)
    kernels = builder.build()
    rows = schedules_for_tiles(np.array([0]), np.array([tile]))
    costs = Simulator(power_model=model).cost(kernels, rows, datapath, parts=True)
    found = energy_of_rows(kernels, rows.kernel, costs.value, costs.parts, datapath, model)
    assert costs.joules[0] == found.total[0]
    return found, costs.value[0], dict(zip(PART_NAMES, costs.parts[0], strict=True))


def test_a_dot_by_hand():
    # [128, 64] x [64, 128] on two arrays of 128 x 128, half of the rows each. Each takes 64 rows of 64 inputs, all
    # 64 x 128 weights and gives 64 x 128 sums.
    found, seconds, parts = energy(dot(128, 128, 64), TPU_V3, (128, 1, 1, 128, 64, 1, 1, 1))
    assert found.systolic_arrays[0] == pytest.approx(128 * 128 * 64 * 0.59 * PJ)
    assert (parts["array_inputs"], parts["array_weights"], parts["array_sums"]) == (128 * 64, 2 * 64 * 128, 128 * 128)
    # 64 KiB of shared L1: 7.5 pJ at 8 KiB for 8 bytes, growing with 0.129; sums of 4 bytes.
    access = 7.5 * 8**0.129 / 8 * PJ
    assert found.l1[0] == pytest.approx((2 * 128 * 64 + 2 * 2 * 64 * 128 + 4 * 128 * 128) * access)
    assert found.l2[0] == 0
    # Inputs and, for both at once, weights cross the mesh: 16 MiB take 35.6 pJ for 8 bytes.
    assert found.global_buffer[0] == pytest.approx((128 * 64 + 64 * 128) * 2 * 35.6 / 8 * PJ)
    assert found.dram[0] == pytest.approx((2 * 128 * 64 + 128 * 128) * 2 * 350 / 8 * PJ)
    leakage = chip_power(spec_of_datapath(TPU_V3), "public").leakage
    assert found.leakage[0] == pytest.approx(seconds * leakage / 2)  # half of the chip's two cores
    assert found.vector_units[0] == pytest.approx(parts["vector_s"] * 1024 * 0.94e9 * 12.9 * PJ)


def test_elementwise_kernels_take_no_energy_in_arrays():
    found, _, parts = energy(elementwise(4, 8, 8, 128), TPU_V3, (4, 8, 8, 128, 1, 1, 1, 1))
    assert found.systolic_arrays[0] == found.l1[0] == found.global_buffer[0] == 0
    assert found.vector_units[0] == pytest.approx(parts["vector_s"] * 1024 * 0.94e9 * 12.9 * PJ)
    assert found.dram[0] == pytest.approx(3 * 4 * 8 * 8 * 128 * 2 * 350 / 8 * PJ)


@pytest.mark.parametrize(("size", "picojoules"), [(1, 0.07 + 0.03), (2, 0.21 + 0.38), (4, 1.31 + 0.38)])
def test_products_cost_by_number_format(size, picojoules):
    datapath = TPU_V3._replace(element_bytes=size)
    found, _, _ = energy(dot(128, 128, 64), datapath, (128, 1, 1, 128, 64, 1, 1, 1))
    assert found.systolic_arrays[0] == pytest.approx(128 * 128 * 64 * picojoules * PJ)


def test_zeros_of_transposed_convolutions_take_no_products():
    builder = KernelsBuilder()
    builder.add(convolution(1, 8, 8, 16, 4, 4, 4, base_dilation=2))
    builder.add(elementwise(1, 8, 8, 16))
    assert matrix_products(builder.build()).tolist() == [8 * 8 * 16 * 4 * 2 * 2, 0]


def test_spec_and_datapath_are_inverses():
    assert spec_of_datapath(datapath_from_spec(TPU_V3_SPEC)) == TPU_V3_SPEC
    resolved = FAST_LARGE | {"number_format": "int8", "l2_config": "private"}
    assert spec_of_datapath(datapath_from_spec(resolved)) == resolved


@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**32 - 1))
def test_no_kernel_draws_more_than_tdp(model, seed):
    generator = np.random.default_rng(seed)
    kernels = random_kernels_of_all_kinds(generator)
    datapath = random_datapath(generator)._replace(cores=int(generator.choice([1, 2, 4])))
    rows = random_rows(generator, kernels, 50)
    costs = Simulator(power_model=model).cost(kernels, rows, datapath)
    priced = ~np.isnan(costs.value)
    watts = chip_power(spec_of_datapath(datapath), model)
    assert (costs.joules[priced] <= watts.total / datapath.cores * costs.value[priced] * (1 + 1e-9)).all()
    assert (costs.joules[priced] >= watts.leakage / datapath.cores * costs.value[priced]).all()
    assert np.isnan(costs.joules[~priced]).all()
