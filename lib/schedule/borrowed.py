"""Arrays that compiled code passes around without counting references."""

from collections.abc import Callable
from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic


def _borrowed(typing_context, value):
    """Type and code of `borrowed(value)`, where each array in `value` (an array or a tuple of tuples, arrays and
    numbers) becomes a view that does not own it, inside compiled code.

    Numba counts a reference to every array of a tuple, atomically, whenever the tuple is handed to a function; in a
    loop of small functions that is most of the time. The arrays must outlive their views, and compiled code drops a
    local array after its last mention, so give it arrays that the caller holds.
    """

    def build(context, builder, signature, arguments):
        return _view(context, builder, signature.args[0], arguments[0])

    return value(value), build


def _view(context, builder, kind, value):
    if isinstance(kind, types.Array):
        view = context.make_array(kind)(context, builder, value)
        view.meminfo = cgutils.get_null_value(view.meminfo.type)
        return view._getvalue()
    if isinstance(kind, types.BaseTuple):
        kinds = kind.types  # type: ignore[attr-defined]
        items = cgutils.unpack_tuple(builder, value)
        views = [_view(context, builder, *pair) for pair in zip(kinds, items, strict=True)]
        return context.make_tuple(builder, kind, views)
    return value


borrowed: Callable[[Any], Any] = intrinsic(_borrowed)  # type: ignore[assignment]
"""See :func:`_borrowed`; takes the value alone."""
