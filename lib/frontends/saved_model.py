"""Programs of TensorFlow's SavedModel folders."""

from pathlib import Path

from lib.frontends.errors import FrontendError
from lib.frontends.tensorflow_function import LONGEST_REASON, trace_function
from lib.program.program import Program

SIGNATURE = "serving_default"


def trace_saved_model(spec: dict, study_folder: Path) -> Program:
    """The signature `serving_default` of a SavedModel (`spec["source"]["name"]`, relative to the study file).

    Its inputs are taken in the order of their names; their first dimension is the batch and must be open. Raises
    FrontendError for a folder that is missing or holds something else, or that lacks the signature.
    """
    import tensorflow as tf

    workload, folder = spec["id"], Path(study_folder) / spec["source"]["name"]
    if not folder.is_dir():
        raise FrontendError(f"workload '{workload}': there is no folder {folder}")
    try:
        loaded = tf.saved_model.load(str(folder))
    except Exception as error:
        reason = (str(error).strip().splitlines() or [repr(error)])[0][:LONGEST_REASON]
        raise FrontendError(
            f"workload '{workload}': TensorFlow can't read {folder}: {reason}; it must be a folder that"
            " tf.saved_model.save or model.export wrote"
        ) from error
    signatures = loaded.signatures
    if SIGNATURE not in signatures:
        there = ", ".join(sorted(signatures)) or "none"
        raise FrontendError(
            f"workload '{workload}': {folder} has no signature '{SIGNATURE}' (it has: {there}); save the model with"
            f" signatures={{'{SIGNATURE}': function}}"
        )
    function = signatures[SIGNATURE]
    _, inputs = function.structured_input_signature
    names = sorted(inputs)

    def forward(*tensors):
        return function(**dict(zip(names, tensors, strict=True)))

    return trace_function(forward, [tf.TensorSpec(inputs[n].shape, inputs[n].dtype) for n in names], None, spec)
