"use strict";

// Pages: one is shown, that of the address's hash; a heading within a page may be the hash too.

const pages = [...document.querySelectorAll("main > section")];
const links = [...document.querySelectorAll(".pages a")];
const unfold = document.querySelector(".unfold");
const narrow = matchMedia("(max-width: 800px)");
const reportTitle = document.title;

function show(page) {
  for (const one of pages) one.classList.toggle("shown", one === page);
  for (const link of links) {
    const here = link.hash === "#" + page.id;
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    if (here && link.closest("details")) link.closest("details").open = true;
    if (here) link.scrollIntoView({block: "nearest"});
  }
  document.title = `${page.querySelector("h2").textContent} · ${reportTitle}`;
  unfold.setAttribute("aria-expanded", "false");
  draw(page);
}

function follow() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const page = target?.closest("main > section") ?? pages[0];
  if (!page.classList.contains("shown")) show(page);
  return {page, heading: target && target !== page ? target : page.querySelector("h2")};
}

function go() {
  const {page, heading} = follow();
  heading.focus({preventScroll: true});
  if (heading === page.querySelector("h2")) scrollTo(0, 0);
  else heading.scrollIntoView();
}

// A browser that follows a link by itself takes the focus away again after it.
document.addEventListener("click", event => {
  const link = event.target.closest("a[href^='#']:not(.skip)");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  history.pushState(null, "", link.hash);
  go();
});
addEventListener("popstate", go);
document.querySelector(".skip").addEventListener("click", event => {
  event.preventDefault();
  document.querySelector("section.shown h2").focus();
});
unfold.addEventListener("click", () => {
  unfold.setAttribute("aria-expanded", String(unfold.getAttribute("aria-expanded") === "false"));
});

// Tables: sorted by the numbers behind the texts; a third click brings the first order back.

const NUMBER = /^[-+]?[\d,]*\.?\d+(e[-+]?\d+)?$/;
const MISSING = ["", "-"];

function value(cell) {
  const text = cell.dataset.value ?? cell.textContent.trim();
  if (MISSING.includes(text)) return null;
  return NUMBER.test(text) ? Number(text.replaceAll(",", "")) : text;
}

function compared(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", {numeric: true});
}

function sort(head) {
  const table = head.closest("table"), body = table.tBodies[0];
  const direction = {ascending: "descending", descending: "none"}[head.getAttribute("aria-sort")] ?? "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  table.firstOrder ??= [...body.rows];
  let rows = [...table.firstOrder];
  if (direction !== "none") {
    head.setAttribute("aria-sort", direction);
    const column = head.cellIndex, sign = direction === "ascending" ? 1 : -1;
    const keyed = rows.map(row => ({row, key: value(row.cells[column])}));
    const known = keyed.filter(({key}) => key !== null).sort((a, b) => sign * compared(a.key, b.key));
    rows = [...known, ...keyed.filter(({key}) => key === null)].map(({row}) => row);
  }
  body.append(...rows);
}

// CSV files: what tables and charts show, with all digits; an interval takes three columns.

function tableRows(table) {
  const body = [...table.tBodies[0].rows], heads = [...table.tHead.rows[0].cells];
  const withInterval = heads.map((_, column) => body.some(row => "low" in row.cells[column].dataset));
  const columns = heads.flatMap((head, column) => {
    const name = head.textContent.trim();
    return withInterval[column] ? [name, `${name}: low`, `${name}: high`] : [name];
  });
  const rows = body.map(row => [...row.cells].flatMap((cell, column) => {
    const {low = "", high = ""} = cell.dataset;
    return withInterval[column] ? [value(cell) ?? "", low, high] : [value(cell) ?? ""];
  }));
  return [columns, ...rows];
}

function axisTitle(figure, letter, trace) {
  const axis = letter + "axis" + (trace[letter + "axis"] ?? letter).slice(1);
  return figure.layout[axis]?.title?.text || letter;
}

function chartRows(figure) {
  const traces = figure.data.filter(trace => trace.type !== "heatmap" && trace.name !== "equal");
  const titles = [...new Set(["x", "y"].flatMap(letter => traces.map(trace => axisTitle(figure, letter, trace))))];
  const rows = traces.flatMap(trace => (trace.x ?? trace.y).map((_, place) => {
    const row = {[axisTitle(figure, "x", trace)]: trace.x?.[place], [axisTitle(figure, "y", trace)]: trace.y?.[place]};
    const label = Array.isArray(trace.text) ? trace.text[place] : "";
    return [trace.name ?? "", ...titles.map(title => row[title] ?? ""), label];
  }));
  return [["series", ...titles, "label"], ...rows];
}

function download(rows, name) {
  const quoted = cell => /[",\n]/.test(cell) ? `"${String(cell).replaceAll('"', '""')}"` : cell;
  const text = rows.map(row => row.map(quoted).join(",") + "\n").join("");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], {type: "text/csv"}));
  link.download = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "") + ".csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

async function downloadFrom(button) {
  const whole = button.closest(".table, .chart"), page = button.closest("section").id;
  const rows = whole.matches(".table")
    ? tableRows(whole.querySelector("table"))
    : chartRows((await charts).figures[whole.querySelector(".plot").dataset.figure]);
  download(rows, `${page} ${whole.dataset.title}`);
}

document.querySelector("main").addEventListener("click", event => {
  const head = event.target.closest("thead th"), button = event.target.closest(".csv");
  if (head) sort(head);
  if (button) downloadFrom(button);
});

