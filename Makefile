# Everything runs from VENV, which the first target that needs it makes.
PYTHON ?= python3
VENV ?= .venv
# What is installed in it.
EXTRAS ?= dev
# What the demo trains: CVRP, on the first replies of a language model that were recorded.
ARGS ?= problem=cvrp problem.repair=insertion llm=recorded llm.path=cassettes/cvrp-insertion-smoke-seed0.jsonl llm.match=sample budget=smoke budget.programs=6 budget.rounds=1 budget.lower_train=6 budget.upper_train=6 budget.selection=6 budget.validation=12
# How long each solver works at its end.
export DEMO_SECONDS ?= 5
BIN := $(VENV)/bin
READY := $(VENV)/.ready-$(EXTRAS)
# Python keeps its byte code, whatever is asked elsewhere: some hundred processes of the tests load it.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test check test-integration test-slow test-extras mutants lint ui docs clean

demo: $(READY)
	@echo "Training on CVRP, then solving an unseen instance: a minute, or three the first time, when loops are compiled"
	$(BIN)/python -m specahd.train $(ARGS)
	$(BIN)/python benchmarks/demo.py $(ARGS)

test: $(READY)
	$(BIN)/pytest $(TESTS)

# After every change: lint, types, and the tests of units that start no command.
UNITS := checkpoint config core design evaluation llm memory methods programs repair reporting routing runs search
check: lint
	$(BIN)/pytest -m "unit and not integration and not slow" $(addprefix tests/,$(UNITS))

# Runs that are killed, sweeps, servers and whole tutorials: .ci/run runs them too.
test-integration:
	$(MAKE) test TESTS="-m 'integration and not slow and not extras'"

# The tests that take minutes, and those of properties on more examples.
test-slow:
	$(MAKE) test TESTS="-m slow"
	$(MAKE) test TESTS="-m hypothesis --hypothesis-profile=thorough"

# The tests that need torch, Optuna, LiteLLM, Chromium or PostgreSQL; the last two are Debian's.
test-extras:
	$(MAKE) test VENV=.venv-extras EXTRAS=dev,embed,litellm,optuna TESTS="-m extras -rs"

# Which changes of a module its tests do not notice: make mutants MODULE=src/specahd/core/journal.py
mutants: $(READY)
	$(BIN)/python scripts/mutants.py $(MODULE) $(TESTS) $(if $(EVERY),--every $(EVERY))

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# MLflow's UI over the runs here; no variable of the environment, so that what commands print is true.
PORT = 5000
ui: $(READY)
	@$(BIN)/python -m specahd.tracking.ui '$(PORT)'

# The documentation as a site, built with strict links, then served at this port; SERVE= only builds it.
SERVE = 8000
docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	$(if $(SERVE),$(BIN)/mkdocs serve --dev-addr 127.0.0.1:$(SERVE))

clean:
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml constraints.txt scripts/install.sh
	PYTHON=$(PYTHON) VENV=$(VENV) scripts/install.sh --editable $(EXTRAS)
	touch $@
