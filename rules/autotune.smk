rule autotune:
    input:
        program=autotune_program,
        models=autotune_models,
    output:
        files(
            "autotune/{autotune}/{workload}",
            "results.parquet",
            "trace.parquet",
            "chosen.parquet",
            "instructions.parquet",
            "skipped.parquet",
            "summary.json",
            "configuration.json",
            "listing.txt",
            "difference.txt",
        ),
    log:
        f"{RESULTS}/log/autotune/{{autotune}}/{{workload}}.log",
    benchmark:
        f"{RESULTS}/benchmark/autotune/{{autotune}}/{{workload}}.tsv"
    wildcard_constraints:
        autotune=names(set(STUDY.autotune) - set(measured_autotunes())),
        workload=names(STUDY.workloads),
    conda:
        "../workflow/envs/tilewright.yaml"
    threads: 1
    resources:
        mem_mb=4000,
    params:
        spec=autotune_spec,
        code=code("autotune"),
    message:
        "Autotuning {wildcards.workload} for {wildcards.autotune}"
    script:
        "../workflow/scripts/autotune.py"
