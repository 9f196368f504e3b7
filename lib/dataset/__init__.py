"""Datasets: making shards of labelled kernels, and reading them."""
