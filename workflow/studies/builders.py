"""Examples of own builders. A workload `builder: "workflow.studies.builders:small_mlp"` calls the function with the
entry's `arguments`; it returns a Keras model whose first dimension is the batch."""

import keras


def small_convolution_network(width: int = 16, blocks: int = 2, input_shape: tuple = (32, 32, 3)) -> keras.Model:
    """Blocks of convolution, batch normalisation and ReLU, each at half the resolution and twice the channels."""
    image = x = keras.Input(input_shape)
    for block in range(blocks):
        x = keras.layers.Conv2D(width * 2**block, 3, strides=2, padding="same", use_bias=False)(x)
        x = keras.layers.BatchNormalization()(x)
        x = keras.layers.ReLU()(x)
    x = keras.layers.GlobalAveragePooling2D()(x)
    return keras.Model(image, keras.layers.Dense(10, activation="softmax")(x))


def small_mlp(width: int = 256, layers: int = 3, input_shape: tuple = (256,)) -> keras.Model:
    """Dense layers of one width with ReLU, and ten outputs."""
    vector = x = keras.Input(input_shape)
    for _ in range(layers):
        x = keras.layers.Dense(width, activation="relu")(x)
    return keras.Model(vector, keras.layers.Dense(10)(x))


def transformer_encoder(layers: int = 2, width: int = 256, heads: int = 4, length: int = 128) -> keras.Model:
    """BERT's encoder (Devlin et al. 2018, section 3) on embedded tokens: self-attention and a feed-forward network of
    four times the width, each followed by a residual connection and layer normalisation."""
    tokens = x = keras.Input((length, width))
    for _ in range(layers):
        attended = keras.layers.MultiHeadAttention(heads, width // heads)(x, x)
        x = keras.layers.LayerNormalization()(x + attended)
        hidden = keras.layers.Dense(4 * width, activation="gelu")(x)
        x = keras.layers.LayerNormalization()(x + keras.layers.Dense(width)(hidden))
    return keras.Model(tokens, x)


def lstm_language_model(vocabulary: int = 10_000, width: int = 650, layers: int = 2, length: int = 35) -> keras.Model:
    """Next-token logits of a text by stacked LSTMs: token ids [batch, length] to [batch, length, vocabulary].

    The defaults are the medium model of Zaremba, Sutskever, Vinyals, "Recurrent Neural Network Regularization" (2014).
    """
    tokens = keras.Input((length,), dtype="int32")
    x = keras.layers.Embedding(vocabulary, width)(tokens)
    for _ in range(layers):
        x = keras.layers.LSTM(width, return_sequences=True)(x)
    return keras.Model(tokens, keras.layers.Dense(vocabulary)(x))


def embedding_recommender(
    tables: int = 26,
    rows: int = 100_000,
    width: int = 16,
    features: int = 13,
    bottom: tuple = (512, 256, 64),
    top: tuple = (512, 256),
) -> keras.Model:
    """DLRM (Naumov et al., "Deep Learning Recommendation Model for Personalization and Recommendation Systems", 2019):
    numbers [batch, features] and one row number a table [batch, tables] to a click probability [batch, 1].

    The sizes of the layers are those of the authors' run on Criteo's data; the tables have one size instead of many.
    The products of all pairs enter the top network, where DLRM takes each pair once.
    """
    numbers, places = keras.Input((features,)), keras.Input((tables,), dtype="int32")
    x = numbers
    for units in (*bottom, width):
        x = keras.layers.Dense(units, activation="relu")(x)
    looked_up = [keras.layers.Embedding(rows, width)(places[:, table]) for table in range(tables)]
    vectors = keras.ops.stack([x, *looked_up], axis=1)
    pairs = keras.ops.matmul(vectors, keras.ops.transpose(vectors, (0, 2, 1)))
    x = keras.layers.Concatenate()([x, keras.layers.Flatten()(pairs)])
    for units in top:
        x = keras.layers.Dense(units, activation="relu")(x)
    return keras.Model([numbers, places], keras.layers.Dense(1, activation="sigmoid")(x))
