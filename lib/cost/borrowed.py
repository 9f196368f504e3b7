"""Arrays that compiled code passes around without counting references."""

from collections.abc import Callable
from typing import Any

from numba.core import cgutils
from numba.extending import intrinsic


def _borrowed(typing_context, array):
    """Type and code of `borrowed(array)`, a view of `array` that does not own it, inside compiled code.

    Numba counts a reference to every array of a tuple, atomically, whenever the tuple is handed to a function; in a
    loop of small functions that is most of the time. The array must outlive its view, and compiled code drops a local
    array after its last mention, so give it arrays that the caller holds.
    """

    def build(context, builder, signature, arguments):
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        view.meminfo = cgutils.get_null_value(view.meminfo.type)
        return view._getvalue()

    return array(array), build


borrowed: Callable[[Any], Any] = intrinsic(_borrowed)  # type: ignore[assignment]
"""See :func:`_borrowed`; takes the array alone."""
