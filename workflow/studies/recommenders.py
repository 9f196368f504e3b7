"""Builders of recommenders beside DLRM (`workflow.studies.builders:embedding_recommender`)."""

import keras
from keras import layers


def wide_and_deep(
    tables: int = 20, rows: int = 50_000, width: int = 32, features: int = 16, hidden: tuple = (1024, 512, 256)
) -> keras.Model:
    """Wide & Deep (Cheng et al., "Wide & Deep Learning for Recommender Systems", 2016): numbers [batch, features] and
    one row number a table [batch, tables] to a click probability. The wide part has a weight a row; its crossed
    features are left out."""
    numbers, places = keras.Input((features,)), keras.Input((tables,), dtype="int32")
    looked_up = [layers.Embedding(rows, width)(places[:, table]) for table in range(tables)]
    single = [layers.Embedding(rows, 1)(places[:, table]) for table in range(tables)]
    x = layers.Concatenate()([numbers, *looked_up])
    for units in hidden:
        x = layers.Dense(units, activation="relu")(x)
    wide = layers.Dense(1)(numbers) + layers.Add()(single)
    return keras.Model([numbers, places], keras.ops.sigmoid(layers.Dense(1)(x) + wide))


def collaborative_filtering(
    users: int = 138_000, items: int = 27_000, factors: int = 64, hidden: tuple = (256, 256, 128, 64)
) -> keras.Model:
    """NeuMF (He et al., "Neural Collaborative Filtering", 2017), sizes of MLPerf's MovieLens-20M run: numbers of a user
    and an item, each [batch, 1], to the probability that they go together."""
    user, item = (keras.Input((1,), dtype="int32") for _ in range(2))

    def row(of, rows: int, width: int):
        return layers.Flatten()(layers.Embedding(rows, width)(of))

    product = layers.Multiply()([row(user, users, factors), row(item, items, factors)])
    x = layers.Concatenate()([row(user, users, hidden[0] // 2), row(item, items, hidden[0] // 2)])
    for units in hidden[1:]:
        x = layers.Dense(units, activation="relu")(x)
    x = layers.Concatenate()([product, x])
    return keras.Model([user, item], layers.Dense(1, activation="sigmoid")(x))
