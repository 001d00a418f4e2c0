# Fuzzing: included by the Makefile. A target NAME is tests/fuzz/target_NAME.c, with a mutator where there is a
# mutate_NAME.c. The inputs that are kept are in corpus/NAME.tar.xz.

FUZZ_NAMES  := $(patsubst tests/fuzz/target_%.c,%,$(sort $(wildcard tests/fuzz/target_*.c)))
FUZZ_COMMON := $(addprefix tests/fuzz/,folder.c schemas.c small.c)
FUZZ_MUTATE := $(addprefix tests/fuzz/,repair.c entries.c)
FUZZ_LIB    := $(OBJ)/tests/fuzz/insides.a
# What fuzzers link with: another one, of plain objects, only to see that they can be built.
FUZZ_WITH   ?= $(FUZZ_LIB)
FUZZ_DIR    := $(BUILD)/fuzz
FUZZ_CC     ?= clang

REPLAYS      := $(FUZZ_NAMES:%=$(OBJ)/tests/fuzz/replay_%)
FUZZERS      := $(FUZZ_NAMES:%=$(OBJ)/tests/fuzz/fuzz_%)
FUZZ_CORPORA := $(FUZZ_NAMES:%=$(FUZZ_DIR)/corpus/%)

.PHONY: replays fuzzers fuzz

$(FUZZ_LIB): $(STORE_OBJ) $(INGEST_OBJ)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)$(AR) rcDT $@ $^

# Test inputs that were kept, unpacked.
$(FUZZ_CORPORA): $(FUZZ_DIR)/corpus/%: tests/fuzz/corpus/%.tar.xz
	@mkdir -p $@
	$(Q)tar -C $@ -xJf $<
	@touch $@

$(REPLAYS): $(OBJ)/tests/fuzz/replay_%: $(OBJ)/tests/fuzz/target_%.o \
            $(call objects,tests/fuzz/replay.c $(FUZZ_COMMON)) $(FUZZ_LIB)
	$(say) LD $@
	$(Q)$(CC) -pie $(TEST_LD) $(ALL_LDFLAGS) -o $@ $^ $(INGEST_LIBS) $(STORE_LIBS)

replays: $(REPLAYS) $(FUZZ_CORPORA)

# Only as part of `make fuzz`, which sets compiler and flags.
mutator = $(call objects,$(wildcard tests/fuzz/mutate_$(1).c))
.SECONDEXPANSION:
$(FUZZERS): $(OBJ)/tests/fuzz/fuzz_%: $(OBJ)/tests/fuzz/target_%.o $$(call mutator,$$*) \
            $(call objects,$(FUZZ_COMMON) $(FUZZ_MUTATE)) $(FUZZ_WITH)
	$(say) LD $@
	$(Q)$(CC) -pie $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(INGEST_LIBS) $(STORE_LIBS)

fuzzers: $(FUZZERS)

## fuzz: run each fuzz target for SECONDS (60), or those in TARGETS; needs clang
fuzz: $(if $(TARGETS),$(TARGETS:%=$(FUZZ_DIR)/corpus/%),$(FUZZ_CORPORA))
	+$(Q)$(MAKE) --no-print-directory BUILD=$(FUZZ_DIR)/clang CC=$(FUZZ_CC) FLAVOUR=release \
	    CFLAGS='-O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all' \
	    CPPFLAGS='-U_FORTIFY_SOURCE' WERROR= $(addprefix $(FUZZ_DIR)/clang/release/tests/fuzz/fuzz_,$(or $(TARGETS),$(FUZZ_NAMES)))
	@sh tests/fuzz/fuzz.sh $(FUZZ_DIR) $(or $(SECONDS),60) $(or $(TARGETS),$(FUZZ_NAMES))

# Writes the first inputs of the targets; for when a format has changed.
$(OBJ)/tests/fuzz/seeds: $(call objects,tests/fuzz/seeds.c $(FUZZ_COMMON)) $(FUZZ_LIB)
	$(say) LD $@
	$(Q)$(CC) -pie $(ALL_LDFLAGS) -o $@ $^ $(INGEST_LIBS) $(STORE_LIBS)

-include $(wildcard $(OBJ)/tests/fuzz/*.d)
