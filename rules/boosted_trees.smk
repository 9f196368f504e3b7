rule boosted_trees:
    input:
        shards=model_shards,
    output:
        files("model/{model}/seed-{seed}", "model.json", "weights.npz", "history.parquet"),
    log:
        f"{RESULTS}/log/boosted_trees/{{model}}/seed-{{seed}}.log",
    benchmark:
        f"{RESULTS}/benchmark/boosted_trees/{{model}}/seed-{{seed}}.tsv"
    wildcard_constraints:
        model=names(boosted_trees()),
        seed=r"\d+",
    conda:
        "../workflow/envs/tilewright.yaml"
    threads: 1
    resources:
        mem_mb=4000,
    params:
        spec=model_spec,
        code=code("boosted_trees"),
    message:
        "Growing the trees of {wildcards.model}, seed {wildcards.seed}"
    script:
        "../workflow/scripts/boosted_trees.py"
