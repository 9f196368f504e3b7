"""Figures of the papers, shown beside ours, each with source, unit and role."""

from functools import cache
from typing import Literal

from pydantic import model_validator

from schemas.base import StrictModel
from schemas.presets import load_preset

ReferenceRole = Literal["claim", "calibration", "validation"]


class Claim(StrictModel):
    """A result that a paper's abstract or summary states."""

    id: str
    """Short name, unique."""
    source: str
    """Key of the reference's `sources`."""
    claim: str
    """The claim in words."""
    value: float | None
    """None for a claim without a number."""
    unit: str
    """Empty for correlations and claims without a number."""
    role: ReferenceRole
    """What the figure is used for."""


class Figure(StrictModel):
    """One number of a table."""

    value: float | None
    """None where the paper prints nothing."""
    unit: str
    """Empty for shares and correlations."""
    role: ReferenceRole
    """What the figure is used for; printed beside every error against it."""
    source: str
    """The paper, in full."""


class ReferenceTable(StrictModel):
    """A table or figure of a paper."""

    title: str
    """What it shows."""
    source: str
    """Key of the reference's `sources`."""
    note: str
    """How the numbers were obtained."""
    role: ReferenceRole
    """What the figures are used for."""
    row_roles: dict[str, ReferenceRole] = {}
    """Rows with another role."""
    column_roles: dict[str, ReferenceRole] = {}
    """Columns with another role; a row of `row_roles` goes first."""
    from_memory: dict[str, list[str]] = {}
    """Columns by row whose figures come from memory and could not be checked; the report marks them."""
    units: dict[str, str]
    """Unit by column, in the columns' order."""
    rows: dict[str, list[float | None]]
    """Values by row, one a column."""

    @model_validator(mode="after")
    def _rows_fit_columns(self) -> "ReferenceTable":
        for name, values in self.rows.items():
            if len(values) != len(self.units):
                raise ValueError(f"row {name} has {len(values)} values for {len(self.units)} columns")
        if unknown := set(self.row_roles) - set(self.rows):
            raise ValueError(f"row_roles names unknown rows {sorted(unknown)}")
        if unknown := set(self.column_roles) - set(self.units):
            raise ValueError(f"column_roles names unknown columns {sorted(unknown)}")
        for row, columns in self.from_memory.items():
            if row not in self.rows or not set(columns) <= set(self.units):
                raise ValueError(f"from_memory: {row}: {columns} are no columns of a row of the table")
        return self

    def role_of(self, row: str, column: str) -> ReferenceRole:
        """What one number is used for."""
        return self.row_roles.get(row, self.column_roles.get(column, self.role))

    def row(self, name: str) -> dict[str, float | None]:
        """Values of a row by column."""
        return dict(zip(self.units, self.rows[name], strict=True))

    def column(self, name: str) -> dict[str, float | None]:
        """Values of a column by row."""
        place = list(self.units).index(name)
        return {row: values[place] for row, values in self.rows.items()}


class Erratum(StrictModel):
    """Where a paper contradicts itself, so that no model can meet all of its figures."""

    source: str
    """Key of the reference's `sources`."""
    where: str
    """Tables, figures or sections."""
    text: str
    """What is wrong."""


class Reference(StrictModel):
    """All figures of the papers."""

    sources: dict[str, str]
    """Papers in full, by key."""
    claims: list[Claim]
    """Headline claims."""
    tables: dict[str, ReferenceTable]
    """Tables and figures, by name."""
    errata: list[Erratum] = []
    """Contradictions within the papers: listed, not chased."""

    @model_validator(mode="after")
    def _sources_exist(self) -> "Reference":
        claims, tables, errata = self.claims, self.tables.values(), self.errata
        used = {claim.source for claim in claims} | {table.source for table in tables} | {one.source for one in errata}
        if unknown := used - set(self.sources):
            raise ValueError(f"unknown sources {sorted(unknown)}; known: {', '.join(self.sources)}")
        return self

    def claim(self, id: str) -> Claim:
        """The claim of that id; raises KeyError if there is none."""
        for claim in self.claims:
            if claim.id == id:
                return claim
        raise KeyError(id)

    def figure(self, table: str, row: str, column: str) -> Figure:
        """One number with unit, role and source; raises KeyError if there is none."""
        found = self.tables[table]
        return Figure(
            value=found.row(row)[column],
            unit=found.units[column],
            role=found.role_of(row, column),
            source=self.sources[found.source],
        )


@cache
def load_reference() -> Reference:
    """The figures of `schemas/presets/reference.yaml`."""
    return Reference.model_validate(load_preset("reference"))
