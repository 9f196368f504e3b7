"""FAST's workloads against table 1 of the paper and pencil and paper."""

from math import prod

import numpy as np
import pytest

from lib.frontends import trace
from lib.program.simplify import simplify
from lib.program.work import program_work
from schemas.reference import load_reference
from workflow.studies import fast_workloads

BFLOAT16_BYTES = 2
MIB = 2**20


def program_at_batch_1(function: str, study_folder, **arguments):
    spec = {
        "id": function, "source": {"kind": "builder", "name": f"workflow.studies.fast_workloads:{function}"},
        "arguments": arguments, "input_shape": None, "mode": "inference", "trip_count": None,
    }  # fmt: skip
    return simplify(trace(spec, study_folder), "bfloat16").with_batch(1)


@pytest.mark.parametrize("variant", fast_workloads.EFFICIENTNET_SCALING)
def test_efficientnet_sizes_of_table_1(variant):
    """Weights of the MBConv blocks without batch normalisation; the largest convolution's input and output."""
    printed = load_reference().tables["fast-working-sets"].row(f"efficientnet-{variant}")
    convolutions = [layer for layer in fast_workloads.efficientnet(variant).layers if layer.name.endswith("_conv")]
    weights = sum(layer.count_params() for layer in convolutions if layer.name.startswith("block"))
    assert weights * BFLOAT16_BYTES / MIB == pytest.approx(printed["weights"], rel=0.01)
    working_set = max(prod(layer.input.shape[1:]) + prod(layer.output.shape[1:]) for layer in convolutions)
    if variant == "b3":
        # Block 2a reads 150 x 150 and writes 75 x 75 positions of 6 * 24 channels. Printed: 5.1 MiB, which 6 * 16
        # channels would give: 1.2 * 16 = 19.2 rounded down, though this is more than a tenth less.
        assert working_set == (150**2 + 75**2) * 144
        assert working_set * 16 / 24 * BFLOAT16_BYTES / MIB == pytest.approx(printed["max_working_set"], rel=0.02)
    else:
        assert working_set * BFLOAT16_BYTES / MIB == pytest.approx(printed["max_working_set"], rel=0.01)


def test_efficientnet_b0_program(tmp_path):
    program = program_at_batch_1("efficientnet", tmp_path, variant="b0")
    # Tan and Le 2019, table 2: 0.39 G multiply-adds.
    assert program_work(program)["flops"] == pytest.approx(2 * 0.39e9, rel=0.01)
    opcodes = [instruction.opcode for instruction in program.instructions]
    # Stem, top; 16 blocks of depthwise, squeeze, excite, project; expand in all but the first.
    assert opcodes.count("convolution") == 2 + 16 * 4 + 15
    assert opcodes.count("dot") == 1


def test_efficientnet_refuses_unknown_variants():
    with pytest.raises(ValueError, match="no EfficientNet 'b8'; there are b0, b1"):
        fast_workloads.efficientnet("b8")


def test_bert_base_parameters():
    attention = 4 * (768 * 768 + 768)
    feed_forward = 768 * 3072 + 3072 + 3072 * 768 + 768
    norms = 2 * 2 * 768
    model = fast_workloads.bert_base(length=128)
    assert model.count_params() == 12 * (attention + feed_forward + norms) == 85_054_464
    assert model.output.shape == (None, 128, 768)


def test_resnet50v2_parameters():
    # Printed in the list of Keras Applications: 25.6 M.
    assert fast_workloads.resnet50v2().count_params() == pytest.approx(25.6e6, rel=0.002)


def test_ocr_rpn_stand_in(tmp_path):
    program = program_at_batch_1("ocr_rpn_stand_in", tmp_path, input_shape=(128, 128, 3))
    backbone = 23_587_712  # ResNet-50 without classifier, with the statistics of batch normalisation
    lateral = (256 + 512 + 1024 + 2048) * 256 + 4 * 256
    pyramid = 4 * (9 * 256 * 256 + 256)
    head = (9 * 256 * 256 + 256) + 257 * 3 + 257 * 12
    weights = backbone + lateral + pyramid + head
    assert program_work(program)["weight_bytes"] == weights * BFLOAT16_BYTES
    # Levels 2 to 6: 32, 16, 8, 4 and 2 positions wide and high, 3 boxes each.
    shapes = [program.instructions[output].dimensions for output in program.outputs]
    assert sorted(shapes) == sorted((1, n, n, c) for n in (32, 16, 8, 4, 2) for c in (3, 12))


def test_ocr_recognizer_stand_in(tmp_path):
    # Shi et al. 2017, table 2: 8.3 million parameters.
    assert fast_workloads.ocr_recognizer_stand_in().count_params() == pytest.approx(8.3e6, rel=0.005)
    program = program_at_batch_1("ocr_recognizer_stand_in", tmp_path, width=64)
    assert [program.instructions[output].dimensions for output in program.outputs] == [(1, 15, 37)]
    pixels = [(32 * 64, 1, 64), (16 * 32, 64, 128), (8 * 16, 128, 256), (8 * 16, 256, 256), (4 * 16, 256, 512)]
    pixels += [(4 * 16, 512, 512)]
    convolutions = sum(9 * n * channels * filters for n, channels, filters in pixels) + 4 * 15 * 512 * 512
    # Two directions with four gates; a dense layer between and one after.
    recurrent = 15 * (2 * 4 * 256 * (512 + 256) + 512 * 256 + 2 * 4 * 256 * (256 + 256) + 512 * 37)
    assert program_work(program)["flops"] == 2 * (convolutions + recurrent)


def test_twice_the_resolution_repeats_neighbours():
    image = np.arange(4, dtype=np.float32).reshape(1, 2, 2, 1)
    larger = np.array(fast_workloads._twice_the_resolution(image))[0, :, :, 0]
    assert larger.tolist() == [[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3], [2, 2, 3, 3]]
