"""Compiled functions that count no references to arrays."""

from typing import Any

from numba import njit


def uncounted(*, forceinline: bool = False) -> Any:
    """The decorator of the small functions that hot loops call.

    Numba counts a reference to every array that a function takes out of a tuple; here none. Such a function can't make
    an array, nor copy one into another by slices; the arrays it is given must outlive the call.
    """
    return njit(cache=True, error_model="numpy", forceinline=forceinline, _nrt=False)  # type: ignore[call-overload]
