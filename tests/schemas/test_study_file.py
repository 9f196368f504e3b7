"""Study files: what is none, where it lies, what is changed on the command line, and errors at random."""

from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from schemas.study_file import StudyError, load_study
from schemas.yaml_source import read_yaml
from tests.schemas.study_examples import SOUND, messages_of


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "study.yaml: the study is empty; allowed keys: seed, results, measurements, workloads"),
        ("# nothing\n", "study.yaml: the study is empty"),
        ("- a\n", 'study.yaml:1: got ["a"]; allowed: a mapping with the keys seed, results'),
        ("just text", "study.yaml:1: got 'just text'; allowed: a mapping"),
        ("a: 1\nb: [1\n", "study.yaml:3: not valid YAML: "),
        ("workloads:\n\tvgg: {}\n", "study.yaml:2: a tab indents this line; YAML is indented by spaces only"),
    ],
)
def test_files_that_are_no_study(tmp_path: Path, text: str, message: str):
    (found,) = messages_of(tmp_path, text)
    assert found.startswith(message)


def test_a_file_that_is_not_there(tmp_path: Path):
    with pytest.raises(StudyError, match=r"nowhere\.yaml: there is no such study file; name one that is there"):
        load_study(tmp_path / "nowhere.yaml")
    with pytest.raises(StudyError, match="is a folder"):
        load_study(tmp_path)


def test_a_file_that_is_no_text(tmp_path: Path):
    (tmp_path / "study.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(StudyError, match="not a text file in UTF-8"):
        load_study(tmp_path / "study.yaml")


def test_paths_are_shown_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "study.yaml").write_text("seed: x\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StudyError, match=r"^study\.yaml:1: seed: got 'x'; allowed: a whole number$"):
        load_study(tmp_path / "study.yaml")


ODD = [
    None,
    0,
    -1,
    1.5,
    "",
    "all",
    "x",
    True,
    [],
    {},
    [None],
    [["a"]],
    [{}],
    {"a": None},
    float("nan"),
    10**30,
    "1 GHz",
]


def places_of(value: Any, path: tuple = ()) -> list[tuple]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, child in children for place in places_of(child, (*path, key)))]


def test_whatever_is_wrong_is_said_in_words(tmp_path: Path):
    """200 studies with up to three values replaced, renamed or removed: each loads or is refused in our words."""
    random = Random(1)
    refusals = []
    for _ in range(200):
        data = read_yaml(SOUND).data
        for _ in range(random.randint(1, 3)):
            *above, key = random.choice(places_of(data)[1:])
            parent = data
            for step in above:
                parent = parent[step]
            change = random.choice(["replace", "replace", "remove", "rename"])
            value = parent.pop(key) if change != "replace" else None
            if change == "replace":
                parent[key] = deepcopy(random.choice(ODD))
            elif change == "rename" and isinstance(parent, dict):
                parent[random.choice(["weird", "base", "batch", "[key]", "family", "named", "hardware"])] = value
        (tmp_path / "study.yaml").write_text(yaml.safe_dump(data))
        try:
            load_study(tmp_path / "study.yaml")
        except StudyError as error:
            refusals.append(str(error))
    assert len(refusals) > 100
    for jargon in ("pydantic", "Input should", "Value error"):
        assert not any(jargon in refusal for refusal in refusals)


def test_overrides(tmp_path: Path):
    file = tmp_path / "study.yaml"
    file.write_text(SOUND)
    study = load_study(file, {"seed": 7, "results": "elsewhere"})
    assert (study.seed, study.results) == (7, "elsewhere")
    assert load_study(file).seed == 1


def test_other_overrides_are_refused_in_words(tmp_path: Path):
    messages = messages_of(tmp_path, SOUND + "results: 5\n", {"seed": "x", "models": {"ranker": {}}})
    assert messages == [
        "--config: models: only seed, results and measurements can be overridden on the command line; for anything "
        "else edit the study or give another one with --configfile",
        "--config: seed: got 'x'; allowed: a whole number",
        "study.yaml:17: results: got 5; allowed: text",
    ]
