# Programs that make calls fail: included by the Makefile. Plain objects, whatever the flavour of what they test.

FAULT_DIR   := $(BUILD)/faults
FAULT_FLAGS := -std=c11 -O2 -g $(WARNINGS) -Wno-missing-prototypes
FAULT_LIB   := $(wildcard tests/faults/inject*.c)
FAULT_RUN   := $(addprefix tests/faults/,child.c subjects.c disk.c)
FAULT_TESTS := $(addprefix $(FAULT_DIR)/,sweep crash powercut)
FAULT_HEADS := $(wildcard tests/faults/*.h)

## faults: build the programs that test with faults (make check and make check-long run them)
faults: $(FAULT_DIR)/inject.so $(FAULT_DIR)/inject-io.so $(FAULT_TESTS) $(OUT)/epoch $(PROGRAMS) $(OUT)/mkshapes

$(FAULT_DIR)/inject.so $(FAULT_DIR)/inject-io.so: $(FAULT_LIB) $(FAULT_HEADS)
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -fPIC $(FAULT_FLAGS) $(if $(filter %-io.so,$@),-DWITHOUT_MEMORY) -o $@ $(FAULT_LIB) -ldl -pthread

$(FAULT_TESTS): $(FAULT_DIR)/%: tests/faults/%.c $(FAULT_RUN) $(FAULT_HEADS)
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(FAULT_FLAGS) -o $@ $< $(FAULT_RUN)

$(OBJ)/tests/faults/epoch.o: INCLUDES := -Iinclude
$(OUT)/epoch: $(OBJ)/tests/faults/epoch.o $(OUT)/libapldata.a
	$(say) LD $@
	$(Q)$(CC) -pie $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(STORE_LIBS)

-include $(OBJ)/tests/faults/epoch.d

.PHONY: faults
