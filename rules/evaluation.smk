rule evaluation:
    input:
        shards=evaluation_shards,
        models=evaluation_models,
    output:
        files(
            "evaluation/{evaluation}",
            "programs.parquet",
            "overall.parquet",
            "comparisons.parquet",
            "predictions.parquet",
            "classes.parquet",
            "groups.parquet",
            "validation.parquet",
            "worst.parquet",
        ),
    log:
        f"{RESULTS}/log/evaluation/{{evaluation}}.log",
    benchmark:
        f"{RESULTS}/benchmark/evaluation/{{evaluation}}.tsv"
    wildcard_constraints:
        evaluation=names(STUDY.evaluations),
    conda:
        "../workflow/envs/tilewright.yaml"
    threads: 1
    resources:
        mem_mb=4000,
    params:
        spec=evaluation_spec,
        code=code("evaluation"),
    message:
        "Scoring {wildcards.evaluation} on its test programs"
    script:
        "../workflow/scripts/evaluation.py"
