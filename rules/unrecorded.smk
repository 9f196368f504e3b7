# Snakemake's records in `.snakemake` say what each file was made from. A file that has no record, or is newer than its
# record, counts as up to date whatever the study and the code say by now: the run was killed while a job still wrote,
# results were copied without their records, or somebody deleted `.snakemake` to be rid of a lock. An artifact's
# manifest tells the same as the record. Where it isn't what the rule would write now, the artifact counts as incomplete,
# so that it is made anew (profiles: rerun-incomplete).

from snakemake.logging import logger
from snakemake.persistence import PersistenceBase

from lib.provenance import is_made_from


def is_foreign(persistence, job):
    """Whether the job's artifact is there by no run that Snakemake knows of, and isn't what its rule makes now."""
    if not job.output or not Path(job.output[0]).exists():  # asked first: hundreds of jobs' parameters take a while
        return False
    if not {"spec", "code"} <= set(job.params.keys()):
        return False
    file = Path(job.output[0])
    record = persistence.metadata(job.output[0])
    if file.name != "manifest.json":
        return record is None
    if record is not None and record.endtime == file.stat().st_mtime:
        return False
    return not is_made_from(file, job.params.spec, job.params.code)


def count_foreign_as_incomplete():
    """Snakemake has no public way for this, so its own check is wrapped; once, however often the rules are included."""
    marked_incomplete = PersistenceBase.incomplete
    if getattr(marked_incomplete, "counts_foreign", False):
        return

    async def incomplete(persistence, job):
        marked = await marked_incomplete(persistence, job)
        if marked or not is_foreign(persistence, job):
            return marked
        logger.warning(f"Made anew, as no run made it from this study and code: {Path(job.output[0]).parent}")
        return [job.output[0]]

    incomplete.counts_foreign = True
    PersistenceBase.incomplete = incomplete


count_foreign_as_incomplete()
