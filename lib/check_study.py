"""Says what is wrong with a study before anything runs: `python -m lib.check_study STUDY`."""

import sys
from pathlib import Path

from lib.command_line import run_command
from schemas.device_packages import missing_packages
from schemas.study_file import StudyError, load_study


def main(arguments: list[str]) -> int:
    """Check the study in `arguments[0]`; 1 and on standard error its problems, or the packages that it needs, if there
    are some."""
    try:
        missing = missing_packages(load_study(Path(arguments[0])))
    except StudyError as error:
        print(error, file=sys.stderr)
        return 1
    for line in missing:
        print(f"{arguments[0]}: {line}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    run_command(main)
