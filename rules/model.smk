rule model:
    input:
        shards=model_shards,
    output:
        files("model/{model}/seed-{seed}", "model.json", "weights.npz", "history.parquet"),
    log:
        f"{RESULTS}/log/model/{{model}}/seed-{{seed}}.log",
    benchmark:
        f"{RESULTS}/benchmark/model/{{model}}/seed-{{seed}}.tsv"
    wildcard_constraints:
        model=names(networks()),
        seed=r"\d+",
    conda:
        "../workflow/envs/tilewright.yaml"
    threads: 1
    resources:
        mem_mb=6000,
    params:
        spec=model_spec,
        code=code("model"),
    message:
        "Training {wildcards.model}, seed {wildcards.seed}"
    script:
        "../workflow/scripts/model.py"
