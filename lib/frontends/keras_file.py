"""Programs of files that Keras saved."""

from pathlib import Path

from lib.frontends.errors import FrontendError
from lib.frontends.keras_model import trace_keras_model
from lib.frontends.tensorflow_function import LONGEST_REASON
from lib.program.program import Program


def trace_keras_file(spec: dict, study_folder: Path) -> Program:
    """The program of a `.keras` file (`spec["source"]["name"]`, relative to the study file) in the entry's mode.

    It is read with Keras's safe mode, which runs no code that the file holds. Raises FrontendError for a file that is
    missing or that Keras can't read so.
    """
    import keras

    workload, file = spec["id"], Path(study_folder) / spec["source"]["name"]
    if not file.is_file():
        raise FrontendError(f"workload '{workload}': there is no file {file}")
    keras.utils.clear_session()
    try:
        model = keras.models.load_model(file, compile=False, safe_mode=True)
    except Exception as error:
        reason = (str(error).strip().splitlines() or [repr(error)])[0][:LONGEST_REASON]
        raise FrontendError(
            f"workload '{workload}': Keras can't read {file}: {reason}; it must be a file that model.save('NAME.keras')"
            " wrote, with Keras's own layers: for a model with layers or code of yours use a builder"
        ) from error
    return trace_keras_model(model, spec)
