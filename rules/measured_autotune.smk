rule measured_autotune:
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
        f"{RESULTS}/log/measured_autotune/{{autotune}}/{{workload}}.log",
    benchmark:
        f"{RESULTS}/benchmark/measured_autotune/{{autotune}}/{{workload}}.tsv"
    wildcard_constraints:
        autotune=names(measured_autotunes()),
        workload=names(STUDY.workloads),
    conda:
        "../workflow/envs/devices.yaml"
    threads: every_core
    resources:
        mem_mb=4000,
        measuring=1,
        measurements=STUDY.measurements,  # no reason to run again
    params:
        spec=autotune_spec,
        code=code("measured_autotune"),
    message:
        "Autotuning {wildcards.workload} on the device of {wildcards.autotune}"
    script:
        "../workflow/scripts/measured_autotune.py"
