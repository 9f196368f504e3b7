"""The roofline finds constants that rows were made with, and is fitted to the programs that it is given alone."""

import numpy as np
import pandas as pd
import pytest

from lib.evaluation.baselines import fusion_baselines, remeasured_s
from lib.evaluation.roofline import Roofline, fitted, fitted_rooflines
from tests.shard_examples import hand_made_shard

MADE = Roofline(flops_per_s=5e10, bytes_per_s=1e10, fixed_s=4e-6)


def rows():
    flops, moved = (np.array(values) for values in ([1e3, 1e5, 1e7, 1e8, 1e4, 2e3], [1e2, 1e4, 1e4, 1e6, 1e6, 1e7]))
    table = pd.DataFrame({"xla_flops": flops, "xla_bytes": moved})
    return table.assign(runtime_s=MADE.seconds(table))


def test_seconds_by_hand():
    """1e8 FLOPs take 2 ms, 1e6 bytes 0.1 ms: 2 ms and the fixed 4 us."""
    assert MADE.seconds(rows())[3] == pytest.approx(2e-3 + 4e-6)


def test_constants_are_found_again():
    assert fitted(rows()) == pytest.approx(MADE, rel=0.02)


def test_it_stands_beside_the_others_where_xla_counted():
    shard = hand_made_shard([[10.0], [20.0]], [[1.0], [1.0]], task="fusion", hardware="local")
    counted = shard._replace(origin="measured", rows=shard.rows.assign(xla_flops=[1e3, 2e6], xla_bytes=[1e3, 1e3]))
    roofline = fitted_rooflines([counted])["local"]
    assert fusion_baselines(counted, roofline)["roofline"].metrics["mape_pct"].value == pytest.approx(0, abs=1.0)
    assert "roofline" not in fusion_baselines(shard, roofline)
    assert fitted_rooflines([shard]) == {}


def test_the_noise_floor_of_measured_labels_is_the_slowest_pass():
    shard = hand_made_shard([[10.0, 20.0]], [[1.0, 1.0]])
    measured = shard._replace(origin="measured", rows=shard.rows.assign(repeat_s=[11e-6, 20e-6]))
    assert remeasured_s(measured).tolist() == [11e-6, 20e-6]
