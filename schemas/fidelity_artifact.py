"""Our figures beside someone else's, one row each."""

from typing import Any, ClassVar

from schemas.artifact import Artifact
from schemas.artifact_files import Column, FileSpec, TableSpec

ROLES = ("calibration", "validation")
RELATIONS = ("equal", "at most", "at least")
KEY = ["source", "subject", "quantity"]
"""What tells the rows apart."""


class FidelityArtifact(Artifact):
    """Figures of one entry of the study's `fidelity:`; see `lib.fidelity.figure`.

    `theirs` and `error_pct` are null where the source prints nothing; `low`, `high`: range of `ours` over the
    constants that are known only within a range, null where it has none; `relation`: how ours should stand to theirs.
    Of a bound `error_pct` says by how much ours breaks it.
    """

    version: ClassVar[int] = 1
    files: ClassVar[dict[str, FileSpec]] = {
        "figures.parquet": TableSpec(
            {
                "source": Column("string"),
                "subject": Column("string"),
                "quantity": Column("string"),
                "unit": Column("string"),
                "role": Column("string"),
                "ours": Column("float64"),
                "theirs": Column("float64", nullable=True),
                "error_pct": Column("float64", nullable=True),
                "low": Column("float64", nullable=True),
                "high": Column("float64", nullable=True),
                "relation": Column("string"),
                "note": Column("string"),
            }
        )
    }

    @classmethod
    def check(cls, contents: dict[str, Any]) -> tuple[str, str] | None:
        """Rows are distinct, roles are known, ranges are in order."""
        figures = contents["figures.parquet"]
        repeated = figures.duplicated(KEY)
        if repeated.any():
            row = figures.loc[repeated, KEY].iloc[0].tolist()
            return "figures.parquet", f"{' / '.join(row)} is there twice"
        unknown = sorted(set(figures["role"]) - set(ROLES))
        if unknown:
            return "figures.parquet role", f"{unknown[0]!r} is not one of {', '.join(ROLES)}"
        unknown = sorted(set(figures["relation"]) - set(RELATIONS))
        if unknown:
            return "figures.parquet relation", f"{unknown[0]!r} is not one of {', '.join(RELATIONS)}"
        if (figures["low"] > figures["high"]).any():
            return "figures.parquet low", "is above high"
        return None
