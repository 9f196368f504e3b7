"""Starts a study: `python -m lib.new_study mine/first.yaml` writes a small commented one that runs as it stands."""

import os
import re
import sys
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from lib.command_line import run_command
from schemas.reference_docs import FOLDER
from schemas.study_base import ID_PATTERN

TEMPLATE = "study_template.yaml.jinja"
USAGE = "usage: python -m lib.new_study FOLDER/NAME.yaml"


def new_study(file: Path) -> str:
    """The text of a study that will lie at `file`; its results go to `results/NAME`.

    Raises ValueError for a name that is no id, as the results' folder is called like it.
    """
    name = file.stem
    if not re.fullmatch(ID_PATTERN, name):
        raise ValueError(
            f"{file}: a study's name is of lower-case letters, digits and hyphens and starts with a letter, "
            f"and {name!r} isn't"
        )
    environment = Environment(loader=FileSystemLoader(Path(__file__).parent), keep_trailing_newline=True)
    schema = os.path.relpath(FOLDER / "study.schema.json", file.resolve().parent)
    return environment.get_template(TEMPLATE).render(name=name, file=file, schema=Path(schema).as_posix())


def main(arguments: list[str]) -> int:
    """Write the study that `arguments[0]` names; 1 and why not on standard error. A file that is there stays."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(USAGE, file=sys.stderr)
        return 2
    file = Path(arguments[0])
    if file.suffix not in (".yaml", ".yml"):
        file = file.with_name(f"{file.name}.yaml")
    try:
        text = new_study(file)
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        why = f"can't be written: {error.strerror}"
        if file.exists():
            why = "is there already and stays as it is; choose another name"
        print(f"{file}: {why}", file=sys.stderr)
        return 1
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{file}: a small study that runs as it stands: snakemake --configfile {file}")
    return 0


if __name__ == "__main__":
    run_command(main)
