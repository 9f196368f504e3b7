"""One screen of headline figures after a run: `python -m lib.report.console STUDY`."""

import sys
from pathlib import Path

from lib.command_line import run_command
from schemas.study_file import StudyError, load_study
from schemas.summary import HeadlineFigure, Summary

SHOWN_METRICS = ("ape_pct", "mape_pct", "kendall_tau")
SHOWN_OF_SEARCHES = ("perf_per_tdp_gain", "trials_per_s")
MODELS = ("learned", "analytical", "calibrated-analytical")


def one_screen(summary: Summary) -> str:
    """The figures that a person wants first, as text of at most some 30 lines."""
    table: dict[tuple[str, ...], dict[str, HeadlineFigure]] = {}
    others, shown = [], set()
    for figure in summary.figures:
        parts = figure.name.split(".")
        if parts[0] == "evaluation" and parts[-2] in SHOWN_METRICS and parts[-1] in MODELS:
            table.setdefault(tuple(parts[1:-1]), {})[parts[-1]] = figure
        elif parts[0] == "fast" or (parts[0] == "search" and parts[-1] in SHOWN_OF_SEARCHES):
            others.append(f"  {figure.name:44} {_text(figure)}")
            shown.add(figure.name)
    total_s = sum(figure.value or 0 for figure in summary.figures if figure.name.startswith("run."))
    lines = []
    if table:
        origins = ", ".join(sorted({figure.origin for row in table.values() for figure in row.values()}))
        lines.append(f"  {f'test programs, {origins} runtimes':44} " + " ".join(f"{model:>22}" for model in MODELS))
        for key, row in table.items():
            cells = [_text(row[model]) if model in row else "-" for model in MODELS]
            lines.append(f"  {' '.join(key):44} " + " ".join(f"{cell:>22}" for cell in cells))
    lines += _unmet(summary, shown | {figure.name for row in table.values() for figure in row.values()})
    lines += others
    lines.append(f"  {'all jobs of this study, wall time added up':44} {total_s:.0f} s")
    return "\n".join(lines)


def _unmet(summary: Summary, shown: set[str]) -> list[str]:
    """Figures that miss their goal and are not shown anyway."""
    missed = [figure for figure in summary.figures if figure.met is False and figure.name not in shown]
    return [f"  {figure.name.removeprefix('evaluation.'):44} {_text(figure)}" for figure in missed]


def _text(figure: HeadlineFigure) -> str:
    if figure.value is None:
        return "not known"
    goal = f" (goal {figure.goal}: {'met' if figure.met else 'not met'})" if figure.goal else ""
    return f"{figure.value:.3g} {figure.unit}".rstrip() + goal


def main(arguments: list[str]) -> int:
    """Print the summary of the study in `arguments[0]` and where its report is."""
    try:
        results = Path(load_study(Path(arguments[0])).results)
    except StudyError as error:
        print(error, file=sys.stderr)
        return 1
    print(one_screen(Summary.model_validate_json((results / "report" / "summary.json").read_bytes())))
    print(f"Report: {results / 'report' / 'index.html'}")
    return 0


if __name__ == "__main__":
    run_command(main)
