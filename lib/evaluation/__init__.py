"""Evaluation: metrics of predictions, baselines, intervals over programs, tables."""
