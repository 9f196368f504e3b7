"""Builders of the corpus against the sizes that their papers or authors' code have."""

from itertools import pairwise

import pytest

from workflow.studies import audio_models, generative_models, language_models, recommenders, vision_models

BERT_PARAMETERS = 109_482_240
"""BERT-Base, uncased, as Hugging Face's `bert-base-uncased` counts it: pooler included, 512 positions."""
GPT2_PARAMETERS = 124_439_808
"""GPT-2 small: 1024 positions, the output matrix is the embedding table."""


def test_bert_base():
    model = language_models.bert(length=512)
    assert model.count_params() == BERT_PARAMETERS
    assert [output.shape for output in model.outputs] == [(None, 768), (None, 512, 768)]


def test_gpt2_small():
    model = language_models.decoder_language_model(length=1024)
    output_matrix = 768 * 50_257
    assert model.count_params() == GPT2_PARAMETERS + output_matrix


def test_transformer_base():
    model = language_models.transformer_translation()
    # Encoder layer: 4 matrices of attention and 2 of 2048 with biases, 2 normalisations; a decoder layer has one more
    # attention and normalisation. Two embeddings, two tables of positions, the output matrix.
    attention, feed_forward, norm = 4 * (512 * 512 + 512), 2 * 512 * 2048 + 2048 + 512, 2 * 512
    layers = 6 * (attention + feed_forward + 2 * norm) + 6 * (2 * attention + feed_forward + 3 * norm)
    assert model.count_params() == layers + 3 * 32_000 * 512 + 2 * 64 * 512


def test_vision_models():
    # DeiT-Tiny has 5,717,416; the token for the class and its place are 2 x 192 of them.
    assert vision_models.vision_transformer().count_params() == 5_717_416 - 2 * 192
    # Tolstikhin et al. 2021, table 1: 18.5 M.
    assert vision_models.mlp_mixer().count_params() == pytest.approx(18.5e6, rel=0.005)
    # He et al. 2016, table 6: 0.27 M and 0.85 M.
    assert vision_models.resnet_cifar(20).count_params() == pytest.approx(0.27e6, rel=0.02)
    assert vision_models.resnet_cifar(56, version=2).count_params() == pytest.approx(0.85e6, rel=0.02)
    with pytest.raises(ValueError, match="depths are 6 n \\+ 2"):
        vision_models.resnet_cifar(depth=21)


def test_u_net_and_detector():
    unet = vision_models.u_net()
    assert unet.count_params() == pytest.approx(31.03e6, rel=0.001)  # the authors' network
    assert unet.output_shape == (None, 256, 256, 2)
    # Liu et al. 2016: 8732 boxes; the factors of the first map's normalisation (512) are left out.
    scores, offsets = vision_models.single_shot_detector().outputs
    assert (scores.shape, offsets.shape) == ((None, 8732, 21), (None, 8732, 4))


def test_sound_models():
    wavenet = audio_models.wavenet(blocks=1, dilations=3, channels=4, skip=8, samples=32)
    # First layer; gates, skip and residual of each dilation (nothing reads the last residual); the last two layers.
    residual = 4 * 4 + 4
    dilation = (2 * 4 * 8 + 8) + (4 * 8 + 8) + residual
    assert wavenet.count_params() == (2 * 1 * 4 + 4) + 3 * dilation - residual + (8 * 8 + 8) + (8 * 256 + 256)
    # Kalchbrenner et al. 2018: 896 units, of which a matrix of 896 x 2688 is the recurrent part.
    cell = 896 * 2688 + (80 * 2688 + 2688) + 2 * 1344 + 3 * 1344 + 2 * (448 * 448 + 448 + 448 * 256 + 256)
    assert audio_models.wavernn(samples=4).count_params() == cell
    assert audio_models.speech_recogniser(units=8).output_shape == (None, 100, 29)


def test_generative_models():
    # Hinton and Salakhutdinov 2006: 784-1000-500-250-30 and back.
    widths = (784, 1000, 500, 250, 30, 250, 500, 1000, 784)
    weights = sum(a * b + b for a, b in pairwise(widths))
    assert generative_models.dense_autoencoder().count_params() == weights
    assert generative_models.variational_autoencoder().output_shape[0] == (None, 64, 64, 3)
    # Radford et al. 2016, figure 1: 4 x 4 x 1024 first.
    generator = generative_models.dcgan_generator()
    assert generator.output_shape == (None, 64, 64, 3)
    assert (None, 4, 4, 1024) in [layer.output.shape for layer in generator.layers]
    assert generative_models.dcgan_discriminator().output_shape == (None, 1)
    canvas, *codes = generative_models.conv_draw(steps=3, width=8, latent=2).outputs
    assert canvas.shape == (None, 32, 32, 3)
    assert [code.shape for code in codes] == [(None, 16, 16, 4)] * 6


def test_recommenders():
    assert recommenders.wide_and_deep(tables=2, rows=10).output_shape == (None, 1)
    # MLPerf's NeuMF: two tables a user and two an item, 64 factors and 128.
    tables = (138_000 + 27_000) * (64 + 128)
    dense = 256 * 256 + 256 + 256 * 128 + 128 + 128 * 64 + 64 + (128 + 1)
    assert recommenders.collaborative_filtering().count_params() == tables + dense
