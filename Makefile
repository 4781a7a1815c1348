# Everything runs from .venv/, which the first target that needs it makes.
PYTHON ?= python3
# What is installed; `make test EXTRAS=dev,embed` also tests the embedding server (torch).
EXTRAS ?= dev
ARGS ?= problem=cvrp llm=offline budget=smoke
BIN := .venv/bin
READY := .venv/.ready-$(EXTRAS)

.PHONY: demo test lint ui clean

demo: $(READY)
	$(BIN)/python -m specahd.train $(ARGS)

test: $(READY)
	$(BIN)/pytest

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# For looking only: runs write to the database themselves.
ui: $(READY)
	@echo "http://127.0.0.1:5000/#/experiments/1/runs?workflowType=machine_learning&viewStateShareKey=specahd"
	MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false MLFLOW_DISABLE_TELEMETRY=true $(BIN)/mlflow server \
		--backend-store-uri sqlite:///mlruns/mlflow.db --workers 1 --port 5000

clean:
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml constraints.txt scripts/install.sh
	PYTHON=$(PYTHON) scripts/install.sh --editable $(EXTRAS)
	touch $@
