"""What matrix ops reach in each form."""

import numpy as np
import pytest

from lib.gnn.examples import examples_of_shards
from lib.gnn.form_rates import UNKNOWN, flops_per_reference_s, learned_rates, read, reference_s, written
from lib.program.kernels import take
from tests.kernel_examples import example_kernels
from tests.shard_examples import hand_made_shard

FLOPS = 2 * 4 * 28 * 28 * 256 * 128 * 9
"""Of the first example kernel, a convolution."""
GRADIENT = 0b111
"""Source, weights and result turned."""


def convolutions(form: int, runtimes_us: list[float], estimate_us: float = 100.0):
    """Examples of one convolution, once a runtime, whose op is written in a form."""
    kernels = take(example_kernels(), np.zeros(len(runtimes_us), int))
    op_form = kernels.op_form.copy()
    op_form[kernels.hero] = form
    kernels = kernels._replace(op_form=op_form)
    rows = [[runtime] for runtime in runtimes_us], [[estimate_us]] * len(runtimes_us)
    return examples_of_shards([hand_made_shard(*rows, task="fusion", kernels=kernels)])


def test_a_rate_is_the_median_of_a_form():
    rates = learned_rates(convolutions(GRADIENT, [1e5] * 11 + [1e6] * 9))
    assert rates[GRADIENT] == pytest.approx(FLOPS / 0.1, rel=1e-5)
    assert np.isinf(np.delete(rates, GRADIENT)).all()


def test_few_kernels_and_the_plain_form_have_no_rate():
    assert np.isinf(learned_rates(convolutions(GRADIENT, [1e5] * 19))).all()
    assert np.isinf(learned_rates(convolutions(0, [1e5] * 30))).all()


def test_the_reference_is_the_longer_of_estimate_and_loop():
    rates = UNKNOWN.copy()
    rates[GRADIENT] = FLOPS / 0.1
    gradients = convolutions(GRADIENT, [1e5, 1e5], estimate_us=100)
    assert reference_s(gradients, rates) == pytest.approx([0.1, 0.1], rel=1e-5)
    assert reference_s(gradients) == pytest.approx([1e-4, 1e-4])
    assert reference_s(convolutions(GRADIENT, [1e5], estimate_us=2e5), rates) == pytest.approx([0.2])
    assert reference_s(convolutions(0, [1e5]), rates) == pytest.approx([1e-4])
    column = flops_per_reference_s(gradients, rates, np.array([1]))
    assert column == pytest.approx([np.log2(FLOPS / 0.1)], rel=1e-5)


def test_rates_are_written_by_names():
    rates = UNKNOWN.copy()
    rates[0b11], rates[0b10000] = 2e9, 5e8
    text = written(rates)
    assert text == {"source_turned+weights_turned": 2e9, "feature_groups": 5e8}
    assert np.array_equal(read(text), rates)
    with pytest.raises(ValueError, match="sideways"):
        read({"sideways": 1.0})
