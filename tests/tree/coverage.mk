# Coverage: included by the Makefile.

## coverage: run the unit tests, tell which branches they reach; fails below the targets of coverage.sh
coverage:
	+@$(MAKE) --no-print-directory FLAVOUR=coverage tests
	@BUILD='$(BUILD)' bash tests/tree/coverage.sh

.PHONY: coverage
