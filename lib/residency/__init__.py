"""Residency: which tensors stay in the global buffer between kernels."""
