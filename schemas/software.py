"""Versions of the software that shapes the numbers."""

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

LIBRARIES = ("numpy", "pandas", "pyarrow", "numba", "tensorflow", "keras", "spektral", "cmaes")


@cache
def software_versions() -> dict[str, str]:
    """Version by name; a library that is not installed is left out."""
    found = {"python": platform.python_version()}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found
