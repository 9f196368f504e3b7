"""Examples of the documentation: studies are sound, Python runs, commands exist."""

import ast
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lib.new_study import new_study
from schemas.study_file import StudyError, load_study
from schemas.workload import FILES
from schemas.yaml_source import read_yaml
from tests.docs.pages import PAGES, ROOT, Block, blocks, blocks_of, merged

LANGUAGES = ("yaml", "python", "sh", "text")
NEED_RESULTS = ("docs/prediction.md", "docs/autotuning.md")
"""Pages whose Python reads what a whole study has made: here only what it imports is looked up."""
SHELL = ("source", "git", "cd", "cat", "pip", "kill", "rsync", "cp", "ls", "tar", "ssh", "export", "head")
"""Programs that no test here looks at."""
OWN_STUDIES = ("my/study.yaml", "mine/first.yaml", "study.yaml")
"""Studies of the reader's own."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_block_says_what_it_is(page: Path):
    assert [block.name for block in blocks_of(page) if block.language not in LANGUAGES] == []


def pasted(page: Path, last: Block) -> dict[str, Any]:
    """A study with all YAML of the page up to a block pasted in: into the default one, with FAST's workloads, entry by
    entry; in the tutorial into a new one, key by key."""
    if page.stem == "tutorial":
        study = read_yaml(new_study(Path("mine/first.yaml"))).data
    else:
        study = read_yaml((ROOT / "config.yaml").read_text(encoding="utf-8")).data
        fast = read_yaml((ROOT / "workflow" / "studies" / "fast.yaml").read_text(encoding="utf-8")).data
        study["workloads"] = fast["workloads"] | study["workloads"]
    for block in blocks_of(page):
        if block.language == "yaml" and block.line <= last.line:
            written = read_yaml(block.text).data
            if page.stem == "tutorial":
                study = merged(study, written)
            else:
                for section, entries in written.items():
                    study[section] = {**study.get(section, {}), **entries} if isinstance(entries, dict) else entries
    return study


def put_files_beside(folder: Path, study: dict[str, Any]) -> None:
    """What the workloads and recorded sources of a study name."""
    for workload in study["workloads"].values():
        for key in FILES:
            if key in workload:
                file = folder / workload[key]
                file.mkdir(exist_ok=True) if key == "saved_model" else file.write_text("")
        module, _, function = workload.get("builder", "").partition(":")
        if module and "." not in module:
            with (folder / f"{module}.py").open("a") as written:
                written.write(f"def {function}(): ...\n")
    for dataset in study["datasets"].values():
        if "source" in dataset:
            tiles = folder / dataset["source"]["tpugraphs"]
            tiles.mkdir(parents=True)
            for part, shipped in (("train", "calibration"), ("valid", "validation"), ("test", "validation")):
                (tiles / part).symlink_to(ROOT / "schemas" / "presets" / "tpu_tiles" / shipped)


@pytest.mark.parametrize("block", blocks("yaml"), ids=lambda block: block.name)
def test_a_study_can_have_it(tmp_path: Path, block: Block):
    """Nothing is wrong with the block's own entries; others may not go with them (a dataset of fewer tasks, say)."""
    import yaml

    study = pasted(block.page, block)
    put_files_beside(tmp_path, study)
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study))
    own = [
        f"{section}.{id}" if isinstance(entries, dict) else section
        for section, entries in read_yaml(block.text).data.items()
        for id in (entries if isinstance(entries, dict) else [""])
    ]
    try:
        load_study(tmp_path / "study.yaml")
        problems = []
    except StudyError as error:
        problems = [re.sub(r"^.*study\.yaml:\d+: ", "", line) for line in str(error).splitlines()]
    assert [problem for problem in problems if problem.startswith(tuple(own))] == []


@pytest.mark.parametrize("page", sorted({block.page for block in blocks("python")}), ids=lambda page: page.stem)
def test_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: Path):
    """All Python of a page, in order and in one namespace."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").symlink_to(ROOT / "schemas" / "presets" / "tpu_tiles" / "calibration")
    name = page.relative_to(ROOT).as_posix()
    namespace: dict[str, Any] = {"__name__": "example"}
    for block in blocks_of(page):
        if block.language == "python":
            tree = ast.parse("\n" * (block.line - 1) + block.text, filename=name)
            if name in NEED_RESULTS:
                tree.body = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
            exec(compile(tree, name, "exec"), namespace)


def commands_of(block: Block) -> list[list[str]]:
    """The block's commands, each as words; continued lines are one command."""
    lines = block.text.replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line.partition(" | ")[0], comments=True))]


@cache
def make_targets() -> frozenset[str]:
    """Targets that the Makefile names."""
    return frozenset(re.findall(r"^([a-z][\w-]*):(?!=)", (ROOT / "Makefile").read_text(), re.MULTILINE))


@cache
def rules() -> frozenset[str]:
    """Names of the workflow's rules."""
    files = [ROOT / "Snakefile", *(ROOT / "rules").glob("*.smk")]
    return frozenset(name for file in files for name in re.findall(r"^rule (\w+):", file.read_text(), re.MULTILINE))


def is_study(file: str) -> bool:
    """Whether a study of that name comes with the repository, or is one of the reader's."""
    return file in OWN_STUDIES or (ROOT / file).is_file()


def problem_of(words: list[str]) -> str | None:
    """What is wrong with a command."""
    program, *arguments = words
    if program == "make":
        targets = [word for word in arguments if "=" not in word]
        unknown = sorted(set(targets) - make_targets())
        return f"make has no target {', '.join(unknown)}" if unknown else None
    if program in ("python", ".venv/bin/python"):
        return problem_of_module(arguments)
    if program in ("snakemake", ".venv/bin/snakemake"):
        return problem_of_snakemake(arguments)
    return None if program in SHELL or program.startswith(".venv") else f"unknown program {program}"


def problem_of_module(arguments: list[str]) -> str | None:
    """What is wrong with `python -m MODULE --option ...`."""
    if arguments[0] != "-m":
        return "python without -m"
    file = ROOT / (arguments[1].replace(".", "/") + ".py")
    if not file.is_file():
        file = ROOT / arguments[1].replace(".", "/") / "__main__.py"
    if not file.is_file():
        return f"no module {arguments[1]}"
    options = [word.partition("=")[0] for word in arguments if word.startswith("--")]
    unknown = [option for option in options if option not in file.read_text(encoding="utf-8")]
    return f"{arguments[1]} has no option {', '.join(unknown)}" if unknown else None


def problem_of_snakemake(arguments: list[str]) -> str | None:
    """What is wrong with a call of Snakemake."""
    from snakemake.cli import get_argument_parser

    try:
        parsed = get_argument_parser().parse_args(arguments)
    except SystemExit:
        return "snakemake doesn't take these options"
    wrong = [str(file) for file in parsed.configfile or [] if not is_study(str(file))]
    if wrong:
        return f"no study {', '.join(wrong)}"
    targets = [target for target in parsed.targets if target not in rules() and not target.startswith("results/")]
    return f"no rule {', '.join(targets)}" if targets else None


@pytest.mark.parametrize("block", blocks("sh"), ids=lambda block: block.name)
def test_commands_exist(block: Block):
    found = {" ".join(words): problem_of(words) for words in commands_of(block)}
    assert {command: problem for command, problem in found.items() if problem} == {}
