# Static analysis: included by the Makefile. Tools that are not installed are said to be skipped.

LINT_DIRS    := $(STORE_ROOMS) $(READER_ROOMS) $(INGEST_ROOMS) tools tools/lib audit view python/core python/ingest
LINT_SRC     := $(call sources,$(LINT_DIRS))
# Python is asked when something is analysed, once.
LINT_INCLUDE  = $(eval LINT_INCLUDE := $$(SEES_ALL) $$(patsubst %,-I%,tools/lib tools audit view python/core) \
                $$(patsubst -I%,-isystem %,$$(shell $$(PYTHON)-config --includes 2>/dev/null)))$(LINT_INCLUDE)
LINT_PYTHON  := $(wildcard *.py $(foreach d,python python/* tests tests/* tests/*/* bench bench/* examples examples/* docs/site,$(d)/*.py))
LINT_FLAGS   := -std=c11 -D_POSIX_C_SOURCE=200809L $(DEFINES)
LINT_OUT     := $(BUILD)/lint

# One file with one tool, so that `make -j` shares them out.
TIDY_STAMPS     := $(LINT_SRC:%.c=$(LINT_OUT)/%.tidy)
ANALYSER_STAMPS := $(LINT_SRC:%.c=$(LINT_OUT)/%.analysed)
have             = $(shell command -v $(1) 2>/dev/null)
GCC             ?= gcc
# The form of the tree is that of version 14; some distributions install it under its number alone.
CLANG_FORMAT    ?= $(firstword $(call have,clang-format-14) $(call have,clang-format))
analysing       := $(shell echo 'int x;' | $(GCC) -fanalyzer -fsyntax-only -x c - 2>/dev/null && \
                           $(GCC) -dumpversion | awk '$$1 >= 12 { print "yes" }')

# Only status.c sees what fail() does; the analysers are told (see analysis.h).
knows = $(if $(filter store/base/status.c,$(1)),,$(if $(filter store/% reader/% serve/% ingest/%,$(1)),-D_GNU_SOURCE= -include tests/tree/analysis.h))
# Kernels multiply small counters that the compiler unrolls.
kernel = $(if $(filter %_avx2.c %_avx512.c %_scalar.c %_base.c,$(1)),--checks=-bugprone-implicit-widening-of-multiplication-result)
isa   = $(if $(filter %_avx2.c,$(1)),-march=x86-64-v3,$(if $(filter %_avx512.c,$(1)),-march=x86-64-v4))

$(TIDY_STAMPS): $(LINT_OUT)/%.tidy: %.c .clang-tidy tests/tree/analysis.h
	@mkdir -p $(@D)
	$(say) TIDY $<
	$(Q)nice -n 10 clang-tidy --quiet $(call kernel,$<) $< -- $(LINT_FLAGS) $(call knows,$<) $(call isa,$<) $(LINT_INCLUDE) 2>$@.log >$@.said; \
	    code=$$?; cat $@.said; [ $$code -eq 0 ] || cat $@.log >&2; exit $$code
	@touch $@

# gcc 12 loses sight of memory that a structure owns, of loops that fill an array, and of conditions that one function keeps for another:
# it reports leaks, uninitialised values and NULL that do not exist. clang's analyser looks for these, and so do the sanitizers
# and test_failing_*, which counts blocks.
ANALYSER_EXCEPT := $(addprefix -Wno-analyzer-,malloc-leak use-of-uninitialized-value null-dereference null-argument)

$(ANALYSER_STAMPS): $(LINT_OUT)/%.analysed: %.c tests/tree/analysis.h
	@mkdir -p $(@D)
	$(say) ANALYSE $<
	$(Q)nice -n 10 $(GCC) -O1 -fanalyzer $(ANALYSER_EXCEPT) -Werror $(LINT_FLAGS) $(call knows,$<) $(call isa,$<) \
	    $(LINT_INCLUDE) -c $< -o $@.o
	@rm -f $@.o
	@touch $@

## lint: what clang-format, clang-tidy, cppcheck, gcc's analyser, ruff and mypy have to say, where they are installed
lint: lint-format lint-cppcheck lint-tidy lint-analyser lint-python

lint-format:
	@$(if $(CLANG_FORMAT),$(CLANG_FORMAT) --dry-run --Werror $(C_FILES),echo 'skipped clang-format (not installed)')

lint-tidy: $(if $(call have,clang-tidy),$(TIDY_STAMPS))
	@$(if $(call have,clang-tidy),,echo 'skipped clang-tidy (not installed)')

lint-analyser: $(if $(analysing),$(ANALYSER_STAMPS))
	@$(if $(analysing),,echo 'skipped gcc -fanalyzer (no gcc of version 12 or later)')

# It does not follow a pointer into a function of another file, takes the macros of Python for plain text, and fails
# to parse an address of a literal in an argument. Both compilers look for what the first two look for.
CPPCHECK_EXCEPT := uninitvar legacyUninitvar missingReturn internalAstError

# It has no Python headers: what their macros open and close is stated here.
CPPCHECK_PYTHON := -D'Py_BEGIN_ALLOW_THREADS={' -D'Py_END_ALLOW_THREADS=}'

lint-cppcheck:
	@$(if $(call have,cppcheck),nice -n 10 cppcheck --quiet --std=c11 --error-exitcode=1 --inline-suppr \
	    --enable=warning$(comma)performance$(comma)portability $(CPPCHECK_EXCEPT:%=--suppress=%) $(DEFINES) $(CPPCHECK_PYTHON) \
	    $(filter-out -isystem %,$(filter -I%,$(LINT_INCLUDE))) $(LINT_SRC),echo 'skipped cppcheck (not installed)')

comma := ,
# The frameworks that the package can serve need not be there.
lint-python:
	@$(if $(call have,ruff),ruff check --no-cache --quiet --ignore B905 $(LINT_PYTHON),echo 'skipped ruff (not installed)')
	@$(if $(call have,mypy),mypy --ignore-missing-imports --cache-dir=$(LINT_OUT)/mypy --no-error-summary python/apldata,echo 'skipped mypy (not installed)')

.PHONY: lint lint-format lint-tidy lint-analyser lint-cppcheck lint-python
