"""The report in headless Chromium, where there is one: charts are drawn, tables sort, files download, links lead on."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.lib.report.whole_report import whole_report

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
LIMIT_S = 600
"""A browser takes some seconds; a busy machine much longer."""
STEPS = """
<script>
const found = {errors: []};
const files = {};
addEventListener("error", event => found.errors.push(event.message));
URL.createObjectURL = blob => { blob.text().then(text => { files[pending] = text; }); return "#model-ranker"; };
let pending = "";
const later = () => new Promise(done => setTimeout(done, 50));
const sections = [...document.querySelectorAll("main > section")];
const shown = () => sections.filter(section => getComputedStyle(section).display !== "none");
const boxed = (page, title) => document.querySelector(`#${page} [data-title="${title}"]`);
async function press(element) {
  element.focus();
  found.focused = document.activeElement === element;
  element.click();
  await later();
}
async function file(page, title) { pending = title; boxed(page, title).querySelector(".csv").click(); await later(); }
addEventListener("load", async () => {
  found.start = shown().map(page => page.id);
  await press(document.querySelector("a[href='#model-ranker']"));
  await later();
  found.model = [shown().map(page => page.id), document.activeElement.id, document.title];
  found.current = [...document.querySelectorAll("[aria-current]")].map(link => link.hash);
  const {figures} = await charts;
  await later();
  found.drawn = document.querySelectorAll("#model-ranker .js-plotly-plot svg").length > 0;
  const seeds = boxed("model-ranker", "Files of the model").querySelector("table"), head = seeds.tHead.rows[0].cells[0];
  const first = () => seeds.tBodies[0].rows[0].cells[0].textContent;
  found.sorted = [];
  for (let time = 0; time < 4; time++) {
    found.sorted.push([head.getAttribute("aria-sort"), first()]);
    await press(head.querySelector("button"));
  }
  await file("model-ranker", "On the test programs");
  await file("model-ranker", "Loss");
  const details = boxed("model-ranker", "Loss").querySelector("details");
  details.open = true;
  await later();
  await later();
  found.rows = details.querySelectorAll("tbody tr").length;
  document.querySelector(".skip").click();
  found.skipped = document.activeElement.id;
  found.files = files;
  const out = document.createElement("pre");
  out.id = "found";
  out.textContent = JSON.stringify(found);
  document.body.append(out);
});
</script>
</body>"""


ON_A_PHONE = """
<script>
addEventListener("load", async () => {
  const found = {};
  for (const page of document.querySelectorAll("main > section")) {
    location.hash = "#" + page.id;
    await charts;
    await new Promise(done => setTimeout(done, 100));
    const shown = document.documentElement;
    const cut = [...page.querySelectorAll(".xtitle, .x2title, .x3title")].filter(title => {
      const inner = title.getBoundingClientRect(), outer = title.closest("svg").getBoundingClientRect();
      return inner.left < outer.left - 1 || inner.right > outer.right + 1;
    });
    found[page.id] = [
      shown.clientWidth, shown.scrollWidth, cut.map(title => title.textContent),
      page.querySelectorAll(".js-plotly-plot").length,
    ];
  }
  parent.postMessage(JSON.stringify(found), "*");
});
</script>
</body>"""
PHONE = """
<iframe src="report.html" width="390" height="800" style="border: 0"></iframe>
<script>
addEventListener("message", event => {
  const out = document.createElement("pre");
  out.id = "found";
  out.textContent = event.data;
  document.body.append(out);
});
</script>"""
"""A window is never narrower than 500 pixels; a frame in it is."""


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> dict:
    """What the steps found."""
    folder = tmp_path_factory.mktemp("browser")
    page = folder / "report.html"
    page.write_text(whole_report().replace("</body>", STEPS))
    return _found_on(page)


def _found_on(page: Path) -> dict:
    """What a page has written into its element `found` once its scripts are through."""
    if BROWSER is None:
        pytest.skip("needs Chromium")
    command = [
        BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", f"--user-data-dir={page.parent / 'profile'}",
        "--virtual-time-budget=20000", "--dump-dom", page.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=True)
    match = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    assert match, done.stderr[-2000:]
    return json.loads(html.unescape(match[1]))


def test_one_page_shows_and_links_lead_to_others(found):
    assert found["errors"] == []
    assert found["start"] == ["overview"]
    assert found["model"] == [["model-ranker"], "model-ranker-title", "Model: ranker · Tilewright report"]
    assert found["current"] == ["#model-ranker"]
    assert found["skipped"] == "model-ranker-title"


def test_charts_are_drawn_and_their_data_can_be_read(found):
    assert found["drawn"]
    assert found["rows"] == 12  # two seeds, two losses, three looks


def test_tables_sort_by_a_button_up_down_and_back(found):
    files = [f"results/model/ranker/seed-1/{name}" for name in ("manifest.json",)]
    assert found["focused"]
    assert found["sorted"] == [
        [None, files[0]], ["ascending", files[0]], ["descending", "results/model/ranker/seed-2/manifest.json"],
        [None, files[0]],
    ]  # fmt: skip


def test_files_have_all_digits_and_the_ends_of_intervals(found):
    table = found["files"]["On the test programs"].splitlines()
    assert table[0].startswith(
        'evaluation,hardware,"tile-size APE, %","tile-size APE, %: low","tile-size APE, %: high"'
    )
    assert table[1].startswith("accuracy,tpu-v3,0.8,0.5,1.2,0.9,0.85,0.95,3")
    chart = found["files"]["Loss"].splitlines()
    assert chart[0] == "series,training step,loss,label"
    assert chart[1] == '"seed 1, training",10,1,'


def test_no_page_is_wider_than_a_phone(tmp_path):
    (tmp_path / "report.html").write_text(whole_report().replace("</body>", ON_A_PHONE))
    (tmp_path / "phone.html").write_text(PHONE)
    found = _found_on(tmp_path / "phone.html")
    assert {"overview", "model-ranker"} <= set(found)
    assert sum(charts for *_, charts in found.values()) > 5
    for page, (width, content, cut, _) in found.items():
        assert width <= 390, page
        assert content <= width, page
        assert cut == [], page
