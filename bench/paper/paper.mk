# The paper that APL comes from, run again: included by the Makefile.

PAPER_SRC := $(sort $(wildcard bench/paper/*.c))
PAPER     := $(OBJ)/bench/paper/paper

## paper: repeat the paper's experiments, with plots, in half an hour: TRIALS=5 SECONDS=10, CIFAR=archive or DB=store
TRIALS  ?= 5
SECONDS ?= 10
paper: setup
	+@BUILD='$(BUILD)' MAKE='$(MAKE)' CIFAR='$(CIFAR)' DB='$(DB)' sh bench/paper/run.sh --trials '$(TRIALS)' \
	    --seconds '$(SECONDS)' $(if $(STAGING),--staging '$(STAGING)') $(if $(PUBLISH),--publish '$(PUBLISH)')
benches: $(PAPER)
tests: $(if $(filter release,$(FLAVOUR)),$(PAPER)) # for check_paper.sh

$(PAPER): $(call objects,$(PAPER_SRC) $(NET_SRC)) $(OBJ)/insides.a
	$(say) LD $@
	$(Q)$(CC) -pie $(ALL_LDFLAGS) -o $@ $^ $(INGEST_LIBS) $(STORE_LIBS)

-include $(PAPER_SRC:%.c=$(OBJ)/%.d)

.PHONY: paper
