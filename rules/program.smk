rule program:
    input:
        unpack(program_input),
    output:
        files("program/{program}", "program.npz"),
    log:
        f"{RESULTS}/log/program/{{program}}.log",
    benchmark:
        f"{RESULTS}/benchmark/program/{{program}}.tsv"
    wildcard_constraints:
        program=names(STUDY.programs(STUDY.workloads)),
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
        "Tracing {wildcards.program}"
    script:
        "../workflow/scripts/program.py"
