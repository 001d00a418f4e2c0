# APL: `make` builds, `make list` lists all targets.

CC         ?= cc
CXX        ?= c++
AR         ?= ar
PKG_CONFIG ?= pkg-config
CFLAGS     ?= -O2 -g
WERROR     ?= -Werror
BUILD      ?= build
# release, asan (with UBSan), tsan or coverage: each has objects of its own.
FLAVOUR    ?= release

PREFIX     ?= /usr/local
BINDIR     ?= $(PREFIX)/bin
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR     ?= $(PREFIX)/share/man

OBJCOPY ?= $(shell $(CC) -print-prog-name=objcopy)

VERSION := $(shell sed -n 's/^.define APL_VERSION_STRING "\(.*\)"/\1/p' include/apl.h)
SOMAJOR := $(firstword $(subst ., ,$(VERSION)))
MACHINE := $(shell $(CC) -dumpmachine)

# --------------------------------------------------------------------------------------------- libraries

STORE_PKGS  := lmdb libzstd libcrypto libjpeg
INGEST_PKGS := libarchive zlib jansson
TOOLS_PKGS  := jansson libpng
found       := $(shell for p in libxxhash $(STORE_PKGS) $(INGEST_PKGS) $(TOOLS_PKGS) libisal criterion; do \
                           $(PKG_CONFIG) --exists $$p 2>/dev/null && echo $$p; done)
MISSING     := $(filter-out $(found),libxxhash $(STORE_PKGS) $(INGEST_PKGS) $(TOOLS_PKGS))

# ISA-L inflates two to three times as fast as zlib; `make ISAL=` builds without it.
ISAL ?= $(filter libisal,$(found))
ifneq ($(ISAL),)
INGEST_PKGS += libisal
DEFINES     += -DHAVE_ISAL
endif

hash := \#

# What decodes images other than JPEG at ingest; `make WEBP= TIFF= GIF=` builds without.
header_here = $(shell printf '$(hash)if !__has_include(<$(1)>)\n$(hash)error\n$(hash)endif\n' | \
                      $(CC) $(CPPFLAGS) -x c -E - >/dev/null 2>&1 && echo $(1))
WEBP ?= $(shell $(PKG_CONFIG) --exists libwebp 2>/dev/null && echo libwebp)
TIFF ?= $(shell $(PKG_CONFIG) --exists 'libtiff-4 >= 4.5' 2>/dev/null && echo libtiff-4)
GIF  ?= $(call header_here,gif_lib.h)
# What cuts CSV and TSV into cells; `make CSV=` builds without.
CSV  ?= $(call header_here,csv.h)
$(foreach v,WEBP TIFF GIF CSV,$(eval $v := $($v))) # pkg-config and the compiler are asked once
IMAGE_PKGS    := libpng $(if $(WEBP),libwebp) $(if $(TIFF),libtiff-4)
IMAGE_DEFINES := $(if $(WEBP),-DHAVE_WEBP) $(if $(TIFF),-DHAVE_TIFF) \
                 $(if $(GIF),-DHAVE_GIF) $(shell $(PKG_CONFIG) --cflags $(IMAGE_PKGS) 2>/dev/null)

# Reading URLs; `make CURL=` builds without. Only the header is needed: the library is loaded when a URL is read.
CURL ?= $(call header_here,curl/curl.h)
CURL := $(CURL)

# `apldata audit` takes its distribution functions from Boost.Math; `make BOOST=` builds without it.
BOOST ?= $(shell printf '$(hash)if !__has_include(<boost/math/distributions/chi_squared.hpp>)\n$(hash)error\n$(hash)endif\n' | \
                 $(CXX) $(CPPFLAGS) -x c++ -E - >/dev/null 2>&1 && echo boost)
BOOST := $(BOOST)
DEFINES += $(if $(BOOST),-DHAVE_AUDIT)

pkg_libs = $(shell $(PKG_CONFIG) --libs $(filter $(found),$(1)) 2>/dev/null)
STORE_LIBS  := $(call pkg_libs,$(STORE_PKGS)) -lm -ldl
INGEST_LIBS := $(call pkg_libs,$(INGEST_PKGS)) $(shell $(PKG_CONFIG) --libs $(IMAGE_PKGS) 2>/dev/null) $(if $(GIF),-lgif) $(if $(CSV),-lcsv)
TOOLS_LIBS  := $(call pkg_libs,$(TOOLS_PKGS))
TEST_LIBS   := $(call pkg_libs,criterion)
PKG_CFLAGS  := $(shell $(PKG_CONFIG) --cflags $(found) 2>/dev/null)

# ------------------------------------------------------------------------------------------------- flags

FLAVOUR_asan     := -Og -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FLAVOUR_tsan     := -Og -g1 -fsanitize=thread
FLAVOUR_coverage := -O0 -g --coverage
FLAVOUR_FLAGS    := $(if $(filter release,$(FLAVOUR)),$(CFLAGS),$(FLAVOUR_$(FLAVOUR)))
ifeq ($(filter release asan tsan coverage,$(FLAVOUR)),)
$(error FLAVOUR is one of release, asan, tsan and coverage)
endif

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wvla -Wpointer-arith \
            -Wundef $(WERROR)
