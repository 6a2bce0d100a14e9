# SPDX-License-Identifier: MIT
# libtrace2-prof, a library of its own beside libtrace2.  Read by the Makefile in the top directory.

prof_soname := libtrace2-prof.so.0
prof_obj := $(patsubst %.c,$(obj)/%.o,$(wildcard runtime/prof/*.c))

# Sanitizers stand in front of malloc() themselves; and it stands in front of functions of glibc
no_profiler := $(if $(is_glibc),,libtrace2-prof needs glibc, which $(CC) does not compile for: the profiler is not built)
profiler := $(if $(SAN)$(no_profiler),,$(out)/$(prof_soname) $(out)/libtrace2-prof.so $(out)/libtrace2-prof.a $(out)/libtrace2-prof-static.a)
all: $(profiler) $(if $(no_profiler),no-profiler)
.PHONY: no-profiler
no-profiler:
	@echo '$(no_profiler)'

# Stacks go through it: 32-bit ARM has no unwind tables of C code unless it is asked for them
$(prof_obj): private our_cflags += -funwind-tables $(if $(no_profiler),$(error $(no_profiler)))

# The names of system calls, of those that the compiler's headers know
$(obj)/tr2p_calls_made.h: $(out)/flags
	$(call say,GEN)
	$(quiet)echo '#include <sys/syscall.h>' | $(CC) $(CPPFLAGS) $(CFLAGS) -E -dM - | \
		sed -n 's/^#define __NR_\([a-z0-9_]*\) .*/CALL(\1)/p' | grep -vx -e 'CALL(syscalls)' -e 'CALL(arch_specific_syscall)' | \
		LC_ALL=C sort >$@
$(obj)/runtime/prof/tr2p_calls.o $(obj)/alone/runtime/prof/tr2p_calls.o: $(obj)/tr2p_calls_made.h
$(obj)/runtime/prof/tr2p_calls.o $(obj)/alone/runtime/prof/tr2p_calls.o: private our_cflags += -I$(obj)

# What they call may throw, through them
$(addprefix $(obj)/runtime/prof/tr2p_,labels.o new.o): private our_cflags += -fexceptions

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
	$(quiet)$(CC) $(filter -m%,$(CFLAGS)) -nostdlib -r -o $@ $^ && $(OBJCOPY) --localize-hidden $@

$(out)/libtrace2-prof.a: $(obj)/libtrace2-prof.o
	$(archive)

# For programs that are linked fully statically: it stands in front of nothing, as with sanitizers, for there is no way
# from a malloc() of ours to that of libc.a
alone_obj := $(patsubst %.c,$(obj)/alone/%.o,$(wildcard runtime/prof/*.c))
$(alone_obj): $(obj)/alone/%.o: %.c $(out)/flags
	$(call say,CC)
	$(quiet)$(call compile,$*) -DTR2_IS_SANITIZED -MMD -MP -c -o $@ $<

$(obj)/libtrace2-prof-static.o: $(alone_obj) $(obj)/libt2x.a $(obj)/libtlg.a
	$(call say,LD)
	$(quiet)$(CC) $(filter -m%,$(CFLAGS)) -nostdlib -r -o $@ $^ && $(OBJCOPY) --localize-hidden $@

$(out)/libtrace2-prof-static.a: $(obj)/libtrace2-prof-static.o
	$(archive)

# Only tests of the profiler may find its malloc() in an archive.
$(obj)/libtr2p.a: $(prof_obj)
$(filter $(out)/tests/test_tr2p_%,$(unit)): $(obj)/libtr2p.a

# What waits may be cancelled, and tidies up then
$(addprefix $(obj)/runtime/prof/tr2p_,lock.o sync.o futex.o quiet.o sigwait.o unload.o): private our_cflags += -fexceptions

# The example of trace2_pprof_handle(), where libmicrohttpd is installed.  Its functions are exported, so that it knows
# their names
all: $(if $(profiler),$(if $(call has_header,microhttpd.h),$(out)/examples/pprof_server))
$(out)/examples/pprof_server: $(call objects,runtime/examples,pprof_server) $(out)/libtrace2-prof.so $(out)/libtrace2.so
	$(call say,LD)
	$(quiet)$(link) -rdynamic -o $@ $(filter %.o,$^) -L$(out) -Wl,-rpath,'$$ORIGIN/..' -ltrace2-prof -ltrace2 -lmicrohttpd $(LDLIBS)
$(obj)/runtime/examples/pprof_server.o: private our_cflags += -fvisibility=default

# At a fixed address, and its timer_create() in front of libc's
$(out)/bench/bench_prof: $(call objects,bench,bench_prof)
	$(call say,LD)
	$(quiet)$(link) -no-pie -rdynamic -o $@ $^ -ldl $(LDLIBS)

# ---- installation -----------------------------------------------------------------------------------

# A page for each function, as trace2(3) has them
prof_links := $(patsubst %,$(mandir)/man3/%.3,$(shell sed -n 's/^	\(trace2_pp*rof_[a-z0-9_]*\);/\1/p' runtime/trace2_prof.map))
prof_files := $(addprefix $(libdir)/,$(prof_soname) libtrace2-prof.so libtrace2-prof.a libtrace2-prof-static.a) \
	      $(includedir)/trace2_prof.h \
	      $(pkgconfigdir)/libtrace2-prof.pc $(mandir)/man3/trace2-prof.3
installed += $(if $(no_profiler),,$(prof_files) $(prof_links))

.PHONY: install-prof
install: $(if $(no_profiler),,install-prof)
install-prof: all $(out)/libtrace2-prof.pc
	$(if $(profiler),,$(error a build with sanitizers is not for installation))
	$(quiet)$(INSTALL) -d $(addprefix $(DESTDIR),$(sort $(dir $(prof_files))))
	$(quiet)$(INSTALL) -m 755 $(out)/$(prof_soname) $(DESTDIR)$(libdir)/$(prof_soname)
	$(quiet)ln -sf $(prof_soname) $(DESTDIR)$(libdir)/libtrace2-prof.so
	$(quiet)$(INSTALL) -m 644 $(out)/libtrace2-prof.a $(out)/libtrace2-prof-static.a $(DESTDIR)$(libdir)
	$(quiet)$(INSTALL) -m 644 runtime/trace2_prof.h $(DESTDIR)$(includedir)/trace2_prof.h
	$(quiet)$(INSTALL) -m 644 $(out)/libtrace2-prof.pc $(DESTDIR)$(pkgconfigdir)/libtrace2-prof.pc
	$(quiet)$(INSTALL) -m 644 runtime/trace2-prof.3 $(DESTDIR)$(mandir)/man3/trace2-prof.3
	$(quiet)for page in $(prof_links); do echo .so man3/trace2-prof.3 >"$(DESTDIR)$$page" || exit; done
