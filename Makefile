# APL: make builds, `make list` tells what else it can do.
CC       ?= gcc
CFLAGS   ?= -O2 -g
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wvla -Wpointer-arith -Wundef -Werror
BUILD    ?= build

STORE_PKGS  := lmdb libzstd libxxhash libcrypto
INGEST_PKGS := libarchive $(shell pkg-config --exists libisal && echo libisal) zlib
TOOLS_PKGS  := jansson libpng
PKG_CFLAGS  := $(shell pkg-config --cflags $(STORE_PKGS) $(INGEST_PKGS) $(TOOLS_PKGS))
ALL_CFLAGS  := -std=c11 -D_POSIX_C_SOURCE=200809L -fPIC -fvisibility=hidden -pthread $(WARNINGS) -Iinclude -Istore $(PKG_CFLAGS) \
               $(if $(shell pkg-config --exists libisal && echo y),-DHAVE_ISAL) -MMD -MP

STORE_SRC  := $(wildcard store/*.c)
INGEST_SRC := $(wildcard ingest/*.c)
ifneq ($(shell $(CC) -dumpmachine | grep -c '^x86_64'),1)
STORE_SRC  := $(filter-out %_avx2.c %_avx512.c,$(STORE_SRC))
endif
ifneq ($(shell $(CC) -dumpmachine | grep -c '^aarch64'),1)
STORE_SRC  := $(filter-out %_neon.c,$(STORE_SRC))
endif
STORE_OBJ  := $(STORE_SRC:%.c=$(BUILD)/%.o)
INGEST_OBJ := $(INGEST_SRC:%.c=$(BUILD)/%.o)

all: $(STORE_OBJ) $(INGEST_OBJ)

$(BUILD)/%_avx2.o: ALL_CFLAGS += -march=x86-64-v3
$(BUILD)/%_avx512.o: ALL_CFLAGS += -march=x86-64-v4 -mprefer-vector-width=512
$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CFLAGS) -c $< -o $@

clean:
	rm -rf $(BUILD)
.PHONY: all clean
-include $(STORE_OBJ:.o=.d) $(INGEST_OBJ:.o=.d)
