# SPDX-License-Identifier: MIT
# libtrace2-prof, a library of its own beside libtrace2.  Read by the Makefile in the top directory.

prof_soname := libtrace2-prof.so.0
prof_obj := $(patsubst %.c,$(obj)/%.o,$(wildcard runtime/prof/*.c))

# Sanitizers stand in front of malloc() themselves
profiler := $(if $(SAN),,$(out)/$(prof_soname) $(out)/libtrace2-prof.so $(out)/libtrace2-prof.a)
all: $(profiler)

# What it calls may throw, through it
$(obj)/runtime/prof/tr2p_new.o: private our_cflags += -fexceptions

# Of the expander only what it calls.  zlib as libtrace2's libraries, see archives in the Makefile: of its archive
prof_libs = $(if $(BUNDLE),$(or $(wildcard $(shell $(CC) -print-file-name=libz.a)),-lz),-lz)
$(out)/$(prof_soname): $(prof_obj) $(obj)/libt2x.a $(obj)/libtlg.a $(shared) runtime/trace2_prof.map $(out)/flags
	$(call say,LD)
	$(quiet)$(link) -shared -Wl,-soname,$(prof_soname) -Wl,-z,defs -Wl,-z,nodelete -Wl,-z,now \
		-Wl,--version-script=runtime/trace2_prof.map -Wl,--no-undefined-version -Wl,-rpath,'$$ORIGIN' \
		-Wl,--exclude-libs,ALL \
		-o $@ $(prof_obj) $(obj)/libt2x.a $(obj)/libtlg.a $(prof_libs) -L$(out) -ltrace2 $(LDLIBS)

$(out)/libtrace2-prof.so: $(out)/$(prof_soname)
	@ln -sf $(prof_soname) $@

# One object, in which the expander's names are nobody else's: libtrace2.a has some of them, too
$(obj)/libtrace2-prof.o: $(prof_obj) $(obj)/libt2x.a $(obj)/libtlg.a
	$(call say,LD)
	$(quiet)$(CC) $(filter -m%,$(CFLAGS)) -nostdlib -r -o $@ $^ && objcopy --localize-hidden $@

$(out)/libtrace2-prof.a: $(obj)/libtrace2-prof.o
	$(archive)

# Only tests of the profiler may find its malloc() in an archive.
$(obj)/libtr2p.a: $(prof_obj)
$(filter $(out)/tests/test_tr2p_%,$(unit)): $(obj)/libtr2p.a

# What waits may be cancelled, and tidies up then
$(addprefix $(obj)/runtime/prof/tr2p_,lock.o sync.o): private our_cflags += -fexceptions
