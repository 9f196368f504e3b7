"""The packages that measuring needs beside the others; everything else works without them."""

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from schemas.measure import Runtime
from schemas.study import Study

PACKAGES: dict[Runtime, tuple[str, ...]] = {
    "xla": ("jax", "jaxlib"),
    "iree": ("iree-base-compiler", "iree-base-runtime"),
}
"""What each runtime needs; the extra `devices` of pyproject.toml."""
INSTALL = (
    "`make devices` installs what is missing (pip install --no-deps --require-hashes -r requirements-devices.lock)"
)


def missing_packages(study: Study) -> list[str]:
    """A line for each hardware variant that the study measures and for which packages are missing, and what to do."""
    lines = []
    for id in sorted(set(_measured(study))):
        runtime = study.hardware[id].runtime
        absent = [package for package in PACKAGES[runtime] if not _is_installed(package)]
        if absent:
            text = f"{runtime} needs {' and '.join(absent)}, which {'is' if len(absent) == 1 else 'are'} not installed"
            lines.append(f"hardware.{id}.runtime: {text}; {INSTALL}")
    return lines


def _measured(study: Study) -> Iterator[str]:
    """Measured variants that something is measured on."""
    for dataset in study.datasets:
        if study.origin(dataset) == "measured":
            yield from study.hardware_ids(dataset)
    for entry in study.autotune.values():
        if entry.hardware in study.measured_hardware():
            yield entry.hardware


def _is_installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True
