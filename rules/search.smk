OF_THE_DESIGN = ["kernels.parquet", "explained.parquet", "schedules.txt", "best.yaml", "designs.json"]
SHOWN = {"best.yaml": "best", "schedules.txt": "schedules"}  # in Snakemake's own report, each with its caption


rule search:
    input:
        programs=search_programs,
    output:
        files(
            "search/{search}/island-{island}",
            "trials.parquet",
            *OF_THE_DESIGN,
        ),
    log:
        f"{RESULTS}/log/search/{{search}}/island-{{island}}.log",
    benchmark:
        f"{RESULTS}/benchmark/search/{{search}}/island-{{island}}.tsv"
    wildcard_constraints:
        search=names(set(STUDY.searches) - set(learned_searches())),
        island=r"\d+",
    conda:
        "../workflow/envs/tilewright.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        spec=search_spec,
        code=code("search"),
    message:
        "Searching {wildcards.search}, island {wildcards.island}"
    script:
        "../workflow/scripts/search.py"


rule learned_search:
    input:
        programs=search_programs,
        model=search_model,
    output:
        files(
            "search/{search}/island-{island}",
            "trials.parquet",
            *OF_THE_DESIGN,
        ),
    log:
        f"{RESULTS}/log/learned_search/{{search}}/island-{{island}}.log",
    benchmark:
        f"{RESULTS}/benchmark/learned_search/{{search}}/island-{{island}}.tsv"
    wildcard_constraints:
        search=names(learned_searches()),
        island=r"\d+",
    conda:
        "../workflow/envs/tilewright.yaml"
    threads: 1
    resources:
        mem_mb=4000,
    params:
        spec=search_spec,
        code=code("learned_search"),
    message:
        "Searching {wildcards.search} with a learned model, island {wildcards.island}"
    script:
        "../workflow/scripts/learned_search.py"


rule search_summary:
    input:
        islands=search_islands,
    output:
        files(
            "search_summary/{search}",
            "trials.parquet",
            "progress.parquet",
            *[name for name in OF_THE_DESIGN if name not in SHOWN],
        ),
        *[
            report(
                f"{RESULTS}/search_summary/{{search}}/{name}",
                caption=f"../workflow/report/{caption}.rst",
                category="Searches",
                subcategory="{search}",
            )
            for name, caption in SHOWN.items()
        ],
    log:
        f"{RESULTS}/log/search_summary/{{search}}.log",
    benchmark:
        f"{RESULTS}/benchmark/search_summary/{{search}}.tsv"
    wildcard_constraints:
        search=names(STUDY.searches),
    conda:
        "../workflow/envs/tilewright.yaml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        spec=search_summary_spec,
        code=code("search_summary"),
    message:
        "Merging the islands of {wildcards.search}"
    script:
        "../workflow/scripts/search_summary.py"
