# make: set up .venv and run the default study · make test · make check · make clean
# STUDY=path/to/study.yaml runs another study; PYTHON=/path/to/python3.12 chooses the interpreter.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

STUDY ?= config.yaml
PYTHON ?= $(shell for v in 3.13 3.12 3.11 3; do command -v python$$v && python$$v -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && break; done 2>/dev/null | tail -n 1)
BIN := .venv/bin
READY := .venv/ready

.PHONY: all check test lock clean format docs compile

all: $(READY)
	@$(BIN)/python -m lib.check_study "$(STUDY)"
	@$(BIN)/python -m lib.compile_ahead
	@$(BIN)/snakemake --configfile "$(STUDY)"
	@$(BIN)/python -m lib.report.console "$(STUDY)"

$(READY): requirements.lock
	@if [ -z "$(PYTHON)" ]; then echo "Tilewright needs Python 3.11, 3.12 or 3.13; none was found. Install one, or name it: make PYTHON=/path/to/python3.12"; exit 1; fi
	@"$(PYTHON)" -c 'import sys; (3, 11) <= sys.version_info[:2] <= (3, 13) or sys.exit(f"Tilewright needs Python 3.11, 3.12 or 3.13, and $(PYTHON) is {sys.version.split()[0]}. Name another one: make PYTHON=/path/to/python3.12")'
	@echo "Setting up .venv (once; one to three minutes)"
	@rm -rf .venv
	@"$(PYTHON)" -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	@touch $(READY)

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

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/snakefmt Snakefile rules

docs: $(READY)
	$(BIN)/python -m schemas.reference_docs

# Needs `uv`; rewrites the lock file for all supported Pythons.
lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --no-header --no-annotate --quiet --extra test pyproject.toml -o requirements.lock
	sed -i '1i # Exact versions with hashes for Python 3.11 to 3.13; made by `make lock` from pyproject.toml.' requirements.lock

clean:
	rm -rf results .snakemake .pytest_cache .mypy_cache .ruff_cache
