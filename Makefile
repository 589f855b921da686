# `make demo` and `make test` do all set-up themselves; a second call installs nothing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml constraints.txt CMakeLists.txt $(wildcard native/*)

export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo docs figures test test-slow test-browser coverage test-cluster test-portable fuzz sanitize audit lint types bench screenshots vendor wheel clean
demo: $(VENV)/installed
	$(BIN)/epignn demo

PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile

test: $(VENV)/installed-dev lint types
	$(PYTEST) -m "not browser and not slow"

# What takes longest: kills and full disks at file operations, runs beside a server, refined models, benchmarks.
test-slow: $(VENV)/installed-dev
	$(PYTEST) -m "slow and not browser"

# The page in a real browser, a Chromium of the system.
test-browser: $(VENV)/installed-dev
	EPIGNN_BROWSER=1 $(PYTEST) -m browser

# All of these, and which lines and branches no test reaches; following every line makes the tests half as fast.
coverage: $(VENV)/installed-dev
	$(PYTEST) --cov --cov-report=term:skip-covered

# Real Ray clusters of several nodes, with workers, nodes and drivers that are killed.
test-cluster: $(VENV)/installed-cluster
	EPIGNN_CLUSTER=1 $(BIN)/python -m pytest tests -m cluster --timeout=240

# The numeric tests once more, on every instruction set that the machine has.
test-portable: $(VENV)/installed-dev
	$(BIN)/python tests/portable.py

# Readers guided by what they reach, where atheris can be had; mutated files through every command; a kill at every
# file operation; closures in memory that does not grow. Each for SECONDS, from a new seed each time.
SECONDS ?= 3600
fuzz: $(VENV)/installed-dev
	if $(BIN)/python -c 'import atheris' || $(BIN)/python -m pip install --quiet atheris; then \
	  $(BIN)/python tests/fuzz/guided.py $(SECONDS); fi
	EPIGNN_FUZZ_SECONDS=$(SECONDS) $(BIN)/python -m pytest tests/fuzz tests/crash tests/test_threads.py --timeout=0 -x

# The kernels once more, built to stop at the first access out of bounds, undefined operation or race of threads.
sanitize: $(VENV)/installed-dev
	$(BIN)/python -m pip install --quiet nanobind cmake
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

bench: $(VENV)/installed-dev
	$(BIN)/python benchmarks/closure.py
	$(BIN)/python benchmarks/generator.py
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/files.py
	$(BIN)/python benchmarks/stream.py
	$(BIN)/python benchmarks/model.py
	$(BIN)/python benchmarks/peers.py
	$(BIN)/python benchmarks/links.py
	$(BIN)/python benchmarks/serve.py
	$(BIN)/python benchmarks/workers.py
	$(BIN)/python benchmarks/large_graph.py

# The pictures of all tables, from records. Those that pages show are kept by `git add --force`.
figures: $(VENV)/installed-dev
	$(BIN)/python benchmarks/figures.py
	$(BIN)/python benchmarks/recovery.py --draw

# The pictures of docs/playground.md, of a real page in a real browser.
screenshots: $(VENV)/installed-dev
	$(BIN)/python tests/web/screenshots.py

# A wheel in dist/, tried in an empty environment.
wheel: $(VENV)/installed-dev
	$(BIN)/python tests/wheel.py

# The documents as a site, strictly: a broken link is an error.
docs: $(VENV)/installed-dev
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	$(BIN)/mkdocs build --strict --quiet

# The library that the page uses, from npm; src/epignn/web/static/vendor/README.md tells its version and licence.
HTM := htm@3.1.1
PREACT := preact@10.29.1
STATIC := src/epignn/web/static/vendor
vendor:
	folder=$$(mktemp -d) && (cd $$folder && npm pack --silent $(HTM) $(PREACT) >/dev/null) \
	&& tar -xzOf $$folder/htm-*.tgz package/preact/standalone.module.js >$(STATIC)/htm-preact.js \
	&& tar -xzOf $$folder/htm-*.tgz package/LICENSE >$(STATIC)/htm-LICENSE.txt \
	&& tar -xzOf $$folder/preact-*.tgz package/LICENSE >$(STATIC)/preact-LICENSE.txt; rm -rf $$folder

clean:
	rm -rf $(VENV) build .mypy_cache .pytest_cache .ruff_cache .coverage .hypothesis

$(VENV)/python-ok:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "epignn needs Python 3.11 or newer; set PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)
	touch $@

# With -e an edit of a Python file needs no reinstall; a changed kernel or pyproject does.
$(VENV)/installed: $(VENV)/python-ok $(SOURCES)
	$(BIN)/python -m pip install --quiet --editable '.[learn,plot]'
	touch $@

$(VENV)/installed-dev: $(VENV)/python-ok $(SOURCES)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $(VENV)/installed $@

$(VENV)/installed-cluster: $(VENV)/installed-dev
	$(BIN)/python -m pip install --quiet --editable '.[ray]'
	touch $@
