# Every target sets up what it needs, in a local virtual environment.
PYTHON ?= python3
BIN := .venv/bin
# One thread in each process: threads that wait for a busy core are many times slower.
ONE_THREAD := OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
PYTEST := $(ONE_THREAD) $(BIN)/python -m pytest -n 2

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow bench-measures bench-data bench-nulls bench-scheduler lint format pictures browser clean

help:  ## Show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: .venv/core  ## Train plain and censored decoders on simulated people; write out/demo.html
	$(ONE_THREAD) $(BIN)/censorium demo --out out/demo.html

test: .venv/dev browser  ## Run the tests (about 6 minutes)
	$(PYTEST) -m "not slow"

test-slow: .venv/dev browser  ## Run the slow proofs too
	$(PYTEST) -m slow

bench-measures: .venv/dev  ## Print what every measure says where the truth is known; ARGS=--docs for the docs
	$(ONE_THREAD) $(BIN)/python benchmarks/measures.py $(ARGS)

bench-data: .venv/dev  ## Measure preparing, opening and sharing recordings (2 GB in out/)
	$(ONE_THREAD) $(BIN)/python benchmarks/data.py $(ARGS)

bench-nulls: .venv/dev  ## Measure how often each test of a study finds what is not there; ARGS=--docs for the docs
	$(ONE_THREAD) $(BIN)/python benchmarks/nulls.py $(ARGS)

bench-scheduler: .venv/dev  ## Measure how many workers one driver keeps busy, and what a second process gives
	$(ONE_THREAD) $(BIN)/python benchmarks/scheduler.py $(ARGS)

lint: .venv/dev  ## Check format, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: .venv/dev  ## Bring the code into format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

pictures: demo .venv/dev browser  ## Draw the pictures of the README and the docs anew
	$(BIN)/python docs/pictures.py

browser:  ## Install Debian's Chromium, which the report's test looks at pages with
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; \
	  else \
	    echo "No Chromium: the report's browser test will be skipped. Install it with: sudo make browser"; \
	  fi; }

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("censorium needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv

.venv/core: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

.venv/dev: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@# Braindecode wants torchaudio, whose compiled part wants CUDA; its Python code does without.
	@test -e $(BIN)/../lib/python*/site-packages/torch/lib/libtorch_cuda.so || rm -rf $(BIN)/../lib/python*/site-packages/torchaudio/lib
	@touch $@ .venv/core

clean:  ## Remove the virtual environment and what was made
	rm -rf .venv out .pytest_cache .mypy_cache .ruff_cache
