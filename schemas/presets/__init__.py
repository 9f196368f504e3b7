"""Tables that ship with the program, read once."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent


@cache
def load_preset(name: str) -> Any:
    """The content of `schemas/presets/NAME.yaml`; shared, so not to be changed."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), Loader=loader)
