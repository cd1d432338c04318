# Whichbird. Each target sets up .venv by itself; 'make' alone lists them.
PYTHON ?= python3
BIN := .venv/bin
UV := $(shell command -v uv 2>/dev/null)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Install into .venv: with uv where it is on the machine, else, or where uv fails, with pip. Files compile when they are first imported.
TRY = $(if $(UV),$(UV) pip install --quiet --python $(BIN)/python $(1) > .venv/setup.log 2>&1 ||) $(PIP) --no-compile $(1) > .venv/setup.log 2>&1
INSTALL = $(call TRY,$(1)) || { cat .venv/setup.log; exit 1; }
# Compiled files are kept in .venv, even where the machine says to keep none: compiling anew is most of what a fresh process would do
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/.venv/pycache
# Chapters and tests run two at a time, one thread each
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: help book pdf page test check golden map palette records release audit strict lint format mutants fuzz floors newest lock lab vary exercises key course data bench clean
.DEFAULT_GOAL := help

help:
	@echo "make book       build the book as HTML in _build/html"
	@echo "make pdf        print the book into one PDF, _build/pdf/whichbird.pdf (needs Chromium; CODE=1 prints code and solutions, too)"
	@echo "make test       run all tests, every chapter included"
	@echo "make strict     build the book, run it again against the outputs it prints, and check its pages in a browser if there is one"
	@echo "make lab        open the chapters as notebooks of your own in lab/: change a parameter and run all (FRESH=1 makes changed ones anew,"
	@echo "                DIR=<folder> puts them elsewhere, LAB=\"--no-browser --port 8931\" are options for JupyterLab, SOURCES=1 opens the sources)"
	@echo "make exercises  make notebooks of the exercises for students and teachers in _build/exercises (CHECK=1 tries them all out)"
	@echo "make course     make the course kit in _build/course: slides, handouts, questions, notebooks, as a folder and a zip (PDFs need Chromium)"
	@echo "make data       rebuild data/ (MTME=<dir> names an unpacked mt-metrics-eval-v2 tree; else it is downloaded, 870 MB;"
	@echo "                ONLY=ende24,… and TABLES=errors,… make a part of it; HEEN=<file> is the table of heen23's errors)"
	@echo "make bench      print performance ratios (pip install gurobipy into .venv first to compare with Gurobi)"
	@echo "make clean      delete what the other targets made"
	@echo "For those who change it:"
	@echo "make page P=book/paper/2-background.md        run one chapter and build its page"
	@echo "make check F=lib/whichbird/core/balance.py    run the tests of one module, or of one file of tests/"
	@echo "make key        make the key by which book.check knows right answers, after a change of solutions or entries (ALL=1: all anew)"
	@echo "make vary       run every chapter that has parameters on all datasets (ONLY=zhen23,… on some; P=<chapter> one; WRITE=1 renews data/vary.csv)"
	@echo "make golden     show how the results kept in tests/golden would change, and renew them"
	@echo "make map        write the map of the library in CONTRIBUTING.md, and the values in lib/CONSTANTS.md"
	@echo "make palette    write the colours of lib/whichbird/show/palette.py into style sheets and marks"
	@echo "make records    write what machines and journals read, from what the repository says: codemeta.json, data/croissant.json, codecheck.yml, paper/*.md"
	@echo "make release    check all that a release needs, and print the commands that publish it"
	@echo "make audit      compare the pinned packages with known weaknesses (needs the network)"
	@echo "make lint       check code and types (ruff, mypy); make format lays the code out"
	@echo "make mutants F=lib/whichbird/core/balance.py  change the module in N=20 places, one at a time, and see whether its tests notice (or a chapter)"
	@echo "make fuzz       run the property tests with random seeds for MINUTES=20, from SEED=<number> on, and count the examples"
	@echo "make floors     run the tests of the library with the oldest packages that it promises to work with, on Python 3.11"
	@echo "make newest PYTHON=python3.13                 run them with the newest packages there are, on any Python"
	@echo "make lock       write the three requirements*.lock: the pinned packages with their hashes (needs uv)"

.venv/.ready: requirements.txt lib/pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "Whichbird needs Python 3.11 or newer, and '$(PYTHON)' was not found; name yours with make PYTHON=<command>."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Whichbird needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) -c 'import platform; print(platform.python_version())'); name another with make PYTHON=<command>."; exit 1; }
	@echo "Setting up .venv with the packages of requirements.txt (a minute or less, once) ..."
	@# requirements.txt pins all that is needed, so nothing is left to resolve
	@$(PYTHON) -m venv --clear .venv
	@$(call TRY,--no-deps --require-hashes -r requirements.lock) || echo "requirements.lock does not fit this machine: packages are installed without comparing hashes."
	@$(call INSTALL,--no-deps -r requirements.txt)
	@touch $@

.venv/.lab .venv/.lint: .venv/.%: .venv/.ready requirements-%.txt
	@echo "Adding the packages of requirements-$*.txt ..."
	@$(call TRY,--no-deps --require-hashes -r requirements-$*.lock) || \
	  { echo "requirements-$*.lock does not fit this machine: packages are installed without comparing hashes."; $(call INSTALL,-r requirements-$*.txt); }
	@touch $@

book: .venv/.ready
	@$(BIN)/python book/execute.py
	@echo "Building the pages ..."
	@$(BIN)/python book/build.py
	@echo "The book is at _build/html/index.html"

pdf: book
	@echo "Printing the book (some minutes) ..."
	@$(BIN)/python book/pdf.py $(if $(CODE),--code)

