PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: help install demo test torture check bench clean

help: ## List what make can do
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

install: $(VENV)/.installed ## Create .venv and install salgen

demo: $(VENV)/.installed ## Make data, train, explain, score: about five minutes, ends with demo/report.html
	$(BIN)/salgen reproduce budding2021 --scale demo --out demo $(DEMO_METHODS)

test: $(VENV)/.installed-test $(VENV)/.tried-noise ## Run the tests
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist worksteal

torture: $(VENV)/.installed-test ## Break salgen in many ways, many times (takes long)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest tests/faults --torture --numprocesses 2

check: $(VENV)/.installed-check ## Lint, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.installed-bench $(VENV)/.tried-noise ## Measure speed beside other libraries and write benchmarks/RESULTS.md
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/python -m benchmarks

clean: ## Remove .venv and what the demo made
	rm -rf $(VENV) demo

DEMO_METHODS := -m smoothgrad:n=20 -m integrated-gradients:steps=20 -m input-x-gradient -m grad-cam

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "salgen needs Python 3.11 or newer; set PYTHON=..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.installed-%: $(VENV)/.installed
	$(PIP) install --constraint constraints.txt --editable '.[$*]'
	@touch $@

$(VENV)/.tried-noise: $(VENV)/.installed
	$(PIP) install --constraint constraints.txt --editable '.[noise]' 2>/dev/null || echo "the noise package needs a C compiler: left out"
	@touch $@
