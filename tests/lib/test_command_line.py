"""How commands end."""

import subprocess
import sys

import pytest

from lib.command_line import run_command
from lib.job import REPOSITORY

MANY_LINES = """
from lib.command_line import run_command

def main(arguments):
    for number in range(100_000):
        print("line", number)
    return 0

run_command(main)
"""


def test_a_reader_that_stops_early_ends_the_command_without_a_word():
    command = [sys.executable, "-c", MANY_LINES]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout.readline() == b"line 0\n"
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait() == 1


@pytest.mark.parametrize("status", [0, 1])
def test_the_status_is_the_commands_own(status):
    with pytest.raises(SystemExit) as ended:
        run_command(lambda _: status)
    assert ended.value.code == status
