"""The papers' figures: a few against the papers, and that tables are whole."""

import math

import pytest

from schemas.reference import Reference, load_reference


def test_figures_come_with_unit_role_and_source():
    figure = load_reference().figure("fast-designs", "fast-small", "queries")
    assert (figure.value, figure.unit, figure.role) == (241, "1/s", "validation")
    assert "ASPLOS 2022" in figure.source
    assert load_reference().figure("fast-designs", "fast-large", "queries").role == "calibration"


def test_means_of_the_accuracy_table_are_geometric():
    """Kaufman et al.: the printed mean row follows from the rows of the eight programs."""
    column = load_reference().tables["learned-accuracy"].column("tile_ape_learned")
    mean = column.pop("mean")
    column.pop("median")
    assert len(column) == 8
    assert math.prod(column.values()) ** (1 / 8) == pytest.approx(mean, abs=0.05)


def test_means_of_the_speedup_table_are_geometric():
    """FAST figure 10: the mean over 13 workloads follows from the bars, which are read to about 0.06."""
    column = load_reference().tables["fast-speedup"].column("perf_per_tdp_single")
    bars = [value for name, value in column.items() if not name.startswith("mean")]
    assert len(bars) == 13
    assert math.prod(bars) ** (1 / 13) == pytest.approx(column["mean-of-13"], abs=0.06)


def test_claims():
    reference = load_reference()
    assert reference.claim("multi").value == 2.4
    assert len({claim.id for claim in reference.claims}) == len(reference.claims) == 25
    with pytest.raises(KeyError):
        reference.claim("none")


def test_roles_of_rows_and_columns():
    """Design of the roles: figure 15's datapath bars and two rows of table 6 are calibration, the rest is not."""
    reference = load_reference()
    bars = {c: reference.figure("fast-build-up", "bert-128", c).role for c in ("schedule", "datapath", "fusion")}
    assert bars == {"schedule": "validation", "datapath": "calibration", "fusion": "validation"}
    rows = {row: reference.figure("fast-ablation", row, "resnet50v2").role for row in ("no-fusion", "arrays-128x128")}
    assert rows == {"no-fusion": "calibration", "arrays-128x128": "validation"}


def test_figure_4_has_57_bars():
    """FAST figure 4: stem, the 4 + 7 + 7 + 10 + 10 + 13 + 4 blocks of EfficientNet-B7, top."""
    bars = list(load_reference().tables["fast-block-utilisation"].rows)
    assert len(bars) == 57 == 2 + 4 + 7 + 7 + 10 + 10 + 13 + 4
    assert [name for name in bars if name.endswith("a")] == [f"{stage}a" for stage in range(1, 8)]


def test_rows_that_do_not_fit_are_refused():
    data = load_reference().model_dump()
    data["tables"]["fast-designs"]["rows"]["tpu-v3"].pop()
    with pytest.raises(ValueError, match="row tpu-v3 has 11 values for 12 columns"):
        Reference.model_validate(data)


def test_volumes_of_table_4_grow_with_the_return():
    """FAST table 4: twice the return at twice the volume, and volumes from 2164 to 3534 at a return of one."""
    reference = load_reference()
    rows = reference.tables["fast-return-on-investment"].rows
    for _, once, *more in rows.values():
        assert more == pytest.approx([2 * once, 4 * once, 8 * once], rel=5e-4)
    single = [volumes[1] for name, volumes in rows.items() if name != "mean-of-5"]
    ends = reference.claim("break-even-fewest").value, reference.claim("break-even-most").value
    assert (min(single), max(single)) == ends
