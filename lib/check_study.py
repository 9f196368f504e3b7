"""Says what is wrong with a study before anything runs: `python -m lib.check_study STUDY`.

Snakemake reads the file too, before the workflow does, and answers one that is missing, empty or no YAML
with less.
"""

import sys
from pathlib import Path

from lib.command_line import run_command
from schemas.study_file import StudyError, load_study


def main(arguments: list[str]) -> int:
    """Check the study in `arguments[0]`; 1 and its problems on standard error if it has some."""
    try:
        load_study(Path(arguments[0]))
    except StudyError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    run_command(main)
