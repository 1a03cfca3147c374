# Each target is also a plain command: docs/setup.md. make turns every failure into its own exit code 2,
# so scripts that tell exit codes apart call the commands themselves.

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev bench test test-models fidelity simulate scale campaign portability test-reference lint types layers format ci-extra test-matrix clean

# Options for `jaxmark run quick`, `pytest` and the like: make bench ARGS="--processes 3"
ARGS ?=
BIN := .venv/bin
# The first Python 3 that starts, if only to look for a newer one. A shim on PATH may be there and not start.
bootstrap = @for python in $(BIN)/python python3 python3.13 python3.12 python3.11 python; do \
	  "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 6))' 2>/dev/null \
	    && exec "$$python" suite/bootstrap.py $(1); \
	done; \
	command -v uv >/dev/null && exec uv run --no-project --python 3.13 suite/bootstrap.py $(1); \
	echo 'jaxmark: no Python 3 found on PATH. Install Python 3.11 or newer, or uv: https://docs.astral.sh/uv' >&2; \
	exit 2

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
	@echo '  ACCEL=cpu|cuda12|cuda13|rocm|tpu chooses the JAX to install; ARGS="..." goes to the command.'

setup: ## Make .venv with the JAX for this machine's hardware
	$(call bootstrap)

setup-dev: ## The same, with the tools of the tests and checks
	$(call bootstrap,--dev)

bench: setup ## Measure the quick set on whatever JAX finds here
	@$(BIN)/jaxmark run quick $(ARGS)

test: setup-dev ## Run the tests, on the CPU
	@$(BIN)/python -m pytest -n auto --dist loadfile $(ARGS)

test-models: setup-dev ## The slow tests of the models: every precision, layers, planted fault and size
	@$(BIN)/python -m pytest -n auto --dist loadfile -m slow tests/models tests/benchmarks $(ARGS)

fidelity: setup-dev ## Compare jaxmark's clock with a hand-written loop
	@JAX_PLATFORMS=cpu $(BIN)/python -m pytest -s -m fidelity tests/fidelity $(ARGS)

simulate: setup-dev ## How often compare would be wrong: 2,000 simulated comparisons a setting
	@$(BIN)/python -m tests.analysis.simulation $(ARGS)

campaign: setup-dev ## False alarms and power of compare on this machine, some 35 minutes; resumes
	@JAX_PLATFORMS=cpu $(BIN)/python -m tests.campaign $(ARGS)

scale: setup-dev ## Time history over 1,000 and 10,000 made-up files: minutes, and 6 GB of disk
	@$(BIN)/python -m tests.scale.measure $(ARGS)

portability: setup ## Compile the workloads for GPUs and TPUs that are not here
	@$(BIN)/jaxmark portability $(ARGS)

test-reference: setup ## Compare the models with PyTorch implementations
	@$(BIN)/python .ci/reference.py $(ARGS)

lint: setup-dev ## Check format and style
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .

types: setup-dev ## Check the types
	@$(BIN)/mypy

layers: setup-dev ## Check that imports point one way
	@$(BIN)/lint-imports --no-logo

format: setup-dev ## Format the code, and mend what can be mended
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

ci-extra: setup-dev ## Everything that the gate runs after `make test`
	@bash .ci/extra

test-matrix: setup-dev ## Run the tests on each supported Python and on the oldest JAX
	@$(BIN)/python .ci/matrix.py $(ARGS)

clean: ## Remove .venv, build output and caches, not results
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .benchmarks .hypothesis
	find suite tests -name __pycache__ -type d -prune -exec rm -rf {} +
