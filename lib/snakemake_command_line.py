"""Mistakes on Snakemake's command line that it would answer with its own traceback or a riddle.

Profiles call this: they are all that Snakemake reads before the study.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from schemas.study_file import StudyError, only_study, read_study_file, refused_overrides

TARGETS_FIRST = "it takes all words that follow, so what is to be made goes before it"


def refuse_mistakes(words: Sequence[str]) -> None:
    """End the command with what is wrong and what is allowed, unless `words`, those after `snakemake`, give one study
    that can be read and override only what can be. What stands in the study is left to the Snakefile.
    """
    options = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    options.add_argument("--configfile", "--configfiles", nargs="*", type=Path, default=[])
    options.add_argument("--config", "-C", nargs="*", default=[])
    given, _ = options.parse_known_args(words)
    targets = [word for word in given.config if "=" not in word]
    problems = [f"--config: got '{word}'; allowed: KEY=VALUE; {TARGETS_FIRST}" for word in targets]
    problems += refused_overrides([word.partition("=")[0] for word in given.config if "=" in word])
    try:
        if given.configfile:
            read_study_file(only_study(given.configfile))
    except StudyError as error:
        problems.append(str(error))
    if problems:
        sys.exit("\n".join(f"Error: {problem}" for problem in problems))
