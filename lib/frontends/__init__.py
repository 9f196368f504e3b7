"""Sources of tensor programs: Keras Applications, own builders, HLO files. One module a source."""

from pathlib import Path

from lib.program.program import Program


def trace(spec: dict, study_folder: Path) -> Program:
    """The program of a resolved workload entry.

    A Keras model is traced at batch 2 and 4 and comes with slopes (see :meth:`Program.with_batch`), an HLO file at
    its own batch. Paths of HLO files are relative to `study_folder`. Raises FrontendError in words about the entry.
    """
    match spec["source"]["kind"]:
        case "keras":
            from lib.frontends.keras_model import trace_application

            return trace_application(spec)
        case "builder":
            from lib.frontends.builder import trace_builder

            return trace_builder(spec, study_folder)
        case "hlo":
            from lib.frontends.hlo_file import trace_hlo_file

            return trace_hlo_file(spec, study_folder)
    raise ValueError(f"workload '{spec['id']}': unknown source kind '{spec['source']['kind']}'")
