rule dataset:
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
        f"{RESULTS}/log/dataset/{{dataset}}/{{task}}/{{hardware}}/{{workload}}.log",
    benchmark:
        f"{RESULTS}/benchmark/dataset/{{dataset}}/{{task}}/{{hardware}}/{{workload}}.tsv"
    wildcard_constraints:
        dataset=names(STUDY.datasets),
        task="tile|fusion",
        hardware=names(set(STUDY.hardware) - set(STUDY.measured_hardware())),
        workload=names([*STUDY.workloads, *STUDY.recorded_programs]),
    conda:
        "../workflow/envs/tilewright.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        spec=shard_spec,
        code=code("dataset"),
    message:
        "Labelling {wildcards.task} rows of {wildcards.workload} on {wildcards.hardware} for {wildcards.dataset}"
    script:
        "../workflow/scripts/dataset.py"
