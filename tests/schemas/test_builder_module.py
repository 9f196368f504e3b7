"""Builders are looked up without running their module."""

import pytest

from schemas.builder_module import builder_problem
from schemas.study_file import StudyError, load_study

SOURCE = """
import os
raise RuntimeError("run, though it was only to be read")
def small_network(): ...
async def later(): ...
class Network: ...
alias = renamed = small_network
if os.name:
    def chosen(): ...
try:
    from fast import quick
except ImportError:
    def quick(): ...
def _private(): ...
"""


@pytest.mark.parametrize("function", ["small_network", "Network", "alias", "renamed", "chosen", "quick", "_private"])
def test_what_a_module_defines_is_found(tmp_path, function):
    (tmp_path / "own.py").write_text(SOURCE)
    assert builder_problem(f"own:{function}", tmp_path) is None


def test_a_misspelt_function_is_answered_with_the_nearest(tmp_path):
    (tmp_path / "own.py").write_text(SOURCE)
    assert builder_problem("own:smal_network", tmp_path) == (
        "module 'own' has no function 'smal_network'; allowed: chosen, later, quick, small_network; did you mean"
        " 'small_network'?"
    )
    assert "did you mean 'efficientnet'?" in str(
        builder_problem("workflow.studies.fast_workloads:efficientnets", tmp_path)
    )
    assert builder_problem("workflow.studies.fast_workloads:efficientnet", tmp_path) is None


def test_modules(tmp_path):
    assert builder_problem("no.such:module", tmp_path) == "allowed: a module in the repository or beside the study file"
    (tmp_path / "star.py").write_text("from own import *\n")
    assert builder_problem("star:anything", tmp_path) is None
    (tmp_path / "broken.py").write_text("def f(:\n")
    assert "broken.py can't be read as Python" in str(builder_problem("broken:f", tmp_path))


def test_a_study_is_refused_when_it_is_read(tmp_path):
    study = tmp_path / "study.yaml"
    study.write_text('workloads:\n  own: {builder: "workflow.studies.builders:small_mpl"}\n')
    with pytest.raises(StudyError, match=r"study.yaml:2: workloads.own.builder: got .*did you mean 'small_mlp'\?"):
        load_study(study)
