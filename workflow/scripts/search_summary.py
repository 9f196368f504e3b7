"""The islands of a search together."""

from lib.job import Job
from lib.search.summary import merged_search
from schemas.search_artifact import SearchArtifact, SearchSummaryArtifact

job = Job(snakemake)
SearchSummaryArtifact.write(
    job.folder,
    id=job.spec["id"],
    origin="simulated",
    code=job.code,
    spec=job.spec,
    contents=merged_search([SearchArtifact.read(path) for path in job.input.islands]),
)
