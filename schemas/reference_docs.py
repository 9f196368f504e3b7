"""The reference of the study, generated from its models: JSON Schema and readable page.

`python -m schemas.reference_docs` rewrites both; with `--check` it fails if they are stale.
"""

import difflib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from schemas.autotune import Autotune
from schemas.boosted_trees import Average, BoostedTrees
from schemas.dataset import Dataset, DrawnSplit, FusionTask, NamedSplit, TileTask
from schemas.evaluation import Evaluation
from schemas.fidelity import Fidelity
from schemas.hardware import HARDWARE_PRESETS, DatapathEntry, Hardware
from schemas.hardware_sample import HardwareSample, SampleRanges
from schemas.measure import Measure
from schemas.model import Model
from schemas.quantity import QUANTITY_OF_UNIT
from schemas.search import Limits, Search
from schemas.search_space import DEFAULT_SPACE, TABLE_3, Space
from schemas.study import Study
from schemas.study_base import ID_PATTERN
from schemas.workload import KERAS_FAMILIES, Workload

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
REMEDY = "run `python -m schemas.reference_docs`"

_SECTIONS: list[tuple[str, type[BaseModel]]] = [
    ("workloads.ID", Workload),
    ("hardware.ID", Hardware),
    ("hardware.ID.measure", Measure),
    ("hardware.ID.datapath", DatapathEntry),
    ("hardware.ID.sample", HardwareSample),
    ("hardware.ID.sample.ranges", SampleRanges),
    ("datasets.ID", Dataset),
    ("datasets.ID.split, drawn", DrawnSplit),
    ("datasets.ID.split, by name", NamedSplit),
    ("datasets.ID.tile", TileTask),
    ("datasets.ID.fusion", FusionTask),
    ("models.ID", Model),
    ("models.ID, boosted trees", BoostedTrees),
    ("models.ID, an average", Average),
    ("evaluations.ID", Evaluation),
    ("autotune.ID", Autotune),
    ("searches.ID", Search),
    ("searches.ID.limits", Limits),
    ("searches.ID.space", Space),
    ("fidelity.ID", Fidelity),
]


def documents() -> dict[str, str]:
    """Content by file name."""
    return {"study.schema.json": _json_schema(), "study.md": _page()}


def _json_schema() -> str:
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Study.model_json_schema()}
    return json.dumps(_with_empty_sections(schema), indent=2, ensure_ascii=False) + "\n"


def _with_empty_sections(schema: dict[str, Any]) -> dict[str, Any]:
    """A key without a value takes its default, so null is fine wherever a key is not required."""
    for model in [schema, *schema["$defs"].values()]:
        for key, property in model.get("properties", {}).items():
            if key not in model.get("required", []) and {"type": "null"} not in property.get("anyOf", []):
                shown = {name: property.pop(name) for name in ("title", "description", "default") if name in property}
                model["properties"][key] = {**shown, "anyOf": [property, {"type": "null"}]}
    return schema


def _page() -> str:
    return "\n".join([*_introduction(), *_table(Study), *_sections(), *_presets()]) + "\n"


def _introduction() -> Iterator[str]:
    yield "# The study file"
    yield ""
    yield f"Generated from the models in `schemas/`; to change it, change those and {REMEDY}."
    yield ""
    yield "A study is one YAML file. Keys that are left out, or left empty, take their default. Unknown and duplicate"
    yield f"keys are errors. Ids match `{ID_PATTERN}`. Quantities are a number and a unit, which only 0 may lack:"
    yield ""
    for quantity in QUANTITY_OF_UNIT.values():
        yield f"- {quantity.allowed()}"
    yield ""
    yield "`snakemake --config seed=2 results=elsewhere` overrides keys: `seed`, `results`, `measurements`, no others."
    yield ""
    yield "## Top level"
    yield ""


def _sections() -> Iterator[str]:
    for title, model in _SECTIONS:
        yield ""
        yield f"## `{title}`" if "," not in title else "## `{}`,{}".format(*title.split(",", 1))
        yield ""
        yield " ".join((model.__doc__ or "").split())
        yield ""
        yield from _table(model)


def _table(model: type[BaseModel]) -> Iterator[str]:
    properties = model.model_json_schema()["properties"]
    yield "| key | type | default | unit | description |"
    yield "|---|---|---|---|---|"
    for key, field in model.model_fields.items():
        schema = properties[key]
        cells = (f"`{key}`", _type(schema), _default(model, key, field), _unit(schema), _text(field.description or ""))
        yield "| " + " | ".join(cells) + " |"


