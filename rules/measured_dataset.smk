rule measured_dataset:
    input:
        unpack(shard_input),
    output:
        files(
            "dataset/{dataset}/{task}/{hardware}/{workload}",
            "kernels.npz",
            "kernels.parquet",
            "rows.parquet",
            "configurations.parquet",
        ),
    log:
        f"{RESULTS}/log/measured_dataset/{{dataset}}/{{task}}/{{hardware}}/{{workload}}.log",
    benchmark:
        f"{RESULTS}/benchmark/measured_dataset/{{dataset}}/{{task}}/{{hardware}}/{{workload}}.tsv"
    wildcard_constraints:
        dataset=names(STUDY.datasets),
        task="tile|fusion",
        hardware=names(STUDY.measured_hardware()),
        workload=names(STUDY.workloads),
    conda:
        "../workflow/envs/devices.yaml"
    threads: every_core
    resources:
        mem_mb=4000,
        measuring=1,
        measurements=STUDY.measurements,  # no reason to run again
    params:
        spec=shard_spec,
        code=code("measured_dataset"),
    message:
        "Measuring {wildcards.task} rows of {wildcards.workload} on {wildcards.hardware} for {wildcards.dataset}"
    script:
        "../workflow/scripts/measured_dataset.py"
