"""Explanations of kernels: parts that add up, and errors in words."""

import pytest

from lib.cost.explain import kernel_number, kernel_text, longest_text, main, priced
from lib.program.program_table import program_to_arrays
from schemas.program_artifact import ProgramArtifact
from tests.datapath_examples import tpu_v3
from tests.program_examples import Sketch

ADDING_UP = ("compute", "control", "exposed", "launch")


def program():
    """Two equal pointwise convolutions with swish and a depthwise one."""
    sketch = Sketch()
    value = sketch.swish(sketch.pointwise(sketch.input(4, 28, 28, 64), 64), name="first")
    value = sketch.swish(sketch.pointwise(value, 64), name="second")
    return sketch.program(sketch.depthwise(value, name="window"))


@pytest.fixture(scope="module")
def view():
    return priced(program(), tpu_v3())


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "sketch"
    ProgramArtifact.write(
        made, id="sketch", origin="none", code="0", spec={}, contents={"program.npz": program_to_arrays(program())}
    )
    return made


def times(text: str) -> dict[str, tuple[float, float]]:
    """The table of microseconds by the first word of its rows."""
    return table_of(text, "microseconds, one run")


def table_of(text: str, title: str) -> dict[str, tuple[float, float]]:
    rows = text[text.index(title) :].split("\n\n")[0].splitlines()[1:]
    cells = [row.split() for row in rows if not row.endswith(":")]
    return {row[0].rstrip(":"): (float(row[-2]), float(row[-1])) for row in cells}


def test_printed_parts_add_up_to_the_total(view):
    for k in range(view.found.kernels.number):
        table = times(kernel_text(view, k))
        for model, seconds in enumerate((view.simulated.value[k], view.analytical.value[k])):
            assert table["total"][model] == pytest.approx(1e6 * seconds, abs=6e-4)
            # Four figures are rounded to 0.001 us each.
            assert sum(table[part][model] for part in ADDING_UP) == pytest.approx(table["total"][model], abs=2.6e-3)
            busy = [table[unit][model] for unit in ("matrix", "vector", "mesh")]
            assert max(busy) - 2e-3 <= table["compute"][model] <= sum(busy) + 2e-3


def test_printed_joules_add_up_to_the_total(view):
    for k in range(view.found.kernels.number):
        table = table_of(kernel_text(view, k), "microjoules, one run")
        assert table["total"][1] == pytest.approx(1e6 * view.simulated.joules[k], abs=6e-4)
        total = table.pop("total")
        for model in range(2):
            assert sum(cells[model] for cells in table.values()) == pytest.approx(total[model], abs=4e-3)


def test_launch_and_control_are_the_constants(view):
    # 2 us a launch; 190 cycles of 0.94 GHz a step.
    text = kernel_text(view, 0)
    steps = int(text[text.index("loop nest (") :].split("(")[1].split()[0])
    assert times(text)["launch"] == (2.0, 0.0)
    assert times(text)["control"] == pytest.approx((steps * 190 / 940,) * 2, abs=6e-4)


def test_explanation_of_a_kernel(view):
    text = kernel_text(view, 0)
    assert text.startswith("kernel 0: first (convolution), runs 2 times\n")
    assert "ops: convolution (hero), logistic, multiply" in text
    # 64 x 64 weights of two bytes.
    assert ["weight", "0", "8", "KiB", "8", "KiB"] in [line.split() for line in text.splitlines()]


def test_longest_kernels_come_first_with_their_shares(view):
    head, _, *rows = longest_text(view).splitlines()
    assert head.startswith("2 kernels run 3 times")
    seconds = [float(row.split()[4]) for row in rows]
    assert seconds == sorted(seconds, reverse=True)
    assert sum(float(row.split()[5].rstrip("%")) for row in rows) == pytest.approx(100, abs=0.11)
    assert len(longest_text(view, most=1).splitlines()) == 3


def test_a_kernel_is_found_by_the_name_of_any_of_its_roots_and_by_number(view):
    assert [kernel_number(view, wanted) for wanted in ("first", "second", "window", "1")] == [0, 0, 1, 1]


@pytest.mark.parametrize(("wanted", "words"), [("secnd", "did you mean 'second'"), ("7", "numbered 0 to 1")])
def test_no_such_kernel(view, wanted, words):
    with pytest.raises(ValueError, match=words):
        kernel_number(view, wanted)


def test_command_prints_the_list_and_one_kernel(folder, capsys):
    assert main([str(folder), "--hardware", "tpu-v2"]) == 0
    assert main([str(folder / "manifest.json"), "--kernel", "window"]) == 0
    printed = capsys.readouterr().out
    assert "one core of tpu-v2" in printed
    assert "kernel 1: window (depthwise-convolution), runs once" in printed


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--kernel", "windw"], "they are numbered 0 to 1); allowed: first, second, window; did you mean 'window'?"),
        (["--hardware", "tpu-v33"], "no preset is called 'tpu-v33'; allowed: tpu-v2, tpu-v3,"),
        (["--batch", "0"], "must be at least 1"),
        (["--batch", "8"], "fixed batch"),
    ],
)
def test_errors_are_in_words(folder, capsys, arguments, words):
    assert main([str(folder), *arguments]) == 1
    assert words in capsys.readouterr().err


def test_a_folder_that_is_no_programs(folder, capsys):
    assert main([str(folder.parent / "absent")]) == 1
    assert "absent is not a program's folder (manifest.json: file: missing)" in capsys.readouterr().err
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace("ProgramArtifact", "ModelArtifact"))
    assert main([str(folder)]) == 1
    error = capsys.readouterr().err
    assert "is a ModelArtifact" in error
    assert "RESULTS/program/WORKLOAD" in error
    assert "delete" not in error


def test_a_damaged_artifact(folder, capsys):
    (folder / "program.npz").write_bytes(b"no program")
    assert main([str(folder)]) == 1
    error = capsys.readouterr().err
    assert "program.npz: size:" in error
    assert "what to do:" in error
