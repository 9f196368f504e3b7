"""Builders of models of text: BERT, a decoder-only language model, translation with and without attention alone.

All take token ids [batch, length] and start with a look-up in the embedding table.
"""

import keras
from keras import layers

BERT_VOCABULARY = 30_522
"""WordPieces of BERT's English models (Devlin et al. 2018)."""


class LearnedPositions(keras.layers.Layer):
    """Adds a vector of weights a place: [batch, length, width] to the same."""

    def build(self, input_shape):
        """One weight an element of a sample."""
        self.table = self.add_weight(shape=input_shape[1:], initializer="random_normal", name="table")

    def call(self, x):
        """The sum."""
        return x + self.table


def bert(
    layers: int = 12, width: int = 768, heads: int = 12, length: int = 128, vocabulary: int = BERT_VOCABULARY
) -> keras.Model:
    """BERT (Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", 2018), base by default: token and
    segment ids [batch, length] to the pooled vector of the first token [batch, width] and all vectors."""
    tokens, segments = (keras.Input((length,), dtype="int32") for _ in range(2))
    x = _embedded(tokens, vocabulary, width) + keras.layers.Embedding(2, width)(segments)
    x = keras.layers.LayerNormalization()(x)
    for _ in range(layers):
        x = _post_norm(x, _attention(heads, width)(x, x))
        x = _post_norm(x, _feed_forward(x, 4 * width, "gelu"))
    pooled = keras.layers.Dense(width, activation="tanh")(x[:, 0])
    return keras.Model([tokens, segments], [pooled, x])


def decoder_language_model(
    layers: int = 12, width: int = 768, heads: int = 12, length: int = 256, vocabulary: int = 50_257
) -> keras.Model:
    """Next-token logits by a causal Transformer with normalisation before each part, GPT-2 small by default (Radford et
    al., "Language Models are Unsupervised Multitask Learners", 2019). The output matrix is not the embedding table."""
    tokens = keras.Input((length,), dtype="int32")
    x = _embedded(tokens, vocabulary, width)
    for _ in range(layers):
        normal = keras.layers.LayerNormalization()(x)
        x = x + _attention(heads, width)(normal, normal, use_causal_mask=True)
        x = x + _feed_forward(keras.layers.LayerNormalization()(x), 4 * width, "gelu")
    x = keras.layers.LayerNormalization()(x)
    return keras.Model(tokens, keras.layers.Dense(vocabulary, use_bias=False)(x))


def transformer_translation(
    layers: int = 6, width: int = 512, heads: int = 8, length: int = 64, vocabulary: int = 32_000
) -> keras.Model:
    """The Transformer (Vaswani et al., "Attention Is All You Need", 2017), base by default: ids of the source and of
    the target so far, each [batch, length], to logits [batch, length, vocabulary]."""
    source, target = (keras.Input((length,), dtype="int32") for _ in range(2))
    x = _embedded(source, vocabulary, width)
    for _ in range(layers):
        x = _post_norm(x, _attention(heads, width)(x, x))
        x = _post_norm(x, _feed_forward(x, 4 * width, "relu"))
    y = _embedded(target, vocabulary, width)
    for _ in range(layers):
        y = _post_norm(y, _attention(heads, width)(y, y, use_causal_mask=True))
        y = _post_norm(y, _attention(heads, width)(y, x))
        y = _post_norm(y, _feed_forward(y, 4 * width, "relu"))
    return keras.Model([source, target], keras.layers.Dense(vocabulary, use_bias=False)(y))


def gru_language_model(vocabulary: int = 10_000, width: int = 512, layers: int = 2, length: int = 64) -> keras.Model:
    """Next-token logits by stacked gated recurrent units (Cho et al., "Learning Phrase Representations using RNN
    Encoder-Decoder", 2014): [batch, length] to [batch, length, vocabulary]."""
    tokens = keras.Input((length,), dtype="int32")
    x = keras.layers.Embedding(vocabulary, width)(tokens)
    for _ in range(layers):
        x = keras.layers.GRU(width, return_sequences=True)(x)
    return keras.Model(tokens, keras.layers.Dense(vocabulary)(x))


def recurrent_translation(layers: int = 2, width: int = 512, length: int = 32, vocabulary: int = 32_000) -> keras.Model:
    """Translation by LSTMs after GNMT (Wu et al., "Google's Neural Machine Translation System", 2016), smaller: the
    first encoder layer reads both ways, the decoder attends to the encoder by products (Luong et al. 2015) once its
    LSTMs have run. Ids of source and target [batch, length] to logits [batch, length, vocabulary]."""
    source, target = (keras.Input((length,), dtype="int32") for _ in range(2))
    x = keras.layers.Embedding(vocabulary, width)(source)
    x = keras.layers.Bidirectional(keras.layers.LSTM(width // 2, return_sequences=True))(x)
    for _ in range(layers - 1):
        x = x + keras.layers.LSTM(width, return_sequences=True)(x)
    y = keras.layers.Embedding(vocabulary, width)(target)
    for _ in range(layers):
        y = y + keras.layers.LSTM(width, return_sequences=True)(y)
    context = keras.layers.Attention()([y, x])
    y = keras.layers.Dense(width, activation="tanh")(keras.layers.Concatenate()([y, context]))
    return keras.Model([source, target], keras.layers.Dense(vocabulary)(y))


def _embedded(tokens, vocabulary: int, width: int):
    """Rows of the token table, and a vector of weights for each place added."""
    return LearnedPositions()(keras.layers.Embedding(vocabulary, width)(tokens))


def _attention(heads: int, width: int):
    return layers.MultiHeadAttention(heads, width // heads)


def _feed_forward(x, hidden: int, activation: str):
    return layers.Dense(x.shape[-1])(layers.Dense(hidden, activation=activation)(x))


def _post_norm(x, change):
    return layers.LayerNormalization()(x + change)
