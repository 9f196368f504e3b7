# From a study (one YAML file) to a report. The study is `config.yaml` beside this file, or the one that
# `--configfile` names; `rules/` holds one rule a stage, and each rule's script has its name.


report: "workflow/report/study.rst"


include: "rules/common.smk"
include: "rules/unrecorded.smk"
include: "rules/program.smk"
include: "rules/dataset.smk"
include: "rules/measured_dataset.smk"
include: "rules/difference.smk"
include: "rules/model.smk"
include: "rules/boosted_trees.smk"
include: "rules/evaluation.smk"
include: "rules/autotune.smk"
include: "rules/measured_autotune.smk"
include: "rules/search.smk"
include: "rules/fidelity.smk"
include: "rules/report.smk"


rule all:
    default_target: True
    input:
        f"{RESULTS}/report/index.html",


rule datasets:
    input:
        all_shards(),


rule models:
    input:
        all_models(),


rule evaluations:
    input:
        all_evaluations(),


rule autotunes:
    input:
        all_autotunes(),


rule searches:
    input:
        all_search_summaries(),


rule outside_figures:
    input:
        all_fidelity(),


onstart:
    if not workflow.touch:
        refuse_without_devices()
        refuse_unwritable_results()


onsuccess:
    if Path(RESULTS, "report", "index.html").exists():
        print(f"Report: {RESULTS}/report/index.html")
