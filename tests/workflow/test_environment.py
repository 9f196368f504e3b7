"""The files that say what to install agree with one another."""

import re
import tomllib

import pytest
import yaml

from schemas.device_packages import PACKAGES
from tests.workflow.run_snakemake import ROOT


def locked_versions(file: str = "requirements.lock") -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9-]+)==([^ ;\\]+)", (ROOT / file).read_text(), re.MULTILINE))


@pytest.mark.parametrize(
    "file", ["requirements.lock", "requirements-peers.lock", "requirements-devices.lock", "requirements-docs.lock"]
)
def test_lock_files_have_hashes_and_no_addresses(file):
    text = (ROOT / file).read_text()
    assert "http" not in text
    assert "--index" not in text
    entries = re.split(r"\n(?=[a-z])", text.split("\n", 1)[1])
    assert all("--hash=sha256:" in entry for entry in entries)


def test_every_direct_dependency_is_locked():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["test"]
    names = {re.match(r"[a-z0-9-]+", name)[0] for name in wanted}
    assert names <= set(locked_versions())


def test_devices_are_locked_with_the_versions_of_everything_else():
    locked, with_devices = locked_versions(), locked_versions("requirements-devices.lock")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {re.match(r"[a-z0-9-]+", name)[0] for name in project["optional-dependencies"]["devices"]}
    assert wanted == {package for packages in PACKAGES.values() for package in packages}
    assert wanted <= set(with_devices)
    assert {name: version for name, version in with_devices.items() if name in locked}.items() <= locked.items()


def test_the_peers_are_locked_with_what_they_need():
    text = (ROOT / "requirements-peers.lock").read_text()
    for wanted in (ROOT / "requirements-peers.in").read_text().splitlines():
        requirement = wanted.partition("#")[0].strip()
        if "==" in requirement:
            assert f"\n{requirement} " in text
    assert "\nsix==" in text
    assert re.search(r"^numpy==2\.[0-3]\.", text, re.MULTILINE)


@pytest.mark.parametrize(("name", "lock"), [("tilewright", "requirements"), ("devices", "requirements-devices")])
def test_the_conda_environments_have_the_locked_versions(name, lock):
    environment = yaml.safe_load((ROOT / "workflow" / "envs" / f"{name}.yaml").read_text())
    pinned = dict(entry.split("==") for entry in environment["dependencies"][-1]["pip"])
    locked = locked_versions(f"{lock}.lock")
    assert pinned == {name: locked[name] for name in pinned}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = project["dependencies"] + project["optional-dependencies"].get(name, [])
    assert set(pinned) == {re.match(r"[a-z0-9-]+", package)[0] for package in wanted}
