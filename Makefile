# Everything a new machine needs is Python 3.11. `make run` and `make test` do all the set-up.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
THREADS := OMP_NUM_THREADS=1

.PHONY: run test check bench readme performance clean

run: .venv/installed
	$(BIN)/igsd evaluate --recipe molecules MUTAG --seeds 3

test: .venv/installed-dev
	$(THREADS) $(BIN)/python -m pytest -n auto

check: .venv/installed-dev
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/mypy
	$(THREADS) $(BIN)/python -m pytest -n auto -m "not slow"

# Speed, as ratios: a quiet machine and three quarters of an hour.
bench: .venv/installed-dev
	$(THREADS) $(BIN)/python -m benchmarks

# The tables of README.md from the records in results/.
readme: .venv/installed
	$(BIN)/python -m igsd.report.results_table results README.md

performance: .venv/installed-dev
	$(BIN)/python -m benchmarks.render results/benchmarks docs/performance.md

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
