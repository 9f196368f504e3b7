"""`python -m lib.predict` and the documentation's example."""

import re
from pathlib import Path

import pandas as pd
import pytest

from lib.cost.learned import Learned
from lib.predict import main
from lib.prediction import load_model
from lib.prediction.asked_program import source_of
from schemas.artifact import ArtifactError
from tests.lib.frontends.hlo_examples import Module
from tests.lib.prediction.model_folders import RUNTIMES, TILES, twice_the_estimate, write_model, write_program

DOCS = Path(__file__).parents[3] / "docs" / "prediction.md"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study") / "results"
    write_model(folder / "model" / "fusion-time" / "seed-1", twice_the_estimate(RUNTIMES))
    write_model(folder / "model" / "tile-ranker" / "seed-1", twice_the_estimate(TILES))
    write_program(folder / "program" / "net")
    return folder


def asked(results, *options: str, program="program/net", model="fusion-time") -> list[str]:
    return [str(results / program), "--model", str(results / "model" / model / "seed-1"), *options]


def test_the_documentations_example_runs(results, monkeypatch, capsys):
    monkeypatch.chdir(results.parent)
    (code,) = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    names: dict = {}
    exec(code, names)
    assert names["program_s"] == pytest.approx(names["table"]["predicted_total_s"].sum())
    assert capsys.readouterr().out.startswith(f"{1e6 * names['program_s']:.1f} us")


def test_kernels_total_tiles_and_a_file(results, tmp_path, capsys):
    file = tmp_path / "kernels.csv"
    ranker = str(results / "model" / "tile-ranker" / "seed-1")
    assert main(asked(results, "--tile-model", ranker, "--csv", str(file))) == 0
    text = capsys.readouterr().out
    assert "one core of tpu-v3, default tiles" in text.splitlines()[0]
    assert "2 kernels, 3 executions:" in text
    assert "The tile model chooses another tile than the compiler for" in text
    table = pd.read_csv(file)
    assert table["predicted_s"].to_numpy() == pytest.approx(2 * table["analytical_s"].to_numpy(), rel=1e-6)
    assert {"chosen_tile_out_c", "default_tile_out_c", "chosen_over_default"} <= set(table.columns)


def test_hardware_unlike_that_of_training_is_noted(results, capsys):
    assert main(asked(results, "--hardware", "tpu-v2")) == 0
    assert "Note: model 'fusion-time' was trained on tpu-v3, not on tpu-v2" in capsys.readouterr().out


def test_a_file_with_hlo(results, tmp_path, capsys):
    module = Module()
    adder = module.adder()
    module.start()
    source = module.parameter(0, 64, 256)
    module.add("reduce", (64,), source, module.constant(0.0), dimensions=[1], called_computation_ids=[adder])
    file = tmp_path / "module.pb"
    file.write_bytes(module.proto.SerializeToString())
    assert main([str(file), *asked(results)[1:]]) == 0
    text = capsys.readouterr().out
    assert text.startswith("module, one core of tpu-v3")
    assert "1 kernel, 1 execution:" in text
    assert "samples/s" not in text


TEXT = """\
HloModule scaled

ENTRY main {
  x = f32[64,256]{1,0} parameter(0)
  ROOT y = f32[64,256]{1,0} multiply(x, x)
}
"""


def test_a_file_with_hlo_as_text(results, tmp_path, capsys):
    file = tmp_path / "scaled.hlo"
    file.write_text(TEXT)
    assert main([str(file), *asked(results)[1:]]) == 0
    text = capsys.readouterr().out
    assert text.startswith("scaled, one core of tpu-v3")
    assert "1 kernel, 1 execution:" in text


def test_the_source_is_told_by_the_file(tmp_path):
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "saved_model.pb").touch()
    names = ("module.pb", "module.txt", "module.mlir", "net.keras")
    assert [source_of(tmp_path / name) for name in names] == ["hlo", "hlo", "stablehlo", "keras_file"]
    assert source_of(tmp_path / "saved") == "saved_model"
    assert source_of(tmp_path) is None


@pytest.mark.parametrize(
    ("options", "change", "words"),
    [
        ((), {"model": "tile-ranker"}, "trained with pairwise-logistic, so it ranks the tiles of a kernel"),
        (("--tile-model", "{results}/model/fusion-time/seed-1"), {}, "trained on the fusion task"),
        (("--hardware", "tpu-v33"), {}, "did you mean 'tpu-v3'"),
        (("--hardware", "tpu-v2", "--hardware", "tpu-v3"), {}, "one hardware variant at a time"),
        ((), {"program": "program/none"}, "there is no such file or folder"),
        ((), {"program": "model"}, "is not a program's folder"),
        (("--tile-model", "{results}/model/tile-ranker"), {}, "but holds seed-1"),
        (("--tile-model", "{results}/program/net"), {}, "is not a trained model's folder"),
        (("--batch", "3"), {}, "batch"),
    ],
)
def test_mistakes_are_answered_in_words(results, options, change, words, capsys):
    options = [option.format(results=results) for option in options]
    assert main(asked(results, *options, **change)) == 1
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error


def test_the_batch_of_a_file_is_fixed(results, tmp_path, capsys):
    file = tmp_path / "module.pb"
    file.write_bytes(b"")
    assert main([str(file), *asked(results, "--batch", "4")[1:]]) == 1
    assert "sizes in an HLO file are fixed" in capsys.readouterr().err


def test_a_model_of_other_features_is_refused(tmp_path, results, capsys):
    old = twice_the_estimate(RUNTIMES)
    old.features = old.features.model_copy(update={"version": 0})
    folder = write_model(tmp_path / "seed-1", old)
    assert main([*asked(results)[:1], "--model", str(folder)]) == 1
    error = capsys.readouterr().err
    assert str(folder) in error
    assert "train it again" in error


def test_load_model_has_the_face_of_a_cost_model(results, tmp_path):
    learned = load_model(results / "model" / "fusion-time" / "seed-1")
    assert isinstance(learned, Learned)
    assert learned.scale == "seconds"
    damaged = write_model(tmp_path / "damaged", twice_the_estimate(RUNTIMES))
    (damaged / "weights.npz").write_bytes(b"")
    with pytest.raises(ArtifactError, match=r"weights.npz"):
        load_model(damaged)
