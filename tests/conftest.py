"""Hypothesis draws the same examples in every run, so that tests repeat; `--hypothesis-seed=N` draws others."""

from hypothesis import settings

settings.register_profile("reproducible", derandomize=True)
settings.load_profile("reproducible")
