"""Attributes of an instruction in HLO text: `dimensions={0,1}`, `window={size=3x3}`, `to_apply=%sum` ..."""

from typing import TYPE_CHECKING, Any

from lib.frontends.hlo_text_tokens import Tokens

if TYPE_CHECKING:
    from lib.frontends.hlo_text import _Parser

CALLED = ("to_apply", "calls", "body", "select", "true_computation")
"""Attributes that name a computation and come before the one of SECOND_CALLED, wherever they are written."""
SECOND_CALLED = ("condition", "scatter", "false_computation")
CALLED_LISTS = ("branch_computations", "called_computations")
LISTS = {"dimensions": "dimensions", "iota_dimension": "dimensions", "dynamic_slice_sizes": "dynamic_slice_sizes"}
"""Attributes that are lists of numbers of the instruction itself, and their names in the protocol buffer."""
NUMBERS = {
    "index": "tuple_index",
    "feature_group_count": "feature_group_count",
    "batch_group_count": "batch_group_count",
    "feature_index": "feature_index",
}
DOT = {
    "lhs_contracting_dims": "lhs_contracting_dimensions",
    "rhs_contracting_dims": "rhs_contracting_dimensions",
    "lhs_batch_dims": "lhs_batch_dimensions",
    "rhs_batch_dims": "rhs_batch_dimensions",
}
INDEXING = {
    "gather": ("offset_dims", "collapsed_slice_dims", "start_index_map", "operand_batching_dims",
               "start_indices_batching_dims", "index_vector_dim"),
    "scatter": ("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims", "input_batching_dims",
                "scatter_indices_batching_dims", "index_vector_dim"),
}  # fmt: skip
"""Attributes of a gather and of a scatter, named as in the protocol buffer."""
WINDOW = {
    "size": ("size",),
    "stride": ("stride",),
    "pad": ("padding_low", "padding_high"),
    "lhs_dilate": ("base_dilation",),
    "rhs_dilate": ("window_dilation",),
    "rhs_reversal": ("window_reversal",),
}
"""Parts of a window, one entry a dimension with `x` between them, to the fields of a dimension."""
METADATA = ("op_type", "op_name")
CONVOLUTION = {
    "input": ("b", "f"),
    "kernel": ("i", "o"),
    "output": ("b", "f"),
}
"""Letters of the two dimensions that are not spatial; those are written as digits."""


def read_attribute(parser: "_Parser", proto: Any, key: str) -> None:
    """Read the value of the attribute `key` into the instruction; one that says nothing about costs is skipped.

    Raises HloTextError where the value is none.
    """
    tokens = parser.tokens
    if key in CALLED:
        proto.called_computation_ids.insert(0, parser.called())
    elif key in SECOND_CALLED:
        proto.called_computation_ids.append(parser.called())
    elif key in CALLED_LISTS:
        tokens.expect("{")
        while not tokens.accept("}"):
            proto.called_computation_ids.append(parser.called())
            tokens.accept(",")
    elif key in LISTS:
        getattr(proto, LISTS[key]).extend(tokens.integers())
    elif key in NUMBERS:
        setattr(proto, NUMBERS[key], tokens.integer("a number"))
    elif key in DOT:
        getattr(proto.dot_dimension_numbers, DOT[key]).extend(tokens.integers())
    elif key in INDEXING.get(proto.opcode, ()):
        _indexing(tokens, proto, key)
    elif key == "window":
        _window(tokens, proto.window)
    elif key == "dim_labels":
        _labels(tokens, proto.convolution_dimension_numbers)
    elif key == "slice":
        _slice(tokens, proto)
    elif key == "padding":
        _padding(tokens, proto.padding_config)
    elif key == "direction":
        proto.comparison_direction = tokens.word("EQ, NE, GE, GT, LE or LT")
    elif key == "custom_call_target":
        proto.custom_call_target = tokens.string()
    elif key == "epsilon":
        proto.epsilon = float(tokens.word("a number"))
    elif key == "metadata":
        _metadata(tokens, proto.metadata)
    else:
        tokens.skip_value()


