PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install
WANTED = --quiet --constraint constraints.txt --editable $(1)
# uv takes a fifth of pip's time; pip is there where uv fails, as behind a proxy that only pip is set up for.
install = $(BIN)/uv pip install --system-certs --python $(BIN)/python $(WANTED) || $(PIP) $(WANTED)
export UV_HTTP_TIMEOUT := 300
# What is installed is compiled when it is first imported, even where Python is told to keep nothing.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help install demo test lowest torture mutants check docs bench clean

help: ## List what make can do
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

install: $(VENV)/.installed ## Create .venv and install salgen

demo: $(VENV)/.installed ## Make data, train, explain, score, choose a method: a minute after the install; demo/report.html
	$(BIN)/salgen reproduce budding2021 --scale demo --out demo $(DEMO_METHODS)
	$(BIN)/salgen choose demo/mri-lesions-run

test: $(VENV)/.installed-test $(VENV)/.tried-noise ## Run the tests
	$(PYTEST) --numprocesses auto --dist worksteal

torture: $(VENV)/.installed-test ## Repeat the tests more often and break salgen many times (takes long)
	$(PYTEST) --torture --numprocesses 2 --dist worksteal

mutants: $(VENV)/tests/coverage ## Plant N one-line faults, drawn by SEED, and count those that the tests catch
	$(ONE_THREAD) $(BIN)/python tests/mutants.py $(N) --seed $(SEED) --tests $(<D)

lowest: $(VENV)/bin/uv ## Run the tests in .venv-lowest, with the oldest versions that pyproject.toml allows
	$(BIN)/uv venv --quiet --clear --python 3.11 $(VENV)-lowest
	$(BIN)/uv pip install --system-certs --quiet --python $(VENV)-lowest --resolution lowest-direct --editable '.[test]'
	$(subst $(BIN),$(VENV)-lowest/bin,$(PYTEST)) --numprocesses auto --dist worksteal

check: $(VENV)/.installed-check ## Lint, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.installed-docs ## Run examples/ and build the site: docs/_build/html/index.html
	$(ONE_THREAD) $(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -d docs/_build/doctrees docs docs/_build/html

bench: $(VENV)/.installed-bench $(VENV)/.tried-noise ## Measure speed beside other libraries and write benchmarks/RESULTS.md
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/python -m benchmarks

clean: ## Remove .venv, .venv-lowest, the site and what the demo made
	rm -rf $(VENV) $(VENV)-lowest demo docs/_build docs/examples

ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
PYTEST := $(ONE_THREAD) $(BIN)/python -m pytest
N ?= 60
SEED ?= 0
DEMO_METHODS := -m smoothgrad:n=20 -m integrated-gradients:steps=20 -m input-x-gradient -m grad-cam

$(VENV)/bin/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "salgen needs Python 3.11 or newer; set PYTHON=..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) --quiet --constraint constraints.txt uv

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/uv
	$(call install,.)
	@touch $@

$(VENV)/.installed-%: $(VENV)/.installed
	$(call install,'.[$*]')
	@touch $@

$(VENV)/tests/coverage: $(shell find salgen tests -name '*.py') | $(VENV)/.installed-test $(VENV)/.installed-mutants
	@mkdir -p $(@D)
	COVERAGE_FILE=$@ $(PYTEST) --numprocesses auto --dist worksteal --cov --cov-context=test --cov-report= \
	  --junitxml=$(@D)/tests.xml -o junit_family=xunit1

$(VENV)/.tried-noise: $(VENV)/.installed
	{ $(call install,'.[noise]'); } 2>/dev/null || echo "the noise package needs a C compiler: left out"
	@touch $@
