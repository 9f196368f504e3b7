"""How the commands of this package (`python -m lib.NAME`) start and end."""

import os
import sys
from collections.abc import Callable
from typing import NoReturn


def run_command(main: Callable[[list[str]], int]) -> NoReturn:
    """Exit with the status of `main` for the arguments given; quietly, with 1, where whoever reads the output closed it
    early, as `head` does."""
    try:
        status = main(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left is flushed at exit
        status = 1
    sys.exit(status)
