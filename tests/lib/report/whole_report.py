"""A report with all kinds of pages, charts and tables, from artifacts made by hand."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd

from lib.report.page import Page, render
from lib.report.pages import report_pages
from lib.report.report_data import ReportData
from tests.lib.report import test_difference_page, test_fidelity_page, test_measured_page
from tests.lib.report.autotune_examples import fusion_of, tiles_of
from tests.lib.report.report_examples import Stub, report_data, search

B7 = "efficientnet-b7"
FEATURES = SimpleNamespace(node=["n"] * 3, kernel=[], tile=["t"], raw_tile=[], node_tile=[], analytical=["a"])


def model(seed: int, scale: str, rows: int = 200) -> Stub:
    """A trained model whose second look was the best."""
    history = pd.DataFrame(
        {"step": [10, 20, 30], "train_loss": [1.0, 0.5, 0.2], "validation_loss": [1.0, 0.6, 0.5],
         "validation_metric": [3.0, 1.5, 2.0]}
    )  # fmt: skip
    description = SimpleNamespace(
        seed=seed, scale=scale, training_rows=rows, training_kernels=rows // 10, best_step=20, features=FEATURES,
    )  # fmt: skip
    return Stub({}, {"model.json": description, "history.parquet": history})


def model_spec(id: str, task: str, train: list[str]) -> dict:
    split = {"train": train, "validation": ["v"], "test": ["net"]}
    return {
        "id": id, "task": task, "dataset": "default", "hardware": ["tpu-v3"], "split": split, "families": {},
        "width": 64, "learning_rate": 0.002, "loss": "log-mse",
    }  # fmt: skip


def predictions() -> pd.DataFrame:
    """Of `ranker` six kernels of 10 us whose picks take 10 % more."""
    columns = {
        "task": "tile",
        "hardware": "tpu-v3",
        "workload": "net",
        "kernel_class": "dot",
        "root": "a",
        "executions": 1,
    }
    rows = [{**columns, "model": "ranker", "kernel": k, "runtime_s": 1e-5, "predicted_s": 1.1e-5} for k in range(6)]
    return pd.DataFrame([*rows, *({**row, "model": "analytical", "predicted_s": 2e-5} for row in rows)])


def whole_data() -> ReportData:
    """All kinds of artifacts."""
    plain = report_data(
        searches={
            B7: [search(1, [1.0, 4.0, np.nan], (B7,))],
            "b7-swarm": [search(island, [1.0, 3.0], (B7,), optimiser="swarm") for island in (1, 2)],
            "b7-random": [search(island, [1.0, 2.0], (B7,), optimiser="random") for island in (1, 2)],
            "b7-screened": [search(1, [1.0, 4.0], (B7,), surrogate="regression")],
        }
    )
    plain.evaluations["accuracy"]._contents["predictions.parquet"] = predictions()
    models = {
        "ranker": [model(1, "rank"), model(2, "rank")],
        "half": [model(1, "rank", 100)],
        "runtime": [model(1, "seconds")],
    }
    plain.spec["models"] |= {
        "ranker": model_spec("ranker", "tile", ["a", "b"]),
        "half": model_spec("half", "tile", ["a"]),
        "runtime": model_spec("runtime", "fusion", ["a", "b"]),
    }
    plain.spec["hardware"]["local-xla"] = {"id": "local-xla", "runtime": "xla", "datapath": None, "measure": {}}
    return ReportData(
        **{
            **vars(plain),
            "models": models,
            "autotunes": {"tiles": [tiles_of("net"), tiles_of("seen")], "fusion": [fusion_of("net", 1.01, 1.2)]},
            "differences": test_difference_page.data().differences,
            "fidelity": test_fidelity_page.data().fidelity,
            "measured": test_measured_page.data().measured,
        }
    )


@cache
def whole_pages() -> list[Page]:
    """Its pages."""
    return report_pages(whole_data())[0]


@cache
def whole_report() -> str:
    """Its file."""
    return render("Tilewright report", "a subtitle", whole_pages())
