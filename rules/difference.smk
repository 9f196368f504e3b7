rule difference:
    input:
        shards=difference_shards,
    output:
        files("difference/{dataset}/{hardware}", "kernels.parquet", "tiles.parquet"),
    log:
        f"{RESULTS}/log/difference/{{dataset}}/{{hardware}}.log",
    benchmark:
        f"{RESULTS}/benchmark/difference/{{dataset}}/{{hardware}}.tsv"
    wildcard_constraints:
        dataset=names(STUDY.datasets),
        hardware=names(STUDY.hardware),
    conda:
        "../workflow/envs/tilewright.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        spec=difference_spec,
        code=code("difference"),
    message:
        "Setting simulator and analytical model side by side on {wildcards.hardware} for {wildcards.dataset}"
    script:
        "../workflow/scripts/difference.py"