HARDEN   := -fstack-protector-strong
ifeq ($(FLAVOUR),release)
# Fortified functions need optimisation.
HARDEN   += $(if $(filter-out -O0,$(filter -O%,$(CFLAGS))),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif
# Products are rounded before sums are taken, by every compiler, so that every machine draws the same.
BASE_CFLAGS := -std=c11 -ffp-contract=off -D_POSIX_C_SOURCE=200809L -fPIC -fvisibility=hidden -pthread $(WARNINGS)
ALL_CFLAGS := $(BASE_CFLAGS) $(HARDEN) $(DEFINES) $(PKG_CFLAGS) $(CPPFLAGS) $(FLAVOUR_FLAGS)
PLAIN_CFLAGS := $(BASE_CFLAGS) $(DEFINES) $(PKG_CFLAGS) $(CPPFLAGS) -O0 -g1 -U_FORTIFY_SOURCE
# --coverage and -fsanitize are wanted by the linker too.
ALL_LDFLAGS := -pthread -Wl,-z,relro,-z,now -Wl,--as-needed $(FLAVOUR_FLAGS) $(LDFLAGS)

# ----------------------------------------------------------------------------------------------- sources

# Kernels carry the instruction set they are written for in their names.
other_isa := $(if $(filter x86_64%,$(MACHINE)),,%_avx2.c %_avx512.c) $(if $(filter aarch64%,$(MACHINE)),,%_neon.c)
sources    = $(filter-out $(other_isa),$(sort $(wildcard $(1:%=%/*.c))))

# The rooms: each folder's README.md says what belongs there. See CONTRIBUTING.md.
STORE_ROOMS  := store store/base store/codec store/jpeg store/remote store/split
READER_ROOMS := reader reader/order reader/image reader/photo reader/effects reader/collate reader/memory reader/spec reader/watch serve
INGEST_ROOMS := ingest ingest/images ingest/formats

STORE_SRC  := $(call sources,$(STORE_ROOMS) $(READER_ROOMS))
INGEST_SRC := $(call sources,$(INGEST_ROOMS))
TOOLS_SRC  := $(call sources,tools tools/lib) $(filter audit/cmd_% view/cmd_%,$(call sources,audit view))
AUDIT_SRC  := $(filter-out audit/cmd_% view/cmd_%,$(call sources,audit view))
# Tests lie in rooms like what they test; their programs beside each other, in $(OBJ)/tests/.
TEST_SRC   := $(sort $(wildcard tests/*/test_*.c tests/*/*/test_*.c))
TEST_ROOMS := tests $(patsubst %/,%,$(sort $(dir $(TEST_SRC))))
STRESS_SRC := $(sort $(wildcard tests/stress/*.c))
SHAPES_SRC := $(sort $(wildcard tests/shapes/*.c))
ifeq ($(BOOST),)
# What is left without statistics: apldata check.
TOOLS_SRC  := $(filter-out audit/cmd_audit%,$(TOOLS_SRC))
AUDIT_SRC  := $(filter $(foreach f,check digest inputs judge looks near overlaps repeats siblings image_hash split_groups store_splits,audit/$(f).c) view/%,$(AUDIT_SRC))
TEST_SRC   := $(filter-out tests/audit/%,$(TEST_SRC))
endif
BENCH_SRC  := $(sort $(wildcard bench/*.c))
EXAMPLE_SRC := $(sort $(wildcard examples/*.c))
NET_SRC    := $(filter-out %/read.c %/minimal.c %/resume.c %/write.c %/train.c,$(EXAMPLE_SRC))

# What libaplingest keeps copies of, so that libapldata exports its public calls only.
BOTTOM_SRC := $(filter $(foreach f,status sized hash cpu xxh3_% parallel quota part_name plain_number utf8 warnings whole,store/base/$(f).c) \
                       $(foreach f,jpeg jpeg_check jpeg_header jpeg_whole exif,reader/photo/$(f).c) store/jpeg/huffman.c \
                       $(filter store/jpeg/stream% store/jpeg/progressive% store/jpeg/blocks%,$(STORE_SRC)) \
                       $(filter reader/photo/resample%,$(STORE_SRC)),$(STORE_SRC))
INGEST_CMD_SRC := $(filter tools/aplingest%,$(TOOLS_SRC))
COMMON_SRC := $(filter tools/lib/%,$(TOOLS_SRC))
CMD_SRC    := $(filter-out $(INGEST_CMD_SRC) $(COMMON_SRC),$(TOOLS_SRC))

OBJ := $(BUILD)/$(FLAVOUR)
OUT := $(if $(filter release,$(FLAVOUR)),$(BUILD),$(OBJ))
objects = $(1:%.c=$(OBJ)/%.o)
PLAIN := $(BUILD)/plain

STORE_OBJ  := $(call objects,$(STORE_SRC))
INGEST_OBJ := $(call objects,$(INGEST_SRC))
TOOLS_OBJ  := $(call objects,$(TOOLS_SRC))
AUDIT_OBJ  := $(call objects,$(AUDIT_SRC)) $(if $(BOOST),$(OBJ)/audit/distributions.o)
ALL_SRC    := $(STORE_SRC) $(INGEST_SRC) $(TOOLS_SRC) $(AUDIT_SRC) $(STRESS_SRC) $(BENCH_SRC) $(SHAPES_SRC) \
              $(EXAMPLE_SRC)

PROGRAMS := $(foreach p,aplingest apldata,$(if $(wildcard tools/$(p).c),$(OUT)/$(p)))
STATIC   := $(OUT)/libapldata.a $(OUT)/libaplingest.a
SHARED   := $(OUT)/libapldata.so.$(VERSION) $(OUT)/libaplingest.so.$(VERSION)
PCFILES  := $(OUT)/apldata.pc $(OUT)/aplingest.pc
TESTS    := $(patsubst %.c,$(OBJ)/tests/%,$(notdir $(TEST_SRC)))
STRESS   := $(STRESS_SRC:tests/%.c=$(OBJ)/tests/%)
BENCHES  := $(BENCH_SRC:%.c=$(OBJ)/%)
EXAMPLES := $(foreach p,read minimal resume write train,$(OUT)/examples/$(p))

Q   := $(if $(V),,@)
say  = $(if $(V),@:,@printf '  %-8s %s\n')

# ------------------------------------------------------------------------------------------------- build

## all: the libraries and the commands, in build/ (this is what `make` does)
all: $(PROGRAMS) $(STATIC) $(if $(filter release,$(FLAVOUR)),$(SHARED))

## objs: compile everything, link nothing
objs: $(STORE_OBJ) $(INGEST_OBJ) $(TOOLS_OBJ) $(AUDIT_OBJ)

# Examples are for the machine that they are built on.
NATIVE         := $(shell $(CC) -march=native -E -x c /dev/null >/dev/null 2>&1 && echo -march=native)
EXAMPLE_CFLAGS ?= -O3 -ffp-contract=fast $(NATIVE)

## examples: build the programs in examples/
examples: $(EXAMPLES)

.PHONY: all examples objs test tests stress benches bench-peers bench-bins reliability check check-long soak check-frameworks python wheel wheels deb dist demo setup setup-test bench install uninstall format \
        clean list help missing FORCE
.DELETE_ON_ERROR:
# Kept, though only a pattern names them. Not all files: a header that is gone would rebuild nothing.
.SECONDARY: $(TEST_SRC:%.c=$(PLAIN)/%.o)

ifneq ($(MISSING),)
missing:
	@sh tools/setup.sh --tell build
NEEDS := missing
endif

# Objects are rebuilt when the compiler or its flags change; those for warnings change no object. Which decoders there are
# concerns ingest alone.
$(OBJ)/flags:          FLAGS = $(CC) $(MACHINE) $(filter-out $(WARNINGS),$(ALL_CFLAGS))
$(PLAIN)/flags:        FLAGS = $(CC) $(MACHINE) $(filter-out $(WARNINGS),$(PLAIN_CFLAGS))
$(OBJ)/flags-decoders: FLAGS = $(IMAGE_DEFINES) $(if $(CSV),-DHAVE_CSV)
$(OBJ)/flags $(PLAIN)/flags $(OBJ)/flags-decoders: FORCE
	@mkdir -p $(@D)
	@echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' > $@
$(INGEST_OBJ): $(OBJ)/flags-decoders

# Includes point down only: base <- remote <- store, base <- codec <- jpeg <- store <- split <- order <- memory <- spec <- collate <- reader, base <- image <- spec and jpeg <- photo <- spec,
# image and photo <- effects <- spec, base <- watch <- collate, reader <- serve;
# ingest sees the base, the decoder of images, and what is installed; tools/lib sees what is installed, and nothing else;
# tools, and the commands of audit and view, see tools/lib too.
SEES_BASE    := -Iinclude -Istore/base
SEES_CODEC   := $(SEES_BASE) -Istore/codec
SEES_JPEG    := $(SEES_CODEC) -Istore/jpeg
SEES_REMOTE  := $(SEES_BASE) -Istore/remote
SEES_STORE   := $(SEES_JPEG) -Istore/remote -Istore
SEES_SPLIT   := $(SEES_STORE) -Istore/split
SEES_ORDER   := $(SEES_SPLIT) -Ireader/order
SEES_IMAGE   := $(SEES_BASE) -Ireader/image
SEES_PHOTO   := $(SEES_BASE) -Istore/jpeg -Ireader/photo
SEES_EFFECTS := $(SEES_PHOTO) -Ireader/image -Ireader/effects
SEES_MEMORY  := $(SEES_ORDER) -Ireader/memory
SEES_WATCH   := $(SEES_BASE) -Ireader/watch
SEES_SPEC    := $(SEES_MEMORY) -Ireader/image -Ireader/photo -Ireader/effects -Ireader/spec
SEES_COLLATE := $(SEES_SPEC) -Ireader/watch -Ireader/collate
SEES_READER  := $(SEES_COLLATE) -Ireader
SEES_SERVE   := $(SEES_READER) -Iserve
SEES_IMAGES  := $(SEES_PHOTO) -Iingest/images
SEES_FORMATS := $(SEES_IMAGES) -Iingest/formats
SEES_INGEST  := $(SEES_FORMATS) -Iingest
# What benchmarks see, and what tests do: all rooms, and helpers of each other.
SEES_ALL     := $(SEES_SERVE) -Iingest/images -Iingest/formats -Iingest
SEES_TESTS   := $(SEES_ALL) -Iaudit -Iview $(TEST_ROOMS:%=-I%)

# For scripts that compile a file by themselves.
sees-%:
	@echo $(SEES_$*)

$(OBJ)/store/%.o:          INCLUDES := $(SEES_STORE)
$(OBJ)/store/base/%.o:     INCLUDES := $(SEES_BASE)
$(OBJ)/store/codec/%.o:    INCLUDES := $(SEES_CODEC)
$(OBJ)/store/jpeg/%.o:     INCLUDES := $(SEES_JPEG)
$(OBJ)/store/remote/%.o:   INCLUDES := $(SEES_REMOTE) $(if $(CURL),-DHAVE_CURL)
$(OBJ)/store/split/%.o:    INCLUDES := $(SEES_SPLIT)
$(OBJ)/reader/%.o:         INCLUDES := $(SEES_READER)
$(OBJ)/reader/order/%.o:   INCLUDES := $(SEES_ORDER)
$(OBJ)/reader/image/%.o:   INCLUDES := $(SEES_IMAGE)
$(OBJ)/reader/photo/%.o:   INCLUDES := $(SEES_PHOTO)
$(OBJ)/reader/effects/%.o: INCLUDES := $(SEES_EFFECTS)
$(OBJ)/reader/memory/%.o:  INCLUDES := $(SEES_MEMORY)
$(OBJ)/reader/collate/%.o: INCLUDES := $(SEES_COLLATE)
$(OBJ)/reader/spec/%.o:    INCLUDES := $(SEES_SPEC)
$(OBJ)/reader/watch/%.o:   INCLUDES := $(SEES_WATCH)
$(OBJ)/serve/%.o:          INCLUDES := $(SEES_SERVE)
$(OBJ)/ingest/%.o:         INCLUDES := $(SEES_INGEST)
$(OBJ)/ingest/images/%.o:  INCLUDES := $(SEES_IMAGES) $(IMAGE_DEFINES)
$(OBJ)/ingest/formats/%.o: INCLUDES := $(SEES_FORMATS) $(if $(CSV),-DHAVE_CSV)
$(OBJ)/tools/%.o:          INCLUDES := -Iinclude -Itools/lib -Itools
$(OBJ)/tools/lib/%.o:      INCLUDES := -Iinclude -Itools/lib
$(OBJ)/audit/%.o:          INCLUDES := -Iinclude -Iaudit
$(OBJ)/audit/cmd_%.o:      INCLUDES := -Iinclude -Itools/lib -Iaudit
$(OBJ)/view/%.o:           INCLUDES := -Iinclude -Iview
$(OBJ)/view/cmd_%.o:       INCLUDES := -Iinclude -Itools/lib -Iaudit -Iview
$(OBJ)/tests/shapes/%.o:   INCLUDES :=
$(OBJ)/tests/%.o:          INCLUDES := $(SEES_TESTS)
$(OBJ)/examples/%.o:       INCLUDES := -Iinclude
$(OBJ)/bench/%.o:          INCLUDES := $(SEES_ALL) -Ibench

$(OBJ)/examples/%.o: ISA := $(EXAMPLE_CFLAGS)
# With a sanitizer -Og compiles in two thirds of the time; kernels, where tests spend theirs, are optimised, and
# so is xxHash, which does not compile otherwise.
optimised := $(if $(filter asan tsan,$(FLAVOUR)),-O1)
$(OBJ)/%_avx2.o:   ISA := -march=x86-64-v3 $(optimised)
$(OBJ)/%_avx512.o: ISA := -march=x86-64-v4 $(optimised)
$(OBJ)/%_scalar.o $(OBJ)/%_base.o $(OBJ)/audit/digest.o: ISA := $(optimised)

$(OBJ)/%.o: %.c $(OBJ)/flags | $(NEEDS)
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ISA) $(INCLUDES) -MMD -MP -c $< -o $@

# Unit tests are compiled once for all flavours, which watch what is tested; and run for less time than it takes to optimise them.
$(PLAIN)/tests/%.o: tests/%.c $(PLAIN)/flags | $(NEEDS)
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN_CFLAGS) $(SEES_TESTS) -MMD -MP -c $< -o $@

# Pages, with styles and scripts put in, as lines of C.
PAGE_HTML  := tools/lib/page/page.html
PAGE_STYLE := tools/lib/page/style.css
PAGE_CHART := tools/lib/page/chart.js
$(OBJ)/audit/page_lines.c: PAGE := audit_page_lines $(PAGE_HTML) $(PAGE_STYLE) $(PAGE_CHART) audit/page/draw.js
$(OBJ)/view/page_lines.c:  PAGE := view_page_lines $(PAGE_HTML) $(PAGE_STYLE) view/page/view.css $(PAGE_CHART) $(sort $(wildcard view/page/*.js))
$(OBJ)/%/page_lines.c: $(PAGE_HTML) $(PAGE_STYLE) $(PAGE_CHART) $(wildcard */page/*) tools/lib/page.sh Makefile
	$(say) PAGE $@
	@mkdir -p $(@D)
	$(Q)sh tools/lib/page.sh $(PAGE) >$@

$(OBJ)/%/page_lines.o: $(OBJ)/%/page_lines.c $(OBJ)/flags
	$(say) CC $<
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@

# Without exceptions, which C could not catch.
$(OBJ)/%.o: %.cpp $(OBJ)/flags | $(NEEDS)
	$(say) CXX $<
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++14 -O2 -fPIC -fno-exceptions -fno-rtti -fvisibility=hidden -Wall -Wextra $(WERROR) $(CPPFLAGS) $(FLAVOUR_FLAGS) \
	    $(INCLUDES) -MMD -MP -c $< -o $@

# A static library is one object in which only the exported names are left to see, so that hidden ones never
# clash with the program's or with the other library's.
$(OUT)/libapldata.a:   $(STORE_OBJ) store/apldata.map
$(OUT)/libaplingest.a: $(INGEST_OBJ) $(call objects,$(BOTTOM_SRC)) ingest/aplingest.map
$(STATIC):
	$(say) AR $@
	@mkdir -p $(@D)
	$(Q)sed -n 's/^ *\(apl_[a-z0-9_]*\);$$/\1/p' $(filter %.map,$^) > $@.exports
	$(Q)$(CC) -r -nostdlib -o $@.o $(filter %.o,$^)
	$(Q)$(OBJCOPY) --keep-global-symbols=$@.exports $@.o
	@rm -f $@
	$(Q)$(AR) rcD $@ $@.o
	@rm -f $@.o $@.exports

so_link = $(CC) -shared -Wl,-soname,$(notdir $(basename $(basename $@))) -Wl,--version-script=$(filter %.map,$^) \
          -Wl,-z,defs $(ALL_LDFLAGS) -o $@ $(filter %.o,$^)
# libaplingest finds libapldata beside it, wherever a tree is installed. Debian, whose loader knows the place, wants none of it.
SIBLING ?= -Wl,-rpath,'$$ORIGIN'
so_names = ln -sf $(notdir $@) $(basename $(basename $@)) && \
           ln -sf $(notdir $@) $(basename $(basename $(basename $@)))

$(OUT)/libapldata.so.$(VERSION): $(STORE_OBJ) store/apldata.map
	$(say) LD $@
	$(Q)$(so_link) $(STORE_LIBS)
	$(Q)$(so_names)

$(OUT)/libaplingest.so.$(VERSION): $(INGEST_OBJ) $(call objects,$(BOTTOM_SRC)) ingest/aplingest.map \
                                   | $(OUT)/libapldata.so.$(VERSION)
	$(say) LD $@
	$(Q)$(so_link) $(SIBLING) -L$(OUT) -lapldata $(INGEST_LIBS) $(call pkg_libs,libcrypto) $(call pkg_libs,libjpeg)
	$(Q)$(so_names)

# The commands carry the libraries in them: they run from where they are built.
$(OUT)/aplingest: $(call objects,$(INGEST_CMD_SRC) $(COMMON_SRC)) $(OUT)/libaplingest.a $(OUT)/libapldata.a
$(OUT)/apldata:   $(call objects,$(CMD_SRC) $(COMMON_SRC)) \
                  $(AUDIT_OBJ) $(OBJ)/view/page_lines.o $(if $(BOOST),$(OBJ)/audit/page_lines.o) $(OUT)/libapldata.a
$(OUT)/apldata: TOOLS_LIBS += $(if $(BOOST),-lstdc++)
# With COMMAND_LIBS, shared libraries, they carry none; so they do in a wheel, where the extensions use the same.
$(OUT)/aplingest $(OUT)/apldata:
	$(say) LD $@
	$(Q)$(CC) -pie $(ALL_LDFLAGS) -o $@ $(if $(COMMAND_LIBS),$(filter %.o,$^) $(COMMAND_LIBS),$^) $(if $(filter %/aplingest,$@),$(INGEST_LIBS)) $(STORE_LIBS) $(TOOLS_LIBS)

$(OUT)/examples/train: $(call objects,$(NET_SRC))
$(EXAMPLES): $(OUT)/examples/%: $(OBJ)/examples/%.o $(OUT)/libapldata.a
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) -pie $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(STORE_LIBS)

# ----------------------------------------------------------------------------------------------- testing

# Hundreds of test programs are linked, which takes gold half as long; it is asked once whether it is there.
TEST_LD = $(eval TEST_LD := $(shell echo 'int main(void) { return 0; }' | \
              $(CC) -fuse-ld=gold -x c - -o /dev/null 2>/dev/null && echo -fuse-ld=gold))$(TEST_LD)

# Tests see the insides: they link with the plain objects, of which they take what they need.
$(OBJ)/insides.a: $(STORE_OBJ) $(INGEST_OBJ) $(AUDIT_OBJ)
	@rm -f $@
	$(Q)$(AR) rcDT $@ $^

$(OBJ)/tests/test_audit $(OBJ)/tests/test_audit_splits $(OBJ)/tests/test_audit_check $(OBJ)/tests/test_audit_sampling $(OBJ)/tests/test_audit_crops $(OBJ)/tests/test_box_law $(OBJ)/tests/test_crop_values: TEST_LIBS += -lstdc++
$(OBJ)/tests/test_net: $(call objects,$(NET_SRC))
# Criterion runs each test in a process of its own, and starts libgit2 there, which it would draw differences with, and which reads all
# certificates of the machine first: half of the time that most tests take. No test asks for such a difference, so theirs has nothing to do.
TEST_GIT    := $(if $(filter criterion,$(found)),$(shell readelf -d "$$($(CC) -print-file-name=libcriterion.so)" 2>/dev/null | \
                                                      sed -n 's/.*NEEDED.*\[\(libgit2.*\)\].*/\1/p'))
NO_GIT      := $(TEST_GIT:%=$(PLAIN)/no_git/%)
FIND_NO_GIT := $(NO_GIT:%=-Wl,--disable-new-dtags,-rpath,$(abspath $(PLAIN)/no_git))
$(NO_GIT): tests/no_git.c
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -fPIC -Wl,-soname,$(@F) -o $@ $<

plain_test = $(filter %/$(1).o,$(TEST_SRC:%.c=$(PLAIN)/%.o))
.SECONDEXPANSION:
$(TESTS): $(OBJ)/tests/%: $$(call plain_test,$$*) $(PLAIN)/tests/unsynced.o $(OBJ)/insides.a | $(NO_GIT)
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) -pie $(TEST_LD) $(ALL_LDFLAGS) -o $@ $^ $(FIND_NO_GIT) $(TEST_LIBS) $(INGEST_LIBS) $(STORE_LIBS)

$(STRESS) $(BENCHES): $(OBJ)/%: $(OBJ)/%.o $(OBJ)/insides.a
	$(say) LD $@
	$(Q)$(CC) -pie $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(INGEST_LIBS) $(STORE_LIBS)

$(OUT)/mkshapes: $(call objects,$(SHAPES_SRC))
	$(say) LD $@
	$(Q)$(CC) -pie $(ALL_LDFLAGS) -o $@ $^

tests: $(if $(filter criterion,$(found)),$(TESTS)) $(OUT)/mkshapes
stress: $(STRESS)
benches: $(BENCHES)

## test: build, run the unit tests and quick scripts, in a minute; T=NAME: test_NAME.c, a CLI case or a check
test:
	+@BUILD='$(BUILD)' CC='$(CC)' CXX='$(CXX)' MAKE='$(MAKE)' T='$(T)' bash tests/run.sh quick

## check: install what tests need, build, run every test: the gate for every commit
check: setup-test
	+@BUILD='$(BUILD)' CC='$(CC)' CXX='$(CXX)' MAKE='$(MAKE)' bash tests/run.sh $(SUITES)

## check-frameworks: run the Python tests that need JAX, TensorFlow, or trainers over PyTorch such as Lightning
check-frameworks: setup-test
	+@BUILD='$(BUILD)' CC='$(CC)' CXX='$(CXX)' MAKE='$(MAKE)' bash tests/run.sh frameworks ecosystem

## check-long: check and check-frameworks, and every count in full where `check` takes a sample; hours
check-long: setup-test
	@BUILD='$(BUILD)' sh tools/setup.sh long
	+@APL_LONG=1 BUILD='$(BUILD)' CC='$(CC)' CXX='$(CXX)' MAKE='$(MAKE)' bash tests/run.sh $(SUITES)

## soak: a long run, HOURS=1: epochs with resumes, corrupt blocks and replaced stores; memory and speed must stay flat
HOURS ?= 1
soak: $(OBJ)/tests/stress/soak
	SOAK_SECONDS=$$(awk 'BEGIN { print $(HOURS) * 3600 }') $<

## demo: install what is missing, build, ingest CIFAR-10 (CIFAR=archive, or downloaded, or drawn) or PHOTOS=folder, train from it
demo:
	@BUILD='$(BUILD)' sh tools/setup.sh build demo
	+@BUILD='$(BUILD)' MAKE='$(MAKE)' CIFAR='$(CIFAR)' PHOTOS='$(PHOTOS)' sh tools/demo.sh

## bench: measure (CIFAR=archive to measure with)
bench: setup
	+@BUILD='$(BUILD)' MAKE='$(MAKE)' CIFAR='$(CIFAR)' sh bench/run.sh

## bench-peers: APL beside other loaders (CIFAR=archive, or PHOTOS=folder of JPEGs; installs them below the build folder)
bench-peers: setup all $(OBJ)/bench/bench_boxes
	@BUILD='$(BUILD)' PHOTOS='$(PHOTOS)' sh bench/peers/run.sh $(CIFAR)

## bench-bins: the reader's bins beside the same without locks, by 1 to 16 threads: tables in Markdown (ROUNDS=5)
ROUNDS ?= 5
bench-bins: $(OBJ)/bench/bench_bins
	@$< $(ROUNDS)

## reliability: run the test of each promise, and renew the table in docs/RELIABILITY.md
reliability: setup-test
	+@$(MAKE) all tests stress replays faults && $(MAKE) FLAVOUR=tsan stress
	@APL_LONG=1 BUILD='$(BUILD)' sh tests/promises/check_promises.sh
	@BUILD='$(BUILD)' tests/promises/reliability.sh

## setup: install what building needs (apt; as root or by sudo)
setup:
	@BUILD='$(BUILD)' sh tools/setup.sh build

## setup-test: install what the tests need too
setup-test:
	@BUILD='$(BUILD)' sh tools/setup.sh build test python

# ------------------------------------------------------------------------------------------------ Python

PYTHON  ?= python3
SETUP    = CC='$(CC)' WERROR='$(WERROR)' MAKE='$(MAKE)' APL_BUILD='$(abspath $(BUILD))/setuptools' \
           APL_OBJECTS='$(if $(filter release,$(FLAVOUR)),$(abspath $(OBJ)))'
PACKAGE := $(abspath $(BUILD))/python/apldata

## wheel: the Python package with all that it needs, in build/dist/
wheel: | $(NEEDS)
	@rm -f $(BUILD)/dist/*.whl
	$(Q)$(SETUP) $(PYTHON) -m pip -q --disable-pip-version-check wheel --no-deps --wheel-dir $(BUILD)/dist $(PIP_FLAGS) .
	@ls -l $(BUILD)/dist/*.whl

## python: the Python package for work on it: PYTHONPATH=build/python sees the tree's own .py files
python: | $(NEEDS)
	@$(PYTHON) -c 'import setuptools.command.bdist_wheel' 2>/dev/null || { echo "make python needs setuptools 77 or" \
	    "later, such as by PYTHON=$(BUILD)/venv-python/bin/python, which make check makes" >&2; exit 1; }
	$(Q)$(SETUP) $(PYTHON) setup.py -q build_ext --debug --build-lib $(BUILD)/python
	@ln -sf $(CURDIR)/python/apldata/* $(PACKAGE)/

# ------------------------------------------------------------------------------------------------- site

SITE := $(BUILD)/venv-site

## site: the documents as HTML with search, in build/site/html/, for a server or for a browser without a network
site:
	@cmp -s docs/site/requirements.txt $(SITE)/made || { rm -rf $(SITE) && $(PYTHON) -m venv $(SITE) && \
	    $(SITE)/bin/pip -q --disable-pip-version-check install -r docs/site/requirements.txt && \
	    cp docs/site/requirements.txt $(SITE)/made; }
	$(Q)$(SITE)/bin/python docs/site/build.py $(BUILD)/site
	@$(SITE)/bin/python tests/tree/links.py --site $(BUILD)/site/html

# -------------------------------------------------------------------------------------------- packaging

DIST := apldata-$(VERSION)

## dist: the source as apldata-VERSION.tar.gz in build/, of the last commit; the same bytes whenever and wherever it is made
dist:
	@mkdir -p $(BUILD)
	$(Q)git -c tar.umask=0022 archive --format=tar --prefix=$(DIST)/ HEAD >$(BUILD)/$(DIST).tar
	$(Q)gzip -n -9 -f $(BUILD)/$(DIST).tar
	@sha256sum $(BUILD)/$(DIST).tar.gz

## wheels: wheels for x86-64 and arm64 and any Linux since 2014, of pinned sources by a cross compiler, in build/wheels/dist/; minutes
wheels:
	@[ -x $(BUILD)/venv-wheels/bin/cmake ] || { $(PYTHON) -m venv $(BUILD)/venv-wheels && \
	    $(BUILD)/venv-wheels/bin/pip -q install -r tools/wheels/requirements.txt; }
	+@PATH="$(abspath $(BUILD))/venv-wheels/bin:$$PATH" python tools/wheels/build.py $(BUILD)/wheels $(ARCH)

## deb: Debian packages of the last commit, in build/deb/ (Debian 12 and later; apt-get build-dep . installs what it needs)
deb: dist
	@rm -rf $(BUILD)/deb && mkdir -p $(BUILD)/deb
	$(Q)tar -xzf $(BUILD)/$(DIST).tar.gz -C $(BUILD)/deb
	$(Q)cd $(BUILD)/deb/$(DIST) && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL dpkg-buildpackage -us -uc -b
	@ls -l $(BUILD)/deb/*.deb

# -------------------------------------------------------------------------------------------- installing

$(PCFILES): $(OUT)/%.pc: FORCE
	@mkdir -p $(@D)
	@sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' \
	     -e 's|@VERSION@|$(VERSION)|' -e 's|@LIBS@|$(if $(filter %/apldata.pc,$@),$(STORE_LIBS),$(INGEST_LIBS) $(call pkg_libs,libcrypto))|' \
	     $(wildcard */$*.pc.in) > $@

# What CMake's find_package(apldata) reads. It finds headers from where it stands, so that the tree that is installed can be moved.
CMAKEDIR   := $(LIBDIR)/cmake/apldata
CMAKEFILES := $(OUT)/apldata-config.cmake $(OUT)/apldata-config-version.cmake

$(CMAKEFILES): $(OUT)/%.cmake: store/%.cmake.in FORCE
	@mkdir -p $(@D)
	@sed -e 's|@VERSION@|$(VERSION)|' -e 's|@LIBS@|$(STORE_LIBS)|' -e 's|@INGEST_LIBS@|$(INGEST_LIBS) $(call pkg_libs,libcrypto)|' \
	     -e 's|@INCLUDE@|$(shell realpath -m --relative-to=$(CMAKEDIR) $(INCLUDEDIR))|' $< > $@

# Made by the programs, unless they are for another machine.
SHAREDIR         ?= $(PREFIX)/share
completion_bash   = bash-completion/completions/$(1)
completion_zsh    = zsh/site-functions/_$(1)
completion_fish   = fish/vendor_completions.d/$(1).fish
completion_file   = $(DESTDIR)$(SHAREDIR)/$(call completion_$(2),$(notdir $(1)))
install_completion = { script=$$($(1) --completion $(2) 2>/dev/null) || exit 0; install -d $(dir $(call completion_file,$(1),$(2))); \
    echo "$$script" >$(call completion_file,$(1),$(2)); }

MANPAGES := $(wildcard docs/man/*.[1-9])
man_dir   = $(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(1)))

## install: into PREFIX (/usr/local), below DESTDIR
install: all $(PCFILES) $(CMAKEFILES)
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(CMAKEDIR) $(DESTDIR)$(INCLUDEDIR)/apl
	install -m 755 $(PROGRAMS) $(DESTDIR)$(BINDIR)
	install -m 644 include/apl.h include/apl_ingest.h $(DESTDIR)$(INCLUDEDIR)
	install -m 644 include/apl/*.h $(DESTDIR)$(INCLUDEDIR)/apl
	install -m 644 $(STATIC) $(SHARED) $(DESTDIR)$(LIBDIR)
	for l in apldata aplingest; do \
	    ln -sf lib$$l.so.$(VERSION) $(DESTDIR)$(LIBDIR)/lib$$l.so.$(SOMAJOR); \
	    ln -sf lib$$l.so.$(SOMAJOR) $(DESTDIR)$(LIBDIR)/lib$$l.so; done
	install -m 644 $(PCFILES) $(DESTDIR)$(LIBDIR)/pkgconfig
	install -m 644 $(CMAKEFILES) $(DESTDIR)$(CMAKEDIR)
	$(foreach m,$(MANPAGES),install -D -m 644 $(m) $(call man_dir,$(m))/$(notdir $(m)) &&) true
	$(foreach p,$(PROGRAMS),$(foreach s,bash zsh fish,$(call install_completion,$(p),$(s)) &&)) true
	@[ -n "$(DESTDIR)" ] || [ "$$(id -u)" != 0 ] || ! command -v ldconfig >/dev/null || ldconfig # of /usr/local/lib

## uninstall: take away what install put there
uninstall:
	rm -f $(DESTDIR)$(BINDIR)/aplingest $(DESTDIR)$(BINDIR)/apldata
	rm -f $(DESTDIR)$(INCLUDEDIR)/apl.h $(DESTDIR)$(INCLUDEDIR)/apl_ingest.h $(patsubst include/%,$(DESTDIR)$(INCLUDEDIR)/%,$(wildcard include/apl/*.h))
	rmdir $(DESTDIR)$(INCLUDEDIR)/apl 2>/dev/null || true
	rm -f $(foreach f,$(CMAKEFILES),$(DESTDIR)$(CMAKEDIR)/$(notdir $(f)))
	rmdir $(DESTDIR)$(CMAKEDIR) 2>/dev/null || true
	rm -f $(foreach l,apldata aplingest,$(DESTDIR)$(LIBDIR)/lib$(l).* $(DESTDIR)$(LIBDIR)/pkgconfig/$(l).pc)
	rm -f $(foreach p,$(PROGRAMS),$(foreach s,bash zsh fish,$(call completion_file,$(p),$(s))))
	rm -f $(foreach m,$(MANPAGES),$(call man_dir,$(m))/$(notdir $(m)))

# ------------------------------------------------------------------------------------------------ upkeep

C_FILES = $(wildcard include/*.h include/*/*.h $(foreach d,store store/* reader reader/* serve ingest ingest/* audit view tools tools/lib tests tests/* tests/*/* bench bench/* examples python/*,$(d)/*.c $(d)/*.h))

## format: put all C files into the tree's form
format:
	$(CLANG_FORMAT) -i $(C_FILES)

## clean: remove what was built
clean:
	rm -rf $(BUILD) python/apldata.egg-info

## list: this list
list help:
	@sed -n 's/^## \([a-z-]*\): \(.*\)/\1|\2/p' $(filter %Makefile %.mk,$(MAKEFILE_LIST)) | awk -F'|' '{ printf "make %-16s %s\n", $$1, $$2 }'

include tests/fuzz/fuzz.mk tests/faults/faults.mk tests/faults/failing.mk tests/tree/lint.mk tests/tree/coverage.mk tests/sim/sim.mk tests/mutants/mutants.mk tests/cluster/cluster.mk bench/paper/paper.mk

# The compiler makes these; without a rule make would try each of its own on each of them.
%.d: ;
-include $(ALL_SRC:%.c=$(OBJ)/%.d) $(TEST_SRC:%.c=$(PLAIN)/%.d) $(wildcard $(OBJ)/audit/distributions.d)
