# make: set up .venv and run the default study · make test · make check · make bench · make clean
# make paper: the learned model beside the paper's, workflow/studies/paper.yaml
# make new STUDY=mine/first.yaml: start a study of your own · make docs-site: the documentation as a site
# make test-kill: the tiny study twice from scratch and once killed in each rule; artifacts must be the same
# make test-slurm: the profile for clusters on a SLURM of one node (Debian, as root)
# make pack: the results of STUDY as one file, for another machine or checkout; there make unpack FILE=...
# STUDY=path/to/study.yaml runs another study; PYTHON=/path/to/python3.12 chooses the interpreter.
# BENCH=simulator,peers chooses some of the benchmarks.
# make devices: also install what measuring this machine needs (hardware with runtime: xla, iree).
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

STUDY ?= config.yaml
BENCH ?=
FILE ?=
PYTHON ?= $(shell for v in 3.13 3.12 3.11 3; do command -v python$$v && python$$v -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && break; done 2>/dev/null | tail -n 1)
BIN := .venv/bin
READY := .venv/ready
PEERS := .venv-peers/ready
SITE := .venv-docs/ready

PAPER := workflow/studies/paper.yaml

# $(call environment,FOLDER,LOCK): a fresh environment with exactly what the lock file says.
INSTALL := install --quiet --disable-pip-version-check --no-deps --require-hashes
define environment
@rm -rf $(1)
@"$(PYTHON)" -m venv $(1)
@$(1)/bin/pip $(INSTALL) -r $(2)
endef

.PHONY: all paper pack unpack new check test test-tutorial test-kill test-slurm bench devices lock clean format docs docs-site compile

all: $(READY)
	@$(BIN)/python -m lib.check_study "$(STUDY)"
	@$(BIN)/python -m lib.compile_ahead
	@$(BIN)/snakemake --configfile "$(STUDY)"
	@$(BIN)/python -m lib.report.console "$(STUDY)"

paper:
	@$(MAKE) --no-print-directory all STUDY=$(PAPER)

# A small commented study, at a path that is not taken yet.
new: $(READY)
	@$(BIN)/python -m lib.new_study "$(STUDY)"

pack: $(READY)
	@$(BIN)/python -m lib.pack_results pack "$(STUDY)" "$(FILE)"

unpack: $(READY)
	@$(BIN)/python -m lib.pack_results unpack "$(FILE)"

$(READY): requirements.lock
	@if [ -z "$(PYTHON)" ]; then echo "Tilewright needs Python 3.11, 3.12 or 3.13; none was found. Install one, or name it: make PYTHON=/path/to/python3.12"; exit 1; fi
	@"$(PYTHON)" -c 'import sys; (3, 11) <= sys.version_info[:2] <= (3, 13) or sys.exit(f"Tilewright needs Python 3.11, 3.12 or 3.13, and $(PYTHON) is {sys.version.split()[0]}. Name another one: make PYTHON=/path/to/python3.12")'
	@echo "Setting up .venv (once; one to three minutes)"
	$(call environment,.venv,requirements.lock)
	@touch $(READY)

devices: $(READY)
	@$(BIN)/pip $(INSTALL) -r requirements-devices.lock

# Compiled code is kept by state of the sources: a second or two where nothing changed.
compile: $(READY)
	@$(BIN)/python -m lib.compile_ahead

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/mypy
	$(BIN)/python -m schemas.reference_docs --check
	$(BIN)/snakemake --lint

test: compile
	$(BIN)/pytest -n 2 --dist loadfile

# docs/tutorial.md in a fresh copy of the repository, command by command.
test-tutorial: compile
	$(BIN)/pytest -n 0 -m tutorial

# The tiny study twice from scratch, and once killed in each of its rules: ten minutes.
test-kill: compile
	@$(BIN)/python -m tests.workflow.killed_runs

# The profile for SLURM on a SLURM of one node that is started for it and stopped again; Debian, as root, minutes.
test-slurm: compile
	@command -v slurmctld >/dev/null && command -v munged >/dev/null || \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends slurm-wlm munge; }
	@$(BIN)/python -m tests.workflow.slurm.compare_with_local

# The peers' environment is made once; where that fails (no package index), the other benchmarks run all the same.
bench: compile
	@case ",$(BENCH)," in ,,|*,peers,*) $(MAKE) --no-print-directory $(PEERS) || true;; esac
	@$(BIN)/python -m lib.benchmark --only "$(BENCH)"

$(PEERS): requirements-peers.lock
	@echo "Setting up .venv-peers with SCALE-Sim and ZigZag (once; half a minute)"
	$(call environment,.venv-peers,requirements-peers.lock)
	@touch $(PEERS)

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/snakefmt Snakefile rules

docs: $(READY)
	$(BIN)/python -m schemas.reference_docs

# The documentation as a site, in site/; a broken link is an error.
docs-site: docs $(SITE)
	@.venv-docs/bin/zensical build --clean --strict
	@echo "Documentation: site/index.html"

$(SITE): requirements-docs.lock
	@echo "Setting up .venv-docs (once; ten seconds)"
	$(call environment,.venv-docs,requirements-docs.lock)
	@touch $(SITE)

# Needs `uv`; rewrites the lock files for all supported Pythons.
LOCK := uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
  --no-header --no-annotate --quiet
lock:
	$(LOCK) --extra test pyproject.toml -o requirements.lock
	sed -i '1i # Exact versions with hashes for Python 3.11 to 3.13; made by `make lock` from pyproject.toml.' requirements.lock
	$(LOCK) --extra devices --constraint requirements.lock pyproject.toml -o requirements-devices.lock
	sed -i '1i # Exact versions with hashes for Python 3.11 to 3.13; made by `make lock` from pyproject.toml, with its extra `devices`.' requirements-devices.lock
	$(LOCK) requirements-peers.in -o requirements-peers.lock
	sed -i '1i # Exact versions with hashes for Python 3.11 to 3.13; made by `make lock` from requirements-peers.in.' requirements-peers.lock
	$(LOCK) requirements-docs.in -o requirements-docs.lock
	sed -i '1i # Exact versions with hashes for Python 3.11 to 3.13; made by `make lock` from requirements-docs.in.' requirements-docs.lock

clean:
	rm -rf results site .snakemake .pytest_cache .mypy_cache .ruff_cache
