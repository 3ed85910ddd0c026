# What each target needs is installed into .venv from pyproject.toml, with plain python3 and pip.

PYTHON ?= python3
PY := .venv/bin/python
GENERATORS := $(wildcard tools/generate_*.py)

.PHONY: demo test lint format bench bench-tails bench-fragments clean

demo: .venv/demo
	$(PY) -m ptxgemm demo

test: lint
	$(PY) -m pytest --numprocesses auto --maxprocesses 8 --dist worksteal

lint: .venv/test
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) -m mypy ptx/builder.py   # its stub hides it from the line above
	for generator in $(GENERATORS); do $(PY) $$generator --check || exit 1; done

format: .venv/test
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .
	for generator in $(GENERATORS); do $(PY) $$generator || exit 1; done

bench: .venv/test
	$(PY) -m benchmarks --record

bench-tails: .venv/test
	$(PY) -m benchmarks.tails --record
	$(PY) tools/generate_tails.py

# Everything that fragments and the kernels on them are to reach on a GPU: tests, maps, bits, speed.
bench-fragments: .venv/test
	$(PY) -m pytest -m gpu tests/fragments tests/gemm/test_warp_gemm.py tests/gemm/test_types.py
	$(PY) -m benchmarks.fragments --record

.venv/bin/python:
	$(PYTHON) -m venv .venv

# The dependencies are read from pyproject.toml alone, so that it alone makes the stamps stale.
.venv/demo: pyproject.toml | .venv/bin/python
	$(PY) -m pip install --quiet --disable-pip-version-check --editable ".[toolchain]"
	touch $@

.venv/test: pyproject.toml | .venv/bin/python
	$(PY) -m pip install --quiet --disable-pip-version-check --editable ".[toolchain,test]"
	touch $@ .venv/demo

clean:
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis demo
