"""The `fidelity:` section: the simulator's figures beside those of papers, of peers' tools and of real chips."""

from typing import Annotated, Literal

from pydantic import AfterValidator

from schemas.presets import load_preset
from schemas.problem import Problem, allowed_names, got, inconsistent
from schemas.study_base import EachOnce, IdList, StudyModel

FidelitySource = Literal["scalesim", "zigzag", "accelforge", "tpu-tiles", "fast"]
"""Where figures to compare with come from. `scalesim`: SCALE-Sim 3.0.0; `zigzag`: ZigZag 3.9.1;
`accelforge`: AccelForge 1.0.467; `tpu-tiles`: measured tiles of TpuGraphs; `fast`: Zhang et al., ASPLOS 2022."""

_TABLES = load_preset("reference")["tables"]
FAST_WORKLOADS: tuple[str, ...] = tuple(
    dict.fromkeys(
        [
            *(name for name in _TABLES["fast-speedup"]["rows"] if not name.startswith("mean-")),
            *_TABLES["fast-attention-shares"]["rows"],
        ]
    )
)
"""The paper's workloads, by the names that the reference tables have."""


def _papers_names(written: list[str]) -> list[str]:
    problems = [
        Problem((place,), f"{got(id)} is no workload of the paper; {allowed_names(id, FAST_WORKLOADS)}")
        for place, id in enumerate(written)
        if id not in FAST_WORKLOADS
    ]
    if problems:
        raise inconsistent(problems)
    return written


class Fidelity(StudyModel):
    """Figures to show beside ours on the page 'How true is the simulator'."""

    sources: EachOnce[list[FidelitySource]]
    """Where they come from: `scalesim` (cycles of its systolic arrays), `zigzag` and `accelforge` (cycles of their
    mappings), `tpu-tiles` (order and choice of tiles on a real chip), `fast` (tables and figures of the FAST paper;
    needs `workloads`)."""
    workloads: Annotated[IdList, AfterValidator(_papers_names)] | None = None
    """Workloads of the study that are FAST's and have the paper's names: `efficientnet-b0` to `-b7`, `resnet50v2`,
    `ocr-rpn`, `ocr-recognizer`, `bert-128` and other lengths. Figures of workloads that are not listed are left out."""

    def inconsistencies(self) -> list[Problem]:
        """Workloads exactly where a source needs them."""
        if "fast" in self.sources and self.workloads is None:
            return [Problem(("workloads",), "missing; source fast needs ids of the study's FAST workloads")]
        if "fast" not in self.sources and self.workloads is not None:
            return [Problem(("workloads",), "not allowed without source fast: no other source runs programs")]
        return []
