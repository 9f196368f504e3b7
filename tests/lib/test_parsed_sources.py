"""What is kept of parsed files is used for the same content only."""

import json
import os

import pytest

from lib import parsed_sources as subject

CONTENT = b'import numpy as np\nfrom lib.a import b\nTABLE = "table.csv"\nload_preset("sizes")\n'


def test_what_a_file_says():
    parsed = subject.parsed_source(CONTENT)
    assert parsed.modules == ["numpy", "lib.a", "lib.a.b"]
    assert "table.csv" in parsed.words
    assert parsed.presets == ["sizes"]


def test_kept_content_is_not_parsed_again(tmp_path, monkeypatch):
    file = tmp_path / "cache" / "parsed.json"
    first = subject.ParsedSources(file)
    parsed = first.of(CONTENT)
    first.save()
    monkeypatch.setattr(subject, "parsed_source", lambda content: pytest.fail("parsed again"))
    assert subject.ParsedSources(file).of(CONTENT) == parsed


def test_other_content_is_parsed(tmp_path):
    file = tmp_path / "parsed.json"
    first = subject.ParsedSources(file)
    parsed = first.of(CONTENT)
    first.save()
    assert subject.ParsedSources(file).of(CONTENT.replace(b"table", b"tables")).digest != parsed.digest


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"made by": null}', '{"made by": [], "sources": {}}'])
def test_a_damaged_file_is_written_anew(tmp_path, damage):
    file = tmp_path / "parsed.json"
    file.write_text(damage)
    sources = subject.ParsedSources(file)
    assert sources.of(CONTENT) == subject.parsed_source(CONTENT)
    sources.save()
    assert len(json.loads(file.read_text())["sources"]) == 1


def test_what_another_python_wrote_is_not_used(tmp_path, monkeypatch):
    file = tmp_path / "parsed.json"
    with monkeypatch.context() as other:
        other.setattr(subject.sys, "version", "3.99")
        other.setattr(subject, "parsed_source", lambda content: subject.ParsedSource("other", [], [], []))
        first = subject.ParsedSources(file)
        first.of(CONTENT)
        first.save()
    assert subject.ParsedSources(file).of(CONTENT).digest != "other"


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path):
    (tmp_path / "file").write_text("")
    sources = subject.ParsedSources(tmp_path / "file" / "parsed.json")
    sources.of(CONTENT)
    sources.save()
    assert os.listdir(tmp_path) == ["file"]


def test_old_contents_are_forgotten(tmp_path, monkeypatch):
    monkeypatch.setattr(subject, "MOST_KEPT", 3)
    file = tmp_path / "parsed.json"
    for number in range(9):
        sources = subject.ParsedSources(file)
        sources.of(b"x = %d\n" % number)
        sources.save()
    assert len(json.loads(file.read_text())["sources"]) <= 3
