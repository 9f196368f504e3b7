"""What a chart's file holds, and a chart in words."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from lib.report.chart_data import CELLS, one_a_cell, plain_figure
from lib.report.chart_description import described
from lib.report.charts import new_figure, ratio_by_class


def test_numbers_are_plain_and_short_and_nothing_is_lost():
    figure = new_figure("a title", "x, s", "y, s")
    figure.add_scatter(x=np.array([1, 2, 3]), y=np.array([1 / 3, np.nan, 2e-9 / 3]), text=pd.Series(["a", "b", "c"]))
    plain = plain_figure(figure)
    assert plain["data"] == [
        {"type": "scatter", "x": [1, 2, 3], "y": [0.333333, None, 6.66667e-10], "text": ["a", "b", "c"]}
    ]
    assert not {"template", "title", "font"} & set(plain["layout"])


def test_arrays_of_several_dimensions_keep_their_shape():
    plain = plain_figure(go.Figure().add_heatmap(z=np.arange(6.0).reshape(2, 3)))
    assert plain["data"][0]["z"] == [[0, 1, 2], [3, 4, 5]]


def test_points_that_cover_each_other_are_drawn_once_and_outliers_stay():
    rng = np.random.default_rng(1)
    crowd = pd.DataFrame({"x": np.exp(rng.normal(0, 0.01, 5000)), "y": np.exp(rng.normal(0, 0.01, 5000)), "by": "a"})
    outliers = pd.DataFrame({"x": [1e3, 1e-3], "y": [1e3, 1e-3], "by": "a"})
    other = crowd.head(1).assign(by="b")
    shown = one_a_cell(pd.concat([crowd, outliers, other], ignore_index=True), "x", "y", "by")
    assert len(shown) < 20
    assert {5000, 5001, 5002} <= set(shown.index)
    spread = pd.DataFrame({"x": np.geomspace(1, 1e6, CELLS), "y": 1.0, "by": "a"})
    assert len(one_a_cell(spread, "x", "y", "by")) == CELLS


def test_words_of_bars_and_lines():
    figure = new_figure("a title", "program", "APE, %")
    figure.add_bar(x=["vgg16", "resnet"], y=[1.5, 0.25], name="learned")
    words = "Bar chart. x: program; y: APE, %. learned: 2 values, from 0.25 (resnet) to 1.5 (vgg16)."
    assert described(plain_figure(figure)) == words
    line = new_figure("a title", "trials", "gain, x").add_scatter(x=[1, 1000], y=[1.0, 4.0], mode="lines", name="tpe")
    assert described(plain_figure(line)) == "Line chart. x: trials; y: gain, x. tpe: from 1 at 1 to 4 at 1,000."


def test_a_box_has_its_quartiles_and_the_points_beyond_its_whiskers():
    """Of 0 to 100 the quartiles are 25, 50 and 75; five values lie below the 5th percentile, five above the 95th."""
    table = pd.DataFrame({"workload": "net", "root": "r", "kernel_class": "dot", "ratio": np.arange(101.0)})
    box, points = ratio_by_class(table, "a title").data
    assert (box.q1[0], box.median[0], box.q3[0]) == (25, 50, 75)
    assert (box.lowerfence[0], box.upperfence[0]) == (5, 95)
    assert sorted(points.x) == [*range(5), *range(96, 101)]
