"""What every workflow script does first: its log, its parameters, its folder."""

import logging
import os
import sys
from pathlib import Path
from typing import Any


class Job:
    """The `snakemake` object of a script, reduced to what scripts may use.

    Attributes: `spec` (the resolved study entry, a plain dict), `code` (fingerprint of the script and the
    modules that it imports), `folder` (where the artifact goes), `input` (named inputs), `wildcards`.
    """

    def __init__(self, snakemake: Any):
        self.spec: dict = snakemake.params.spec
        self.code: str = snakemake.params.code
        self.input = snakemake.input
        self.wildcards = snakemake.wildcards
        self.threads: int = snakemake.threads
        self.folder = Path(snakemake.output[0]).parent
        _start_log(Path(snakemake.log[0]))

    def write_text(self, name: str, text: str) -> None:
        """Write a file into the job's folder, whole or not at all."""
        draft = self.folder / f".{name}.draft"
        draft.write_text(text, encoding="utf-8")
        os.replace(draft, self.folder / name)


def _start_log(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(
        filename=file, filemode="w", level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", force=True
    )

    def log_exception(kind, error, trace):
        logging.getLogger("tilewright").error("failed", exc_info=(kind, error, trace))
        sys.__excepthook__(kind, error, trace)

    sys.excepthook = log_exception
