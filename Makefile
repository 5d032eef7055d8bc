# Each target creates what it needs of the virtual environment first. PYTHON=python3.12 selects another interpreter.
# COMPILED=1 makes `make demo` compile shapeinf, in an environment of its own: docs/dev/compiled.md.
PYTHON ?= python3
VENV ?= .venv$(if $(COMPILED),-compiled)
BIN := $(VENV)/bin
# A terminal shows the progress of downloads.
PIP_OPTIONS := --disable-pip-version-check $(if $(MAKE_TERMOUT),,--quiet)
SOURCES := $(shell find shapeinf opdefs -name '*.py')

# The tests whose results could depend on the processor, with numpy on the instructions that every processor has.
# LIMITED=tests runs all tests in this way.
LIMITED ?= $(wildcard tests/differential/test_float*.py tests/differential/test_folded*.py) tests/program

.PHONY: demo test test-all test-limited mutate lint format docs page site clean

demo: $(VENV)/$(if $(COMPILED),.compiled,.installed)
	$(BIN)/shapeinf infer examples/decoder.onnx --dim batch=1..8 --dim seq=1..512 --limit 12
	@echo
	@$(BIN)/shapeinf --version
	@echo "next: source $(VENV)/bin/activate, then: shapeinf summary your.onnx"

# The quick part of the tests, with few packages; `make test-all` has all (tests/parts.py).
test: $(VENV)/.quick
	$(BIN)/python -m pytest -n 2 --part quick $(PYTEST_OPTIONS)

test-all: $(VENV)/.editable
	$(BIN)/python -m pytest -n 2 $(PYTEST_OPTIONS)

test-limited: $(VENV)/.editable
	NPY_DISABLE_CPU_FEATURES="$$($(BIN)/python tools/numpy_features.py)" $(BIN)/python -m pytest -q -n 2 $(LIMITED)

# Changes of the source that no test notices; MUTATE="--seed 3 shapeinf/expr" chooses others.
mutate: $(VENV)/.editable
	$(BIN)/python tools/mutate.py $(MUTATE)

lint: $(VENV)/.editable
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.editable
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The pages and schemas that are made from the source.
docs: $(VENV)/.editable
	$(BIN)/python tools/make_floor_plan.py
	$(BIN)/python tools/make_operator_table.py
	$(BIN)/python tools/make_error_table.py
	$(BIN)/python tools/make_json_schemas.py

# The site of the documentation, in build/site.
site: $(VENV)/.site
	$(BIN)/sphinx-build -W --keep-going -q -c docs/site . build/site

# The page where one drops a model (docs/page.md), which `make site` then makes a part of the site. Needs npm.
page: $(VENV)/.editable
	npm install --no-save --no-audit --no-fund --prefix build \
	  "pyodide@$$($(BIN)/python -c 'from shapeinf.page.pyodide import VERSION; print(VERSION)')"
	mkdir -p build/extra
	$(BIN)/shapeinf page -o build/extra/try --pyodide build/node_modules/pyodide

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("shapeinf needs Python 3.10 or newer" if sys.version_info < (3, 10) else 0)'
	$(PYTHON) -m venv $(VENV)

# The package as a user installs it; an editable installation, if there is one, is used instead.
$(VENV)/.installed: pyproject.toml $(SOURCES) | $(BIN)/python
	@echo "installing shapeinf into $(VENV): less than a minute"
	test -e $(VENV)/.editable || $(BIN)/python -m pip install $(PIP_OPTIONS) .
	touch $@

# A wheel with modules that mypyc compiles, which stays in $(VENV)/wheel. pip keeps an installed wheel of this version.
$(VENV)/.compiled: pyproject.toml setup.py $(SOURCES) | $(BIN)/python
	@$(BIN)/python tools/c_compiler.py
	@echo "compiling shapeinf with mypyc and installing it into $(VENV): 4 to 8 minutes of one core, 2 GB of memory"
	rm -rf $(VENV)/wheel
	SHAPEINF_MYPYC=1 $(BIN)/python -m pip wheel $(PIP_OPTIONS) --no-deps --wheel-dir $(VENV)/wheel .
	$(BIN)/python -m pip install $(PIP_OPTIONS) --no-deps --force-reinstall $(VENV)/wheel/*.whl
	$(BIN)/python -m pip install $(PIP_OPTIONS) $(VENV)/wheel/*.whl
	touch $@

# Less than .editable, which replaces it if it is there.
$(VENV)/.quick: pyproject.toml | $(BIN)/python
	@echo "installing shapeinf and what its quick tests need into $(VENV): about a minute"
	test -e $(VENV)/.editable || $(BIN)/python -m pip install $(PIP_OPTIONS) -e '.[test]'
	touch $@

$(VENV)/.editable: pyproject.toml | $(BIN)/python
	@echo "installing shapeinf and all runtimes that its tests compare with into $(VENV): some minutes, 2 GB"
	$(BIN)/python -m pip install $(PIP_OPTIONS) -e '.[test-all]'
	touch $@

$(VENV)/.site: $(VENV)/.editable
	$(BIN)/python -m pip install $(PIP_OPTIONS) -e '.[docs]'
	touch $@

clean:
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
