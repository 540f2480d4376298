# Everything runs in .venv, which is made from the lock file on first use. `make` alone lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help setup release test check lint bench docs lock clean

help:
	@echo "make release   build the smoke preset into outputs/"
	@echo "make test      set up and run the tests (under 20 minutes on two cores)"
	@echo "make check     run everything: lint, docs, all tests, slow ones too; no skip but for absent raw data"
	@echo "make lint      ruff and mypy"
	@echo "make bench     measure speed against the roofline; prints JSON"
	@echo "make docs      write what is generated in docs/"
	@echo "make lock      resolve the lock files again"
	@echo "make clean     remove run folders and leftovers of builds, never a release"

setup: $(STAMP)

$(STAMP): requirements/core.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed; set PYTHON=")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/core.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

release: setup
	$(BIN)/habitus build smoke

# Two halves side by side, on two cores: what needs whole builds, and the rest. What the second half said is printed last.
HALF := flows prompts schemas validation house test_promises.py docs/test_generate.py docs/test_personas_page.py \
	cases/test_people_cases.py cases/test_population_cases.py cases/test_world_cases.py cases/test_time_cases.py

test: setup
	@said=$$(mktemp); \
	$(BIN)/python -m pytest -m "not slow" -p no:cacheprovider $(HALF:%=tests/%) > $$said 2>&1 & half=$$!; \
	$(BIN)/python -m pytest -m "not slow" $(HALF:%=--ignore=tests/%); failed=$$?; \
	wait $$half || failed=$$?; \
	cat $$said; rm -f $$said; exit $$failed

check: setup lint
	$(BIN)/python docs/generate.py --check
	$(BIN)/python -m pytest --no-unexpected-skips

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy schemas prompts validation flows habitus

bench: setup
	$(BIN)/python -m tests.bench.run

docs: setup
	$(BIN)/python docs/generate.py

lock: setup
	$(BIN)/python requirements/lock.py

clean:
	$(BIN)/habitus clean --yes
