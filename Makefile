# Everything a new machine needs is Python 3.11. `make run` and `make test` do all the set-up.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
THREADS := OMP_NUM_THREADS=1

.PHONY: run test check shape bench bench-all torture torture-all readme performance docs clean

run: .venv/installed
	$(BIN)/igsd evaluate --recipe molecules MUTAG --seeds 3

test: .venv/installed-dev
	$(THREADS) $(BIN)/python -m pytest -n auto

check: .venv/installed-dev
	$(BIN)/ruff check src tests benchmarks examples scripts
	$(BIN)/ruff format --check src tests benchmarks examples scripts
	$(BIN)/mypy
	$(THREADS) $(BIN)/python -m pytest -n auto -m "not slow"

# Files, lines, imports and concepts of src/igsd, beside the most they may be.
shape: .venv/installed
	$(BIN)/python -m scripts.shape --check

# Speed, as ratios, of what a change could slow down: a quiet machine and a quarter of an hour.
bench: .venv/installed-dev
	$(THREADS) $(BIN)/python -m benchmarks

# Everything on docs/performance.md: three quarters of an hour.
bench-all: .venv/installed-dev
	$(THREADS) $(BIN)/python -m benchmarks --all

# An attack: killed, raced, mutated, flooded and lied to. Some ten minutes on two free cores.
torture: .venv/installed-dev
	$(THREADS) $(BIN)/python -m tests.torture --record

# The same with 10,000 mutants and 100 kills.
torture-all: .venv/installed-dev
	$(THREADS) $(BIN)/python -m tests.torture --record --size all

# The tables of README.md from the records in results/.
readme: .venv/installed
	$(BIN)/python -m scripts.readme results README.md docs/results.md src/igsd/shipped/molecules.md

performance: .venv/installed-dev
	$(BIN)/python -m benchmarks.render results/benchmarks docs/performance.md
	$(BIN)/python -m benchmarks.render results/torture docs/reliability.md
	$(BIN)/python -m benchmarks.render results/scaling docs/scaling.md
	$(BIN)/python -m scripts.instruction_sets --render docs/evaluating.md

# The documentation site, in site/; nothing is loaded from the network.
docs: .venv/installed-docs
	$(BIN)/python -m zensical build --strict --clean

clean:
	rm -rf .venv runs site

.venv/installed: pyproject.toml constraints.txt
	@echo "Installing igsd into .venv (once; a minute or two)"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	@touch $@

.venv/installed-dev: .venv/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	@touch $@

.venv/installed-docs: .venv/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[docs]"
	@touch $@
