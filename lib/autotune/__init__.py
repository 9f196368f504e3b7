"""Autotuners: a model proposes configurations of a program, a target runs the most promising ones."""
