"""A search with a journal, for a process that a test kills."""

import sys
from pathlib import Path

from lib.cost.simulator import Simulator
from lib.journal import Journal
from lib.search import trial_journal
from lib.search.search import run_search
from schemas.search_artifact import SearchArtifact
from tests.lib.search.toy_workload import toy_kernels


def main(spec) -> None:
    """Search in the folder that the command line names: journal/ and, at the end, artifact/."""
    folder = Path(sys.argv[1])
    trial_journal.INTERVAL_S = 0.0
    contents = run_search(spec, {"toy": toy_kernels}, Simulator(), Journal(folder / "journal"))
    SearchArtifact.write(
        folder / "artifact", id="toy/island-1", origin="simulated", code="c", spec=spec, contents=contents
    )