// Charts: unpacked once, drawn when their page is first shown, in the colours of the page.

const MOST_ROWS = 300;
const SHORT_LABEL = 16;
// Pixels of a panel on a narrow screen, where charts of several are wider than it and scroll.
const COLUMN_WIDTH = 240;
// Height of a letter of a name that stands upright, more than its width: the plot is lower than its chart.
const LETTER = 15;
// Letters of a line below a panel there: of several, beside names, and of one alone.
const LINE = {several: 28, besideNames: 22, alone: 32};

async function unpacked(id) {
  const packed = atob(document.getElementById(id).textContent);
  const bytes = Uint8Array.from(packed, letter => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

async function loadCharts() {
  const [figures, plotly] = await Promise.all([unpacked("figures"), unpacked("plotly")]);
  const script = document.createElement("script");
  script.textContent = plotly;
  document.head.append(script);
  return {figures: JSON.parse(figures)};
}

const charts = loadCharts();
charts.catch(() => {
  for (const plot of document.querySelectorAll(".plot")) {
    plot.textContent = "Charts need a browser of 2023 or later. The tables beside them have their main figures.";
  }
});

function template() {
  const style = getComputedStyle(document.documentElement);
  const [ink, soft, paper, line, accent] = ["ink", "soft", "paper", "line", "accent"]
    .map(name => style.getPropertyValue("--" + name).trim());
  const clear = "rgba(0,0,0,0)";
  const axis = {gridcolor: line, zerolinecolor: line, linecolor: line, automargin: true, exponentformat: "power",
     title: {standoff: 10}};
  return {layout: {
    paper_bgcolor: clear, plot_bgcolor: clear, font: {color: ink, family: "system-ui, sans-serif", size: 13},
    xaxis: axis, yaxis: axis, modebar: {bgcolor: clear, color: soft, activecolor: accent},
    hoverlabel: {bgcolor: paper, bordercolor: line, font: {color: ink}},
  }};
}

// Letters of the longest name below the axis, where names stand upright.
function longestBelow(figure) {
  const below = figure.data.filter(trace => trace.orientation !== "h").flatMap(trace => trace.x ?? []);
  return Math.max(0, ...below.map(name => typeof name === "string" ? name.length : 0));
}

function wrapped(text, letters) {
  const lines = [""];
  for (const word of text.split(" ")) {
    if ((lines.at(-1) + word).length > letters) lines.push("");
    lines.push(`${lines.pop()} ${word}`.trim());
  }
  return lines.join("<br>");
}

function layoutOf(figure) {
  const layout = {...figure.layout, template: template()};
  if (!narrow.matches) return layout;
  layout.margin = {l: 10, r: 10, t: 30, b: 10};
  layout.legend = {orientation: "h", x: 0, y: -0.2 - LETTER * longestBelow(figure) / layout.height, yanchor: "top"};
  const axes = Object.keys(layout).filter(name => /^xaxis\d*$/.test(name));
  const columns = new Set(axes.map(name => layout[name].domain?.[0])).size;
  if (columns > 1) layout.width = columns * COLUMN_WIDTH;
  const names = figure.data.some(trace => trace.orientation === "h") ? [...new Set(figure.data.flatMap(t => t.y ?? []))] : [];
  const hasNames = names.some(name => typeof name === "string");
  const line = columns > 1 ? LINE.several : hasNames ? LINE.besideNames : LINE.alone;
  for (const name of axes.filter(name => layout[name].title?.text)) {
    layout[name] = {...layout[name], title: {...layout[name].title, text: wrapped(layout[name].title.text, line)}};
  }
  if (hasNames) {
    const shortened = names.map(name => name.length > SHORT_LABEL ? name.slice(0, SHORT_LABEL - 1) + "…" : name);
    layout.yaxis = {...layout.yaxis, tickvals: names, ticktext: shortened};
  }
  return layout;
}

async function draw(page) {
  const {figures} = await charts;
  for (const plot of page.querySelectorAll(".plot:empty")) {
    const figure = figures[plot.dataset.figure];
    Plotly.newPlot(plot, figure.data, layoutOf(figure), {responsive: true, displaylogo: false});
  }
}

async function redraw() {
  const {figures} = await charts;
  for (const plot of document.querySelectorAll(".js-plotly-plot")) {
    const figure = figures[plot.dataset.figure];
    Plotly.react(plot, figure.data, layoutOf(figure), {responsive: true, displaylogo: false});
  }
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
narrow.addEventListener("change", redraw);

async function fill(details) {
  const place = details.querySelector(".scroll");
  if (place.hasChildNodes()) return;
  const rows = chartRows((await charts).figures[details.closest(".chart").querySelector(".plot").dataset.figure]);
  const table = document.createElement("table"), head = table.createTHead().insertRow(), body = table.createTBody();
  for (const name of rows[0]) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = name;
    head.append(cell);
  }
  for (const row of rows.slice(1, MOST_ROWS + 1)) {
    const line = body.insertRow();
    for (const cell of row) line.insertCell().textContent = cell;
  }
  table.setAttribute("aria-label", details.closest(".chart").dataset.title);
  place.append(table);
  if (rows.length > MOST_ROWS + 1) place.append(`The first ${MOST_ROWS} of ${rows.length - 1} rows; the CSV file has all.`);
}

for (const details of document.querySelectorAll(".data")) details.addEventListener("toggle", () => fill(details));

follow();
