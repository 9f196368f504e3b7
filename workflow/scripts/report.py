"""Writes the report of a study from all of its artifacts."""

from lib.job import Job
from lib.report.pages import build_report
from lib.report.read import read_report_data

job = Job(snakemake)
data = read_report_data(job.spec, job.input, job.folder.parent)
page, summary = build_report(data)
job.write_text("index.html", page)
job.write_text("summary.json", summary.model_dump_json(indent=1) + "\n")
