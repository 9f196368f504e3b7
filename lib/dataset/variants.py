"""The hardware variants of a shard: one, or all that an entry of the study samples."""

from collections.abc import Mapping
from typing import Any

from lib.hardware.datapath import Datapath, datapath_from_spec


def datapaths_of(hardware: Mapping[str, Any]) -> dict[str, Datapath]:
    """Datapath by variant, in order of the ids, from the `hardware` of a shard's resolved entry.

    A sampled entry has `variants`: what each has of its own, beside the `datapath` that they share.
    """
    common = hardware["datapath"]
    variants = hardware.get("variants") or {hardware["id"]: {}}
    return {id: datapath_from_spec(common | variants[id]) for id in sorted(variants)}
