"""One island of a search for the datapath that serves some workloads best."""

from lib.job import Job
from lib.search.island import write_island

write_island(Job(snakemake))
