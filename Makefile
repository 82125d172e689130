# Everything a new machine needs is Python 3.11. `make run` and `make test` do all the set-up.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
THREADS := OMP_NUM_THREADS=1

.PHONY: run test check readme clean

run: .venv/installed
	$(BIN)/igsd evaluate --recipe molecules MUTAG --seeds 3

test: .venv/installed-dev
	$(THREADS) $(BIN)/python -m pytest -n auto

check: .venv/installed-dev
	$(BIN)/ruff check src tests examples
	$(BIN)/ruff format --check src tests examples
	$(BIN)/mypy
	$(THREADS) $(BIN)/python -m pytest -n auto -m "not slow"

# The tables of README.md from the records in results/.
readme: .venv/installed
	$(BIN)/python -m igsd.report.results_table results README.md

clean:
	rm -rf .venv runs

.venv/installed: pyproject.toml constraints.txt
	@echo "Installing igsd into .venv (once; a minute or two)"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	@touch $@

.venv/installed-dev: .venv/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	@touch $@
