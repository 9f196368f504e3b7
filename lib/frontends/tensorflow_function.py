"""HLO of a function of tensors, by TensorFlow's XLA bridge."""

from collections.abc import Callable, Sequence
from typing import Any

from lib.frontends.errors import FrontendError
from lib.frontends.hlo_module import program_of
from lib.program.batch import LARGER_BATCHES, TRACE_BATCHES, affine_program
from lib.program.program import BatchError, Program

LONGEST_REASON = 300
"""Characters of TensorFlow's message that an error repeats; some list every variable of the model."""


def trace_function(
    function: Callable,
    signature: Sequence[Any],
    weights: Callable[[], Sequence[Any]] | None,
    spec: dict,
    scope: str = "",
) -> Program:
    """The affine program of `function(*signature)` for the workload entry `spec`.

    `signature` holds `tf.TensorSpec`s whose first dimension is the batch (None). With `weights` (which names the
    trainable variables once the function has run) the program is the forward pass and the gradients of the mean
    square of all outputs; without, the forward pass alone. Raises FrontendError where TensorFlow can't export it.
    """

    def traced(batches: tuple[int, int]) -> Program:
        low, high = (
            program_of(
                compiled_module(function, signature, weights, spec["id"], batch),
                spec["id"], batch, inputs=len(signature), scope=scope, trip_count=spec["trip_count"],
            )
            for batch in batches
        )  # fmt: skip
        return affine_program(low, high)

    try:
        return traced(TRACE_BATCHES)
    except BatchError as error:
        try:
            return traced(LARGER_BATCHES)
        except BatchError:
            raise error from None


def parse_module(serialized: bytes) -> Any:
    """`HloModuleProto` of its bytes. Raises google.protobuf.message.DecodeError."""
    from tensorflow.compiler.xla.service import hlo_pb2

    module = hlo_pb2.HloModuleProto()
    module.ParseFromString(serialized)
    return module


def compiled_module(
    function: Callable, signature: Sequence[Any], weights: Callable[[], Sequence[Any]] | None, workload: str, batch: int
) -> Any:
    """`HloModuleProto` of the function at one batch, not optimised by XLA; arguments and errors: `trace_function`."""
    import tensorflow as tf

    if not all(spec.shape.rank and spec.shape[0] is None for spec in signature):
        given = ", ".join(str(spec.shape) for spec in signature)
        raise FrontendError(
            f"workload '{workload}': input shapes {given}: the first dimension of each must be the batch, left open"
            " (None)"
        )
    fixed = [tf.TensorSpec([batch, *spec.shape[1:]], spec.dtype) for spec in signature]
    if not all(spec.shape.is_fully_defined() for spec in fixed):
        shapes = [list(spec.shape) for spec in signature]
        raise FrontendError(
            f"workload '{workload}': input shapes {shapes} leave more than the batch open; give it an input_shape"
        )

    def gradients(*arguments):
        assert weights is not None
        with tf.GradientTape() as tape:
            outputs = tf.nest.flatten(function(*arguments))
            loss = tf.add_n([tf.reduce_mean(tf.square(output)) for output in outputs])
        return [g for g in tape.gradient(loss, list(weights())) if g is not None]

    compiled = tf.function(gradients if weights else function, jit_compile=True)
    try:
        serialized = compiled.experimental_get_compiler_ir(*fixed)(stage="hlo_serialized")
    except Exception as error:
        reason = (str(error).strip().splitlines() or [repr(error)])[0][:LONGEST_REASON]
        raise FrontendError(
            f"workload '{workload}': TensorFlow could not compile the model with XLA: {reason}"
        ) from error
    return parse_module(serialized)
