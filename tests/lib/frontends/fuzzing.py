"""Garbles the content of files, for hypothesis."""

from hypothesis import strategies as st


def garbled(data: bytes, edits: list[tuple[float, int, bytes]]) -> bytes:
    """Each edit: at a share of the length, some bytes taken out and others put in."""
    for place, length, piece in edits:
        start = int(place * len(data))
        data = data[:start] + piece + data[start + length :]
    return data


def edits(pieces: st.SearchStrategy[bytes]) -> st.SearchStrategy:
    """One to four edits that put in such pieces."""
    one = st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 40), pieces)
    return st.lists(one, min_size=1, max_size=4)
