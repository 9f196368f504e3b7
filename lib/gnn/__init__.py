"""The learned cost model: features, batches, Spektral layers, training, inference."""
