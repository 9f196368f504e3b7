rule program:
    input:
        unpack(program_input),
    output:
        files("program/{workload}", "program.npz"),
    log:
        f"{RESULTS}/log/program/{{workload}}.log",
    benchmark:
        f"{RESULTS}/benchmark/program/{{workload}}.tsv"
    wildcard_constraints:
        workload=names(STUDY.workloads),
    conda:
        "../workflow/envs/tilewright.yaml"
    threads: 1
    resources:
        mem_mb=4000,
    params:
        spec=program_spec,
        code=program_code,
        source_folder=source_folder,
    message:
        "Tracing {wildcards.workload}"
    script:
        "../workflow/scripts/program.py"
