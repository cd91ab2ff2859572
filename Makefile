# Everything happens in a virtual environment that these targets set up by themselves.
#   make PYTHON=python3.13 VENV=.venv313 test     another interpreter, another environment

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet
# Tests start many processes, which need not compile all sources each time.
unexport PYTHONDONTWRITEBYTECODE
# Threads of other libraries that have nothing to do shall sleep, and not spin on a core that another process could use.
export OMP_WAIT_POLICY ?= passive
export OPENBLAS_THREAD_TIMEOUT ?= 4
# Not isolated: the build tools live in the environment, so that a rebuild is incremental. setuptools builds LIBSVM, which
# tests compare with; what a new environment brings may lack bdist_wheel.
INSTALL := $(PIP) --no-build-isolation --editable
BUILD_TOOLS := 'scikit-build-core>=0.11' 'nanobind>=2.5' 'setuptools-scm>=8' 'cmake>=3.26' ninja 'setuptools>=70.1'

NATIVE := CMakeLists.txt $(wildcard src/core/*/*)
CXX_FILES = $(wildcard src/core/*/*.hpp src/core/*/*.cpp tests/fuzz/*.cpp tests/extending/*.?pp)
PYTEST_ARGS ?=
JOBS ?= 2
SEQUENCES ?= 20000
FUZZ ?= 1000000
FUZZ_ARGS ?=
BENCH_ARGS ?=
PAPER_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast test-slow docs sequences fuzz fuzz-memory lint format bench paper sanitize sanitize-memory sanitize-threads clean
.DELETE_ON_ERROR:

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(VENV)/.plot ## train a model and show what the budget buys
	$(BIN)/budgetsvm demo

# Two processes share most tests, and leave a core to each other. What measures the machine has it for itself; clusters have a process of their own: Dask's
# threads outlive them, and would count where memory is measured. 5: none chosen.
PYTEST := $(BIN)/python -m pytest
SPLIT := OPENBLAS_NUM_THREADS=1 $(PYTEST) --numprocesses=$(JOBS) --dist=worksteal
SHARED := $(SPLIT) --doctest-modules tests --pyargs budgetsvm --ignore=tests/distributed
ALONE := $(PYTEST) tests --ignore=tests/distributed

test: $(VENV)/.test ## run all tests but the slow ones, and the examples in the docstrings
	$(SHARED) -m "not slow and not alone" $(PYTEST_ARGS)
	$(ALONE) -m "not slow and alone" $(PYTEST_ARGS) || [ $$? -eq 5 ]
	$(PYTEST) tests/distributed -m "not slow" $(PYTEST_ARGS) || [ $$? -eq 5 ]

# To collect all tests takes half a minute by itself: these are the inner rooms, which the others stand on.
INNER := core options common problem model learn polish exact estimators
test-fast: $(VENV)/.test ## run one case of every test of the core, both phases and the estimators, in less than a minute
	$(SPLIT) --fast $(INNER:%=tests/%) -m "not slow and not alone" $(PYTEST_ARGS)

test-slow: $(VENV)/.test ## run what make test leaves out
	$(SHARED) -m "slow and not alone" $(PYTEST_ARGS) || [ $$? -eq 5 ]
	$(ALONE) -m "slow and alone" $(PYTEST_ARGS) || [ $$? -eq 5 ]
	$(PYTEST) tests/distributed -m slow $(PYTEST_ARGS) || [ $$? -eq 5 ]

# The last sequence is kept in a file, for those that end the process.
sequences: $(VENV)/.test ## run random sequences of calls, SEQUENCES=20000 of them, other ones each time
	BUDGETSVM_SEQUENCES=$(SEQUENCES) BUDGETSVM_SEQUENCES_LOG=build/last_sequence.py \
	  $(BIN)/python -m pytest --capture=no tests/sequences/test_call_sequences.py $(PYTEST_ARGS)

# A loader is one line in tests/fuzz/loaders.py.
#   make fuzz FUZZ=20000 FUZZ_ARGS="--only CSV --seed 7"
fuzz: $(VENV)/.test ## read FUZZ=1000000 broken files by all loaders, other ones each time
	$(BIN)/python tests/fuzz $(FUZZ) $(FUZZ_ARGS)

lint: $(VENV)/.lint ## check style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run -Werror $(CXX_FILES)

format: $(VENV)/.lint ## put all files into the agreed format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CXX_FILES)

# Everything is made anew. Warnings are errors; what comes out is checked as a whole.
docs: $(VENV)/.docs ## build the site in build/docs, with its gallery: all of it offline
	rm -rf build/docs docs/gallery docs/api/generated
	$(BIN)/python -m sphinx -W --keep-going --quiet --builder html --doctree-dir build/doctrees docs build/docs
	$(BIN)/python docs/_build_tools/check_site.py build/docs

bench: $(VENV)/.bench ## measure against targets, NumPy and peers; one table, one picture
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

paper: $(VENV)/.paper ## make the paper's tables and figures anew; PAPER_ARGS=--quick needs no data
	$(BIN)/python -m experiments $(PAPER_ARGS)

sanitize: sanitize-memory sanitize-threads ## run the core's tests with sanitizers (GCC)

# The sanitizers' run-time library must come first in a process that is not built with it, and needs
# to find that of C++ behind it.
PRELOAD = LD_PRELOAD="$$($(CXX) -print-file-name=$(1)) $$($(CXX) -print-file-name=libstdc++.so)"

# The address sanitizer holds on to memory that was freed, and takes a lot for itself: no use in measuring
# its peak, nor in limiting it.
#   BUDGETSVM_SEQUENCES=2000 make sanitize-memory PYTEST_ARGS="-k sequence_of_calls"
sanitize-memory:
	$(call build_sanitized,address$(comma)undefined,memory)
	$(call PRELOAD,libasan.so) ASAN_OPTIONS=detect_leaks=0 \
	  $(VENV)-memory/bin/python -m pytest --capture=sys tests $(PYTEST_ARGS) \
	  --deselect tests/common/test_memory.py::test_memory_stays_within_the_limit \
	  --deselect tests/common/test_memory.py::test_the_default_limit_respects_that_of_the_process

# Broken files for the readers in C++.
fuzz-memory:
	$(call build_sanitized,address$(comma)undefined,memory)
	$(call PRELOAD,libasan.so) ASAN_OPTIONS=detect_leaks=0 \
	  $(VENV)-memory/bin/python tests/fuzz $(FUZZ) --unlimited --only "LIBSVM data" model $(FUZZ_ARGS)

sanitize-threads:
	$(call build_sanitized,thread,threads)
	$(call PRELOAD,libtsan.so) TSAN_OPTIONS=exitcode=66:halt_on_error=1:die_after_fork=0 \
	  $(VENV)-threads/bin/python -m pytest --capture=sys -k thread tests $(PYTEST_ARGS)

comma := ,
define build_sanitized
SKBUILD_CMAKE_DEFINE='BUDGETSVM_SANITIZE=$(1)' SKBUILD_BUILD_DIR=build/$(2) \
  $(MAKE) VENV=$(VENV)-$(2) $(VENV)-$(2)/.test
endef

clean: ## remove the environment and everything that was built
	rm -rf $(VENV) $(VENV)-memory $(VENV)-threads build dist docs/gallery docs/api/generated budgetsvm-demo*.png benchmarks/results experiments/results .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tests benchmarks docs examples experiments -type d -name __pycache__ -prune -exec rm -rf {} +

# The stamps. Python sources are used in place; only the native part needs a rebuild.
$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "budgetsvm needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)." >&2; \
	  echo "Name another one: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: $(VENV)/.created pyproject.toml $(NATIVE)
	$(PIP) $(BUILD_TOOLS)
	$(INSTALL) .
	@touch $@

# The extras of pyproject.toml.
$(VENV)/.plot $(VENV)/.test $(VENV)/.lint $(VENV)/.bench $(VENV)/.paper $(VENV)/.docs: $(VENV)/.%: pyproject.toml | $(VENV)/.installed
	$(INSTALL) '.[$*]'
	@touch $@
