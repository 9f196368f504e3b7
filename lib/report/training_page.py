"""The page on training: what each model was trained on, and error against the size of the training data."""

from lib.report.data_size import add_data_size
from lib.report.page import Page
from lib.report.report_data import ReportData
from lib.report.tables import Table


def training_page(data: ReportData) -> Page:
    """All models together; their learning curves are on the pages of the models."""
    page = Page("training", "Training")
    if not data.models:
        return page
    page.table(_sizes(data))
    page.links("Learning curves, test figures and use of each model:", {f"model-{id}": id for id in data.models})
    add_data_size(page, data)
    return page


def _sizes(data: ReportData) -> Table:
    """What each model was trained on, and how far."""
    rows = []
    for model, seeds in data.models.items():
        kept = [seed["model.json"] for seed in seeds]
        last = [int(seed["history.parquet"]["step"].iloc[-1]) for seed in seeds]
        programs = len(data.spec["models"][model]["split"]["train"])
        rows.append(
            [
                model,
                ", ".join(str(one.seed) for one in kept),
                str(programs),
                f"{kept[0].training_kernels:,}",
                f"{kept[0].training_rows:,}",
                ", ".join(str(one.best_step) for one in kept),
                ", ".join(str(step) for step in last),
            ]
        )
    return Table(
        "Models",
        ["model", "seeds", "training programs", "kernels", "rows", "step kept", "last step"],
        rows,
        "Kernels and rows of the first seed, without those that occur in test programs.",
    )