def _text(description: str) -> str:
    return " ".join(description.split()).replace("|", "\\|")


def _type(schema: dict[str, Any]) -> str:
    """The type in words."""
    if "unit" in schema:
        return QUANTITY_OF_UNIT[schema["unit"]].name.removeprefix("a ")
    if "anyOf" in schema:
        return " or ".join(_type(arm) for arm in schema["anyOf"] if arm.get("type") != "null")
    if "oneOf" in schema:
        return "mapping, see below"
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    if "$ref" in schema or (schema.get("type") == "object" and "additionalProperties" in schema):
        return "mapping"
    if schema.get("type") == "array":
        items = schema.get("items", {})
        if schema.get("minItems") == schema.get("maxItems") == 2:
            return "[smallest, largest]"
        return (
            "list of allowed values" if "anyOf" in items or len(items.get("enum", [])) > 5 else f"list: {_type(items)}"
        )
    if schema.get("pattern") == ID_PATTERN:
        return "id"
    names = {
        "integer": "whole number",
        "number": "number",
        "string": "text",
        "object": "mapping",
        "boolean": "true, false",
    }
    return names[schema["type"]] + _bounds(schema)


def _bounds(schema: dict[str, Any]) -> str:
    words = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    bounds = [f"{sign} {schema[name]}" for name, sign in words.items() if name in schema]
    return " " + ", ".join(bounds) if bounds else ""


def _unit(schema: dict[str, Any]) -> str:
    arms = [schema, *schema.get("anyOf", [])]
    return next((arm["unit"] for arm in arms if "unit" in arm), "")


def _default(model: type[BaseModel], key: str, field: FieldInfo) -> str:
    if field.default is PydanticUndefined:
        return "**required**"
    if model is Space:
        values = DEFAULT_SPACE[key]
        return (
            f"all: {', '.join(f'`{value}`' for value in values)}"
            if len(values) < 6
            else f"all {len(values)} of the table"
        )
    if field.default is None or field.default == {} or isinstance(field.default, BaseModel):
        return ""
    value = field.default
    return f"`[{', '.join(str(item) for item in value)}]`" if isinstance(value, list) else f"`{value}`"


def _presets() -> Iterator[str]:
    yield ""
    yield "## Hardware presets"
    yield ""
    yield "Sources of the numbers are in `schemas/presets/hardware.yaml`."
    yield ""
    yield f"| key | {' | '.join(HARDWARE_PRESETS)} |"
    yield "|---" * (1 + len(HARDWARE_PRESETS)) + "|"
    schemas = DatapathEntry.model_json_schema()["properties"]
    for key in DatapathEntry.model_fields:
        unit = _unit(schemas[key])
        values = [getattr(preset, key) for preset in HARDWARE_PRESETS.values()]
        yield f"| `{key}` | {' | '.join(QUANTITY_OF_UNIT[unit].write(v) if unit else str(v) for v in values)} |"
    yield ""
    yield "## Search space"
    yield ""
    yield "FAST's table 3 (ASPLOS 2022), from `schemas/presets/search_space.yaml`; a study's `space` may take from it"
    yield "and add to it."
    yield ""
    for parameter, values in TABLE_3.items():
        write = QUANTITY_OF_UNIT["bytes"].write if parameter.endswith("_bytes") else str
        yield f"- `{parameter}`: {', '.join(write(value) for value in values)}"
    yield ""
    yield "## Names in keras.applications"
    yield ""
    yield "Name (family), from `schemas/presets/keras_applications.yaml`:"
    yield ""
    yield ", ".join(f"{name} ({family})" for name, family in KERAS_FAMILIES.items())


def stale() -> list[str]:
    """Differences between the files and what the models generate; empty if they are in step."""
    differences: list[str] = []
    for name, text in documents().items():
        file = FOLDER / name
        written = file.read_text(encoding="utf-8") if file.is_file() else ""
        differences += difflib.unified_diff(
            written.splitlines(), text.splitlines(), str(file), "generated", lineterm=""
        )
    return differences


def main(arguments: list[str]) -> int:
    """Write the documents, or check them."""
    if arguments not in ([], ["--check"]):
        print("usage: python -m schemas.reference_docs [--check]")
        return 2
    if arguments == ["--check"]:
        differences = stale()
        print(
            "\n".join([*differences, f"docs/reference is stale: {REMEDY}"])
            if differences
            else "docs/reference is in step"
        )
        return 1 if differences else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in documents().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
