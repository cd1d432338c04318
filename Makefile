# Whichbird. Each target sets up .venv by itself; 'make' alone lists them.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
export OMP_NUM_THREADS ?= 2
export OPENBLAS_NUM_THREADS ?= 2

.PHONY: help book test strict lab exercises data bench clean
.DEFAULT_GOAL := help

help:
	@echo "make book       build the book as HTML in _build/html"
	@echo "make test       run all tests, every chapter included"
	@echo "make strict     build the book, rerun it against the outputs it prints, and check its pages in a browser if there is one"
	@echo "make lab        open the chapters as notebooks"
	@echo "make exercises  make student notebooks in _build/exercises: solutions cut out, checks left in (CHECK=1 tries them all out)"
	@echo "make data       rebuild data/ (MTME=<dir> names an unpacked mt-metrics-eval-v2 tree; else it is downloaded, 870 MB;"
	@echo "                ONLY=ende24,… and TABLES=errors,… make a part of it; HEEN=<file> is the table of heen23's errors)"
	@echo "make bench      print performance ratios (pip install gurobipy into .venv first to compare with Gurobi)"
	@echo "make clean      delete what the other targets made"

.venv/.ready: requirements.txt lib/pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "Whichbird needs Python 3.11 or newer, and '$(PYTHON)' was not found; name yours with make PYTHON=<command>."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Whichbird needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) -c 'import platform; print(platform.python_version())'); name another with make PYTHON=<command>."; exit 1; }
	@echo "Setting up .venv with the packages of requirements.txt (a minute or two, once) ..."
	@$(PYTHON) -m venv --clear .venv
	@$(PIP) -r requirements.txt > .venv/setup.log 2>&1 || { cat .venv/setup.log; exit 1; }
	@touch $@

.venv/.lab: .venv/.ready requirements-lab.txt
	@echo "Adding JupyterLab ..."
	@$(PIP) -r requirements-lab.txt > .venv/setup.log 2>&1 || { cat .venv/setup.log; exit 1; }
	@touch $@

book: .venv/.ready
	@echo "Building the book (every chapter runs) ..."
	@$(BIN)/jupyter-book build . -W -n --keep-going --quiet
	@echo "The book is at _build/html/index.html"

test: .venv/.ready
	@echo "Running the tests and every chapter ..."
	@$(BIN)/python -m pytest

strict: book
	@echo "Rerunning the built chapters against the outputs they print, and checking the pages ..."
	@$(BIN)/python -m pytest -o addopts="--nbval --nbval-current-env -n 2 --dist loadfile -q" _build/jupyter_execute
	@$(BIN)/python -m pytest -o addopts="-q" tests/pages

lab: .venv/.lab
	@echo "Opening the chapters; right-click a chapter and choose Open With, Notebook ..."
	@$(BIN)/jupyter lab book

exercises: .venv/.ready
	@echo "Making student notebooks ..."
	@$(BIN)/python book/exercises.py $(if $(CHECK),--check)

data: .venv/.ready
	@echo "Rebuilding data/ ..."
	@$(BIN)/python data/build.py $(if $(MTME),--mtme "$(MTME)",--download) $(if $(ONLY),--only "$(ONLY)") \
	  $(if $(TABLES),--tables "$(TABLES)") $(if $(HEEN),--heen "$(HEEN)")

bench: .venv/.ready
	@echo "Comparing costs in one run (ratios; seconds differ from machine to machine) ..."
	@$(BIN)/python -m bench

clean:
	rm -rf .venv _build .pytest_cache .hypothesis lib/whichbird.egg-info lib/build
	find . -name __pycache__ -prune -exec rm -rf {} +
