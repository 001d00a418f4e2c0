# The simulation of threads, time and reading: included by the Makefile. The reader is compiled separately, so that each of its basic blocks
# is a place to be preempted. What is linked calls tests/sim instead of POSIX, as tests/sim/wraps says.

SIM_FLAGS  := -fsanitize-coverage=trace-pc -include tests/sim/locals.h
SIM_SRC    := $(sort $(wildcard tests/sim/*.c))
SIM_READER := $(patsubst reader/%.c,$(OBJ)/tests/sim/reader/%.o,$(filter reader/%,$(STORE_SRC)))
SIMULATE   := $(OBJ)/tests/sim/simulate

## simulate: build the simulation of the reader (make check and make check-long run it)
simulate: $(SIMULATE)
stress: $(SIMULATE)

$(SIM_READER): $(OBJ)/tests/sim/reader/%.o: reader/%.c tests/sim/locals.h $(OBJ)/flags | $(NEEDS)
	$(say) CC "$< for the simulation"
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ISA) $(SIM_FLAGS) $(SEES_READER) -MMD -MP -c $< -o $@

$(SIMULATE): $(call objects,$(SIM_SRC)) $(SIM_READER) $(OBJ)/insides.a tests/sim/wraps
	$(say) LD $@
	$(Q)$(CC) -pie $(ALL_LDFLAGS) @tests/sim/wraps -o $@ $(filter %.o %.a,$^) $(INGEST_LIBS) $(STORE_LIBS)

# How long a search of the table of readers takes depends on what earlier seeds have left in it: each is one step, or a seed
# would not be replayed in the same way.
$(OBJ)/tests/sim/reader/handles.o: SIM_FLAGS := -include tests/sim/locals.h

# What simulates runs in all threads, and orders none of them: of it, the thread sanitizer watches only who reads batches.
$(filter-out %/values.o,$(call objects,$(SIM_SRC))): ISA := $(if $(filter tsan,$(FLAVOUR)),-fno-sanitize=thread -DSIM_TSAN)

-include $(SIM_SRC:%.c=$(OBJ)/%.d) $(SIM_READER:.o=.d)

.PHONY: simulate
