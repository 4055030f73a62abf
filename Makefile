# study       run the quick study and make results/report.html
# paper       run the study at the published scale (downloads data, hours)
# test        run all tests in parallel on all cores
# test-fast   run the fast tests
# slurm-test  run the quick study on a local Slurm and compare (Debian; installs Slurm if permitted)
# package-test  install the built package with several Pythons (PYTHONS="python3.12 ...") and run a study
# bench       time ours and other packages and compare with stored results; ARGS=--keep stores the new ones
# docs        build the documentation site, docs/_build/html/index.html
# pictures    make the pictures of the README from one run (needs Chromium)
# lint        check the style, spelling and types of the code
# baselines   add CatBoost, XGBoost and BOOMER to the environment
# lock        pin the newest versions of all dependencies
#
# Each target creates the environment .venv if it is missing or outdated. Needs Python 3.11 to 3.13, git and make.

SHELL := /bin/sh
unexport PYTHONDONTWRITEBYTECODE # otherwise hundreds of jobs would recompile the library
BIN := .venv/bin
ENVIRONMENT := .venv/installed
SNAKEMAKE := $(BIN)/snakemake --cores $(or $(CORES),all)
# Tests of a file run in one process, because they share expensive fixtures.
SIDE_BY_SIDE := --numprocesses $(or $(CORES),auto) --dist loadfile --no-loadscope-reorder

.PHONY: study paper test test-fast slurm-test package-test bench docs pictures lint baselines lock
.DEFAULT_GOAL := study

study: $(ENVIRONMENT)
	@$(BIN)/python -m fairfold study --cores $(or $(CORES),all)

paper: $(ENVIRONMENT)
	@$(SNAKEMAKE) --configfile config/paper.yaml
	@echo "The report is $(CURDIR)/results/report.html"

test: $(ENVIRONMENT)
	@$(BIN)/python -m pytest $(SIDE_BY_SIDE) $(ARGS)

test-fast: $(ENVIRONMENT)
	@$(BIN)/python -m pytest $(SIDE_BY_SIDE) --fast tests/contract tests/unit $(ARGS)

slurm-test: $(ENVIRONMENT)
	@sh tests/cluster/install.sh
	@FAIRFOLD_SLURM_STUDY=config/config.yaml $(BIN)/python -m pytest tests/workflow/test_slurm.py $(ARGS)

package-test: $(ENVIRONMENT)
	@FAIRFOLD_PYTHONS="$(or $(PYTHONS),python3.11 python3.12 python3.13)" $(BIN)/python -m pytest tests/workflow/test_package.py $(ARGS)

bench: $(ENVIRONMENT)
	@$(BIN)/python benchmarks/watch.py $(ARGS)

docs: $(ENVIRONMENT)
	@rm -rf docs/auto_gallery docs/reference/api # remove pages of deleted examples and names
	@MPLBACKEND=agg $(BIN)/python -m sphinx -q -W --keep-going docs docs/_build/html
	@echo "The site is $(CURDIR)/docs/_build/html/index.html"

pictures: $(ENVIRONMENT)
	@$(BIN)/python docs/pictures.py

lint: $(ENVIRONMENT)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/snakefmt --check Snakefile workflow
	@git ls-files -z | xargs -0 $(BIN)/codespell
	@$(BIN)/mypy

# The stamp is written last, so an interrupted installation is repeated.
$(ENVIRONMENT): envs/requirements.lock pyproject.toml
	@echo "Installing the locked packages into .venv (about a minute) ..."
	@rm -rf .venv
	@python=$$(sh envs/find-python.sh) && $$python -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r envs/requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

# BOOMER requires older versions of scikit-learn, NumPy and SciPy, so its dependencies are not resolved here.
baselines: $(ENVIRONMENT)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r envs/baselines.lock

COMPILE := .venv/uv/bin/uv pip compile pyproject.toml --upgrade --quiet --universal --python-version 3.11 \
	--fork-strategy fewest --generate-hashes --no-emit-index-url --no-header --no-annotate
lock: $(ENVIRONMENT)
	@rm -rf .venv/uv && $(BIN)/python -m venv .venv/uv && .venv/uv/bin/python -m pip install --quiet uv
	@$(COMPILE) --extra study --extra chemistry --extra explain --extra dev --extra docs -o envs/requirements.lock
	@$(COMPILE) --extra baselines --override envs/requirements.lock -o envs/baselines.lock
	@$(BIN)/python envs/follow_lock.py
