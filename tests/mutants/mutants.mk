# Planted bugs, and the tests that find them: included by the Makefile.

## mutants: which of the bugs listed in tests/mutants do the tests find? An hour; goes on where it was (ARGS=--update for docs/RELIABILITY.md)
mutants:
	+@$(MAKE) -s all tests
	+@BUILD='$(BUILD)' MAKE='$(MAKE)' nice -n 19 python3 tests/mutants/mutants.py $(ARGS)

.PHONY: mutants
