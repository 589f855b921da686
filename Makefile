# `make demo` and `make test` do all set-up themselves; a second call installs nothing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml constraints.txt CMakeLists.txt $(wildcard native/*)

export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-portable fuzz sanitize audit lint types bench clean
demo: $(VENV)/installed
	$(BIN)/epignn demo

test: $(VENV)/installed-dev lint types
	$(BIN)/python -m pytest --cov --cov-report=term:skip-covered

# The numeric tests once more, on every instruction set that the machine has.
test-portable: $(VENV)/installed-dev
	$(BIN)/python tests/portable.py

# Mutated files through every command, and a kill at every file operation: for SECONDS, from a new seed each time.
SECONDS ?= 3600
fuzz: $(VENV)/installed-dev
	EPIGNN_FUZZ_SECONDS=$(SECONDS) $(BIN)/python -m pytest tests/fuzz tests/crash --timeout=0 -x

# The kernels once more, built to stop at the first access out of bounds or undefined operation.
sanitize: $(VENV)/installed-dev
	$(BIN)/python tests/sanitize.py

# Known faults of what is installed, and its licences.
audit: $(VENV)/installed-dev
	$(BIN)/python -m pip install --quiet pip-audit
	$(BIN)/python tests/licences.py
	$(BIN)/pip-audit --skip-editable

lint: $(VENV)/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/installed-dev
	$(BIN)/mypy

bench: $(VENV)/installed
	$(BIN)/python benchmarks/closure.py
	$(BIN)/python benchmarks/generator.py
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/model.py
	$(BIN)/python benchmarks/peers.py
	$(BIN)/python benchmarks/links.py

clean:
	rm -rf $(VENV) build .mypy_cache .pytest_cache .ruff_cache .coverage .hypothesis

$(VENV)/python-ok:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "epignn needs Python 3.11 or newer; set PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)
	touch $@

# With -e an edit of a Python file needs no reinstall; a changed kernel or pyproject does.
$(VENV)/installed: $(VENV)/python-ok $(SOURCES)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/installed-dev: $(VENV)/python-ok $(SOURCES)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $(VENV)/installed $@