page: .venv/.ready
	@test -n "$(P)" || { echo "Name the page: make page P=book/paper/2-background.md"; exit 1; }
	@$(BIN)/python book/execute.py "$(P)"
	@$(BIN)/python book/build.py "$(P)"

test: .venv/.ready
	@echo "Running the tests and every chapter ..."
	@$(BIN)/python -m pytest

check: .venv/.ready
	@test -n "$(F)" || { echo "Name a module or a file of tests: make check F=lib/whichbird/core/balance.py"; exit 1; }
	@$(BIN)/python tests/check.py "$(F)"

golden: .venv/.ready
	@$(BIN)/python tests/goldens.py

strict: .venv/.lab book
	@echo "Running the chapters once more, against the outputs that the book prints ..."
	@$(BIN)/python -m pytest -o addopts="--nbval-current-env --nbval-cell-timeout 300 -n 2 --dist loadfile -q --ignore=book/_ext" book
	@echo "Running chapters that have parameters on two other datasets ..."
	@$(BIN)/python book/vary.py --only zhen21,enes24
	@echo "Checking the pages ..."
	@$(BIN)/python -m pytest -o addopts="-q -n 2 --dist loadfile" tests/pages

map: .venv/.ready
	@$(BIN)/python tests/housemap.py
	@$(BIN)/python tests/constants.py

records: .venv/.ready
	@$(BIN)/python book/records.py
	@$(BIN)/python paper/make.py

release: .venv/.lint
	@$(BIN)/python paper/release.py

# pip-audit asks a public database for known weaknesses of the pinned packages. Whatever it cannot judge, the network included, fails.
audit: .venv/.ready
	@$(BIN)/python -m venv --clear .venv/audit
	@.venv/audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit || { echo "pip-audit could not be installed, so nothing was judged."; exit 1; }
	@.venv/audit/bin/python -m pip_audit --strict --disable-pip --require-hashes -r requirements.lock || \
	  { echo "The audit did not pass: a pinned package has a known weakness, or one could not be judged (the network is needed). The lines above say which."; exit 1; }

palette: .venv/.ready
	@$(BIN)/python book/palette.py

lint: .venv/.lint
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .
	@$(BIN)/python -m mypy

format: .venv/.lint
	@$(BIN)/python book/layout.py
	@$(BIN)/python -m ruff check --fix .
	@$(BIN)/python -m ruff format .

mutants: .venv/.ready
	@test -n "$(F)" || { echo "Name a module: make mutants F=lib/whichbird/core/balance.py [N=20] [SEED=1]"; exit 1; }
	@$(BIN)/python tests/mutants.py "$(F)" $(if $(N),--number $(N)) $(if $(SEED),--seed $(SEED))

fuzz: .venv/.ready
	@$(BIN)/python tests/fuzz.py $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

floors: .venv/.ready
	@$(BIN)/python tests/floors.py --python $(PYTHON)

newest: .venv/.ready
	@$(BIN)/python tests/floors.py --newest --python $(PYTHON)

lock: LOCK = uv pip compile --quiet --generate-hashes --no-annotate --python-version 3.11 --custom-compile-command "make lock"
lock:
	@test -n "$(UV)" || { echo "uv is needed: it finds the hashes of the pinned packages"; exit 1; }
	@$(LOCK) requirements.txt --no-deps --no-emit-package whichbird --output-file requirements.lock
	@for more in lint lab; do $(LOCK) requirements-$$more.txt --constraints requirements.lock --output-file requirements-$$more.lock || exit 1; done

lab: .venv/.lab
	@$(BIN)/python book/lab.py $(if $(FRESH),--fresh) $(if $(SOURCES),--sources) $(if $(DIR),--into "$(DIR)") -- $(LAB)

vary: .venv/.ready
	@echo "Running the chapters that have parameters on all datasets ..."
	@$(BIN)/python book/vary.py $(if $(ONLY),--only "$(ONLY)") $(if $(WRITE),--write) $(P)

exercises: .venv/.ready
	@echo "Making notebooks for students and teachers ..."
	@$(BIN)/python book/course/notebooks.py $(if $(CHECK),--check)

# nbgrader and Otter, to try out what book/course/export.py writes; some tests run them if they are there
.venv-course/.ready: requirements-course.txt
	@echo "Setting up .venv-course with nbgrader and Otter (a minute or more, once) ..."
	@$(PYTHON) -m venv --clear .venv-course
	@$(if $(UV),$(UV) pip install --quiet --python .venv-course/bin/python -r requirements-course.txt,.venv-course/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-course.txt)
	@touch $@

key: .venv/.ready
	@echo "Running the exercises that changed ..."
	@$(BIN)/python book/course/key.py $(if $(ALL),--all)

course: book
	@echo "Making the course kit ..."
	@$(BIN)/python book/course/kit.py

data: .venv/.ready
	@echo "Rebuilding data/ ..."
	@$(BIN)/python data/build.py $(if $(MTME),--mtme "$(MTME)",--download) $(if $(ONLY),--only "$(ONLY)") \
	  $(if $(TABLES),--tables "$(TABLES)") $(if $(HEEN),--heen "$(HEEN)")

bench: .venv/.ready
	@echo "Comparing costs in one run (ratios; seconds differ from machine to machine) ..."
	@$(BIN)/python -m bench

clean:
	rm -rf .venv .venv-course _build .pytest_cache .hypothesis .mypy_cache .ruff_cache lib/whichbird.egg-info lib/build lib/LICENSE lib/NOTICE
	find . -name __pycache__ -prune -exec rm -rf {} +