def _indexing(tokens: Tokens, proto: Any, key: str) -> None:
    numbers = proto.gather_dimension_numbers if proto.opcode == "gather" else proto.scatter_dimension_numbers
    if key == "index_vector_dim":
        numbers.index_vector_dim = tokens.integer("a dimension")
    else:
        getattr(numbers, key).extend(tokens.integers())


def _window(tokens: Tokens, window: Any) -> None:
    """`{size=3x3 stride=2x2 pad=0_1x0_1 rhs_reversal=1x1}`."""
    tokens.expect("{")
    parts: dict[str, list[list[int]]] = {}
    while not tokens.accept("}"):
        part = tokens.word("a part of the window")
        tokens.expect("=")
        if part not in WINDOW:
            raise tokens.error(f"'{part}' is no part of a window; allowed: {', '.join(WINDOW)}")
        parts[part] = _grid(tokens, part)
    for number in range(len(parts.get("size", []))):
        dimension = window.dimensions.add(size=1, stride=1, base_dilation=1, window_dilation=1)
        for part, values in parts.items():
            for field, value in zip(WINDOW[part], values[number], strict=True):
                setattr(dimension, field, value)


def _grid(tokens: Tokens, part: str) -> list[list[int]]:
    """`0_1x0_1`: [[0, 1], [0, 1]]."""
    text = tokens.word("numbers with x between them")
    try:
        return [[int(number) for number in entry.split("_")] for entry in text.split("x")]
    except ValueError:
        raise tokens.error(f"{part}={text}: allowed are numbers with x between the dimensions") from None


def _labels(tokens: Tokens, numbers: Any) -> None:
    """`b01f_01io->b01f`: what each dimension of input, kernel and output means."""
    token = tokens.take()
    if token.kind != "labels":
        raise tokens.error(f"dim_labels={token.text}: must read like b01f_01io->b01f")
    left, _, output = token.text.partition("->")
    image, _, kernel = left.partition("_")
    names = ("batch", "feature"), ("input_feature", "output_feature"), ("batch", "feature")
    for (array, letters), fields, labels in zip(CONVOLUTION.items(), names, (image, kernel, output), strict=True):
        for letter, field in zip(letters, fields, strict=True):
            if letter not in labels:
                raise tokens.error(f"dim_labels={token.text}: the {array} has no dimension '{letter}'")
            setattr(numbers, f"{array}_{field}_dimension", labels.index(letter))
        spatial = sorted((label, place) for place, label in enumerate(labels) if label.isdigit())
        getattr(numbers, f"{array}_spatial_dimensions").extend(place for _, place in spatial)


def _slice(tokens: Tokens, proto: Any) -> None:
    """`{[0:2], [0:8:2]}`: start, limit and stride of each dimension."""
    tokens.expect("{")
    while not tokens.accept("}"):
        tokens.expect("[")
        bounds = [tokens.integer("the start")]
        while tokens.accept(":"):
            bounds.append(tokens.integer("a limit or stride"))
        tokens.expect("]")
        tokens.accept(",")
        if len(bounds) not in (2, 3):
            raise tokens.error("a slice must read like [0:8] or [0:8:2]")
        proto.slice_dimensions.add(start=bounds[0], limit=bounds[1], stride=(*bounds, 1)[2])


def _padding(tokens: Tokens, config: Any) -> None:
    """`0_0x1_1_0`: low, high and, where there is one, interior padding of each dimension."""
    for entry in _grid(tokens, "padding"):
        if len(entry) not in (2, 3):
            raise tokens.error("padding must read like 0_1x0_1 or 0_1_1x0_1_1")
        config.dimensions.add(edge_padding_low=entry[0], edge_padding_high=entry[1], interior_padding=(*entry, 0)[2])


def _metadata(tokens: Tokens, metadata: Any) -> None:
    tokens.expect("{")
    while not tokens.accept("}"):
        key = tokens.word("metadata")
        tokens.expect("=")
        if key in METADATA:
            setattr(metadata, key, tokens.string())
        else:
            tokens.skip_value()
        tokens.accept(",")
