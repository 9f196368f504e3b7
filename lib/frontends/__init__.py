"""Sources of tensor programs: Keras Applications and files, own builders, SavedModels, HLO and StableHLO files. One
module a source."""

from pathlib import Path

from lib.program.program import Program


def trace(spec: dict, study_folder: Path) -> Program:
    """The program of a resolved workload entry.

    A model is traced at batch 2 and 4 and comes with slopes (see :meth:`Program.with_batch`), an HLO or StableHLO file
    at its own batch. Paths are relative to `study_folder`. Raises FrontendError in words about the entry.
    """
    match spec["source"]["kind"]:
        case "keras":
            from lib.frontends.keras_model import trace_application

            return trace_application(spec)
        case "builder":
            from lib.frontends.builder import trace_builder

            return trace_builder(spec, study_folder)
        case "saved_model":
            from lib.frontends.saved_model import trace_saved_model

            return trace_saved_model(spec, study_folder)
        case "keras_file":
            from lib.frontends.keras_file import trace_keras_file

            return trace_keras_file(spec, study_folder)
        case "stablehlo":
            from lib.frontends.stablehlo_file import trace_stablehlo_file

            return trace_stablehlo_file(spec, study_folder)
        case "hlo":
            from lib.frontends.hlo_file import trace_hlo_file

            return trace_hlo_file(spec, study_folder)
    raise ValueError(f"workload '{spec['id']}': unknown source kind '{spec['source']['kind']}'")
