# The verbs, the same for people and for CI. The work is in Python, so that it can be typed without make too:
# `python tools/bootstrap.py lab` is `make lab`.

# The first interpreter that runs and is new enough; else any, which says clearly what is wrong.
SUITABLE = import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
FOUND := $(shell for name in python3 python3.12 python3.13 python3.11 python; do \
	if $$name -c '$(SUITABLE)' >/dev/null 2>&1; then echo $$name; exit; fi; done; \
	command -v python3 || command -v python)
PYTHON ?= $(FOUND)
BOOTSTRAP = $(if $(PYTHON),$(PYTHON),$(error gpulab needs Python 3.11, 3.12 or 3.13, and found no Python at all; \
	install one from python.org or conda, or name it: make $@ PYTHON=/path/to/python3.12)) tools/bootstrap.py \
	$(if $(WHEELHOUSE),--wheelhouse "$(WHEELHOUSE)")

.PHONY: lab test test-rest test-all test-seldom bench bench-timing bench-grading fuzz mutants answer-mutants hip-api isa-index editor exercise notebooks check environment wheels constraints site clean help

help:  ## what there is
	@grep -E '^[a-z-]+:.*##' Makefile | sed 's/:.*##/\t/'

lab:  ## make the environment if it is not there, and open JupyterLab on your copy of the course (my-course)
	@$(BOOTSTRAP) lab

# -n: so many files at a time, the longest first (conftest.py): three keep two cores busy, as some often wait.
# tests/README.md says what stands in `full`.
PYTEST = $(BOOTSTRAP) --extra test -- python -m pytest -q --dist loadfile

test:  ## the tests of some minutes: the code, the course's answers, and every notebook but Triton's run again
	@$(PYTEST) -n 3 --nbval -m "not full" $(PYTEST_ARGS) tests notebooks solutions

test-rest:  ## what make test leaves, of long families a fifth: compiler levels, browser, nbgrader, packaging
	@$(PYTEST) -n 3 --nbval -m "full and not seldom" $(PYTEST_ARGS) tests notebooks/19_triton.ipynb solutions

test-all:  ## both in one run: both architectures, browser, nbgrader, packaging, three optimisation levels
	@$(PYTEST) -n 3 --nbval -m "not seldom" $(PYTEST_ARGS) tests notebooks solutions

test-seldom:  ## further members of long families, each of which asks much the same of another program or answer
	@$(PYTEST) -n 3 -m seldom $(PYTEST_ARGS) tests

bench:  ## the measures: start-up, latency, kernels beside the host, translation, memory
	@$(BOOTSTRAP) -- python bench/measures.py $(BENCH_ARGS)

bench-timing:  ## the modelled times beside public measurements: writes the table of docs/timing.md, the same everywhere
	@$(BOOTSTRAP) -- python bench/timing.py $(BENCH_ARGS)

bench-grading:  ## a class of 30 students and 10 exercises is graded: rate, memory, workers, kills, and what saturates first
	@$(BOOTSTRAP) --extra test -- python bench/grading.py $(BENCH_ARGS)

fuzz:  ## random programs against the host, and wrong inputs of each kind, for an hour: FUZZ_ARGS="SECONDS FIRST_SEED"
	@$(BOOTSTRAP) --extra test -- python -m tests.fuzz.run $(FUZZ_ARGS)

mutants:  ## change one place of the sources at a time, and ask whether a test sees it: MUTANTS="--count 200 --seed 7"
	@$(BOOTSTRAP) --extra test -- python tools/mutants.py $(MUTANTS)

answer-mutants:  ## change one place of a right answer at a time, and list what the check says: ANSWERS="--count 6 saxpy-guard"
	@$(BOOTSTRAP) --extra test -- python tools/answer_mutants.py $(ANSWERS)

hip-api:  ## what of HIP's documented device functions the headers have: writes HIP_API.md beside them
	@$(BOOTSTRAP) --extra test -- python tools/hip_api.py

isa-index:  ## the list of all instructions: writes INDEX.tsv beside their rows
	@$(BOOTSTRAP) -- python tools/isa_index.py

editor:  ## what the editor's extension knows of HIP and of the course: writes its words.json
	@$(BOOTSTRAP) -- python tools/editor_words.py

exercise:  ## begin a new exercise: make exercise NAME=my-exercise LESSON=06
	@$(BOOTSTRAP) -- python course/new.py "$(NAME)" "$(LESSON)"

notebooks:  ## build notebooks/, exercises/ and solutions/ from course/
	@$(BOOTSTRAP) -- python course/build.py

site:  ## the course as a website for reading: build/site/html/index.html
	@$(BOOTSTRAP) --extra site --no-setup -- python tools/website.py

check:  ## style, types, import directions, and the course's own consistency
	@$(BOOTSTRAP) --extra test -- python tools/check.py

wheels:  ## build the learner's and the instructor's wheel into dist/
	@$(BOOTSTRAP) -- python -m pip wheel --quiet --no-deps --wheel-dir dist . ./instructor

environment:  ## only the environment, with the packages for the tests
	@$(BOOTSTRAP) --extra test

constraints:  ## renew constraints.txt from the environment
	@$(BOOTSTRAP) --extra test -- python tools/constraints.py

clean:  ## remove what was built in the clone (not the user's cache folder: gpulab doctor names it)
	rm -rf .venv build dist instructor/build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis *.egg-info instructor/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
