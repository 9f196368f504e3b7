"""The page on training: learning curves of every seed, and error against the size of the training data."""

from lib.report import charts, tables
from lib.report.data_size import METRICS, add_data_size
from lib.report.page import Page
from lib.report.report_data import ReportData


def training_page(data: ReportData) -> Page:
    """Learning curves and data-size curves."""
    page = Page("training", "Training")
    if not data.models:
        return page
    page.table(_sizes(data))
    add_data_size(page, data)
    for model, seeds in data.models.items():
        metric = tables.metric_name(METRICS[data.spec["models"][model]["task"]])
        histories = {f"seed {seed['model.json'].seed}": seed["history.parquet"] for seed in seeds}
        page.heading(model)
        page.chart(
            charts.training_curve(histories, metric, f"{model}: {metric} on the validation programs"),
            "Of the running average of the weights. A star marks the best look, whose weights are kept.",
        )
        page.chart(charts.loss_curve(histories, f"{model}: loss"))
    return page


def _sizes(data: ReportData) -> tables.Table:
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
    return tables.Table(
        "Models",
        ["model", "seeds", "training programs", "kernels", "rows", "step kept", "last step"],
        rows,
        "Kernels and rows of the first seed, without those that occur in test programs.",
    )
