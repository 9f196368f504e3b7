"""What an artifact on disk was made from, against what its rule would make it from now."""

import json
import os
from pathlib import Path
from typing import Any


def is_made_from(manifest: str | os.PathLike[str], spec: Any, code: str) -> bool:
    """Whether a manifest says that its artifact was made from `spec` by code with the fingerprint `code`.

    A file that is no manifest, or a damaged one, says nothing of the kind.
    """
    try:
        content = json.loads(Path(manifest).read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and (content.get("spec"), content.get("code")) == (_as_read(spec), code)


def _as_read(spec: Any) -> Any:
    """As a manifest gives it back: tuples are lists there, keys text."""
    return json.loads(json.dumps(spec))
