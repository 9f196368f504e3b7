rule report:
    input:
        programs=programs(STUDY.programs(STUDY.workloads)),
        shards=all_shards(),
        differences=all_differences(),
        models=all_models(),
        evaluations=all_evaluations(),
        autotunes=all_autotunes(),
        searches=all_searches(),
        search_summaries=all_search_summaries(),
        fidelity=all_fidelity(),
    output:
        page=report(
            f"{RESULTS}/report/index.html",
            caption="../workflow/report/page.rst",
            category="Report",
        ),
        summary=f"{RESULTS}/report/summary.json",
    log:
        f"{RESULTS}/log/report.log",
    benchmark:
        f"{RESULTS}/benchmark/report.tsv"
    conda:
        "../workflow/envs/tilewright.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        spec=report_spec,
        code=code("report"),
    message:
        "Writing the report"
    script:
        "../workflow/scripts/report.py"
