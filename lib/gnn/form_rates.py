"""What matrix ops reach in each form on a device: half of the estimate that runtimes are learned relative to.

The analytical model prices every form as the matrix unit would run it. Where a compiler has only a plain loop for a
form, the time is the FLOPs over a rate of the form's own, tens to hundreds of times as long.
"""

from collections.abc import Mapping

import numpy as np

from lib.gnn.examples import Examples
from lib.gnn.feature_set import KERNEL_FEATURES
from lib.program.op_form import FORMS

LEAST_KERNELS = 20
"""Of a form, in training; fewer say little."""
EVERY = slice(None)
"""All rows."""
FLOPS = KERNEL_FEATURES.index("matrix_flops")
UNKNOWN = np.full(1 << len(FORMS), np.inf)
"""No form has a rate: the analytical estimate stands for all of them."""


def learned_rates(examples: Examples) -> np.ndarray:
    """float64[2 ** len(FORMS)] FLOP/s by form: the median over the kernels whose hero has it. Infinite for form 0,
    which the analytical model is made for, and for forms of fewer than LEAST_KERNELS kernels."""
    reached = _flops(examples)[examples.row_kernel] / examples.runtime_s
    form = _hero_forms(examples)[examples.row_kernel]
    rates = UNKNOWN.copy()
    for number in np.unique(form[form > 0]):
        of_form = reached[form == number]
        if len(of_form) >= LEAST_KERNELS:
            rates[number] = np.median(of_form)
    return rates


def reference_s(examples: Examples, rates: np.ndarray = UNKNOWN, rows: np.ndarray | slice = EVERY) -> np.ndarray:
    """float64[r] of some rows: what the fusion task's runtimes are learned relative to. The analytical estimate, or
    where that is longer the FLOPs at the rate of their form (`rates` as from :func:`learned_rates`); one second where
    the hardware has no datapath to estimate with."""
    if not examples.features.analytical:
        return np.ones(len(examples.tile))[rows]
    estimate = examples.analytical[rows, 0]
    if not np.isfinite(rates).any():
        return estimate
    loop_s = _flops(examples) / rates[_hero_forms(examples)]
    return np.maximum(estimate, loop_s[_kernel_of(examples, rows)])


def flops_per_reference_s(examples: Examples, rates: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """float32[n] of some rows (int64[n]): log2 of the FLOP/s that their references mean."""
    flops = _flops(examples)[_kernel_of(examples, rows)]
    return (np.log2(1.0 + flops) - np.log2(reference_s(examples, rates, rows))).astype(np.float32)


def written(rates: np.ndarray) -> dict[str, float]:
    """The finite rates by names of their forms, as `source_turned+weights_turned`."""
    numbers = np.flatnonzero(np.isfinite(rates)).tolist()
    return {"+".join(name for bit, name in enumerate(FORMS) if n >> bit & 1): float(rates[n]) for n in numbers}


def read(text: Mapping[str, float]) -> np.ndarray:
    """The inverse of :func:`written`. Raises ValueError for an unknown form."""
    rates = UNKNOWN.copy()
    for form, rate in text.items():
        names = form.split("+")
        if not set(names) <= set(FORMS):
            raise ValueError(f"form '{form}' of a matrix op; known parts: {', '.join(FORMS)}")
        rates[sum(1 << FORMS.index(name) for name in names)] = rate
    return rates


def _kernel_of(examples: Examples, rows: np.ndarray | slice) -> np.ndarray:
    return examples.row_kernel[rows] if isinstance(rows, slice) else examples.kernel_of(rows)


def _flops(examples: Examples) -> np.ndarray:
    """float64[k] of the kernels' matrix ops."""
    return 2.0 ** examples.kernel[:, FLOPS].astype(np.float64) - 1.0


def _hero_forms(examples: Examples) -> np.ndarray:
    """uint8[k]"""
    nodes = examples.geometry.nodes
    kernel = np.repeat(np.arange(len(examples.kernel)), np.diff(nodes.offset))
    form = np.zeros(len(examples.kernel), np.uint8)
    form[kernel[nodes.is_hero]] = nodes.form[nodes.is_hero]
    return form
