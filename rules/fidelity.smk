rule fidelity:
    input:
        programs=fidelity_programs,
    output:
        files("fidelity/{fidelity}", "figures.parquet"),
    log:
        f"{RESULTS}/log/fidelity/{{fidelity}}.log",
    benchmark:
        f"{RESULTS}/benchmark/fidelity/{{fidelity}}.tsv"
    wildcard_constraints:
        fidelity=names(STUDY.fidelity),
    conda:
        "../workflow/envs/tilewright.yaml"
    threads: 1
    resources:
        mem_mb=4000,
    params:
        spec=fidelity_spec,
        code=code("fidelity"),
    message:
        "Comparing {wildcards.fidelity} with outside figures"
    script:
        "../workflow/scripts/fidelity.py"
