# SPDX-License-Identifier: MIT
# The whole build.  `make help` says what it can do.  Sources are found by folder: a folder is a layer, and includes
# go only to folders that stand behind its own in these lists (tests/lint/check_layers.sh).  Tests (tests/**/test_*.c), checks
# (tests/**/check_*.sh) and benchmarks (bench/bench_*.c) are found by name; programs lie flat in build/tests.

runtime_layers := api record drain ctl output ring settings base
expand_layers  := cli serve fleet live import parallel recover merge export query profile symbols text read model base

sources = $(basename $(foreach layer,$(2),$(sort $(wildcard $(1)/$(layer)/*.c))))
format_src  := $(basename $(wildcard format/*.c))
runtime_src := $(call sources,runtime,$(runtime_layers))
expand_src  := $(call sources,expand,$(expand_layers))
# What of the expander serves the live text targets, in the library
live_src    := $(filter-out $(addprefix expand/,model/t2x_spans model/t2x_spans_table text/t2x_formats text/t2x_tree text/t2x_tree_show text/t2x_raw \
	       text/t2x_csv text/t2x_utf8 text/t2x_xml base/t2x_escape base/t2x_report base/t2x_temporary),$(call sources,expand,merge text model base))

# Packages by pkg-config's name, and the Debian package of each; of inline_pkgs only headers, as a rule
inline_pkgs  := liburcu-cds
# only headers of loaded_pkgs, which are loaded when they are needed
loaded_pkgs  := libdw
runtime_pkgs := libmd liblz4
expand_pkgs  := liblz4 libmd expat
test_pkgs    := cmocka
# t2 serve, t2 ship and t2 collect: their headers, if they are there
optional_pkgs := libmicrohttpd libnats
has_libmicrohttpd := -DT2X_HAS_MICROHTTPD
has_libnats := -DT2X_HAS_NATS
debian_liburcu-cds := liburcu-dev
debian_liblz4      := liblz4-dev
debian_libmd       := libmd-dev
debian_expat       := libexpat1-dev
debian_libdw       := libdw-dev
debian_cmocka      := libcmocka-dev

include runtime/toolchain.mk

# ---- what a user may set ----------------------------------------------------------------------------

CFLAGS ?= -O2 -g
# SAN: sanitizers, as in -fsanitize.  WERROR=1: warnings are errors.  V=1: show commands and test output.
SAN ?=
WERROR ?=
V ?=
# BUNDLE=: the library and t2expand load liblz4, libmd and others, instead of having in them what they use of these
BUNDLE ?= 1

prefix ?= /usr/local
exec_prefix ?= $(prefix)
bindir ?= $(exec_prefix)/bin
libdir ?= $(exec_prefix)/lib
includedir ?= $(prefix)/include
datarootdir ?= $(prefix)/share
mandir ?= $(datarootdir)/man
pkgconfigdir ?= $(libdir)/pkgconfig
bashcompdir ?= $(datarootdir)/bash-completion/completions
zshcompdir ?= $(datarootdir)/zsh/site-functions
fishcompdir ?= $(datarootdir)/fish/vendor_completions.d
INSTALL ?= install

# ---- names ------------------------------------------------------------------------------------------

comma := ,
empty :=
space := $(empty) $(empty)
# cc and gcc without sanitizers build into build/, every other variant into build/<compiler>-<sanitizers>/
variant := $(strip $(filter-out cc gcc,$(notdir $(firstword $(CC)))) $(subst $(comma), ,$(SAN)))
out := build$(addprefix /,$(subst $(space),-,$(variant)))
obj := $(out)/obj
quiet := $(if $(V),,@)
version := $(shell sed -n 's/^.define TRACE2_VERSION "\(.*\)"/\1/p' runtime/trace2.h)
soname := libtrace2.so.0

objects = $(patsubst %,$(obj)/$(1)/%.o,$(2))
format_obj  := $(format_src:%=$(obj)/%.o)
runtime_obj := $(runtime_src:%=$(obj)/%.o)
expand_obj  := $(expand_src:%=$(obj)/%.o) $(obj)/expand/page/page.o
live_obj    := $(live_src:%=$(obj)/%.o)
# What the tests link with: all but main()
reader_obj  := $(filter-out %/t2expand.o,$(expand_obj))
test_src    := $(filter-out $(if $(is_glibc),,tests/unit/prof/%),$(basename $(wildcard tests/*/test_*.c tests/*/*/test_*.c)))
tool_src    := $(basename $(wildcard tests/tools/*.c tests/fuzz/fuzz.c tests/fuzz/fuzzseal.c))
help_src    := $(filter-out %/replay %/counted %/grow,$(tool_src))
help_names  := $(notdir $(help_src))
# What a benchmark is about has to be installed; LTTng-UST, where it is, is compared with
has_header = $(wildcard /usr/include/$(1) /usr/include/*/$(1))
lttng_libs := $(if $(call has_header,lttng/tracepoint.h),-llttng-ust -ldl)
bench_names := $(filter-out $(if $(lttng_libs),,bench_lttng) $(if $(call has_header,sqlite3.h),,bench_sqlite) \
	       $(if $(call has_header,zstd.h),,bench_zstd),$(basename $(notdir $(wildcard bench/bench_*.c))))
torture_src := $(basename $(wildcard tests/torture/*.c tests/fuzz/fuzz_*.c))
bench_help  := $(filter-out bench_%,$(basename $(notdir $(wildcard bench/*.c))))
# One of the examples is a program of one file, see prof.mk
example_names := $(filter-out pprof_server,$(basename $(notdir $(wildcard runtime/examples/*.c))))

shared  := $(if $(SAN),,$(out)/$(soname) $(out)/libtrace2.so)
unit    := $(patsubst %,$(out)/tests/%,$(notdir $(test_src)))
benches := $(bench_names:%=$(out)/bench/%)
bench_static := $(patsubst %,$(out)/bench/%_static,bench_emit bench_start)
torture := $(patsubst %,$(out)/torture/%,$(notdir $(torture_src)))
fuzzers := $(filter $(out)/torture/fuzz_%,$(torture))
example := $(if $(example_names),$(out)/examples/t2index)
scripts := $(sort $(filter-out tests/interop/%,$(wildcard tests/*/check_*.sh)))

# ---- flags: ours first, the user's last -------------------------------------------------------------

# Sizes and times of 64 bits on machines of 32; members of a struct not stored in pairs, see bench/NOTES.md
our_cppflags = $(if $(SAN),-DTR2_IS_SANITIZED) -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 $(include_$(firstword $(subst /, ,$(1))))
include_format  := -Iformat
include_runtime := -Iruntime -Iformat -Iexpand
include_expand  = -Iexpand -Iformat -DT2X_VERSION='"$(version)"'
include_tests   := -Itests/tools -Itests/fuzz -Iruntime -Iexpand -Iformat
include_bench   := -Ibench -Iruntime -Iformat
our_cflags := -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes \
	      -Wmissing-prototypes -Wvla -Wundef $(if $(WERROR),-Werror) -pthread -fPIC -fvisibility=hidden -fno-tree-slp-vectorize \
	      $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
our_ldflags := -pthread -Wl,--as-needed $(if $(SAN),-fsanitize=$(SAN))

lib_cflags = $(eval lib_cflags := $(call pkg_cflags,$(sort $(inline_pkgs) $(loaded_pkgs) $(runtime_pkgs) $(expand_pkgs))))$(lib_cflags)
optional_cflags = $(eval optional_cflags := $(foreach p,$(optional_pkgs),$(call pkg_optional,$(p),$(has_$(p)))))$(optional_cflags)
test_cflags = $(eval test_cflags := $(call pkg_cflags,$(test_pkgs)))$(test_cflags)
runtime_libs = $(eval runtime_libs := $(call bundled,$(runtime_pkgs)) $(call pkg_libs,$(inline_pkgs)))$(runtime_libs)
tool_libs = $(eval tool_libs := $(call bundled,$(expand_pkgs)))$(tool_libs)
expand_libs = $(eval expand_libs := $(call pkg_libs,$(expand_pkgs)))$(expand_libs)
test_libs = $(eval test_libs := $(call pkg_libs,$(test_pkgs)))$(test_libs)

compile = $(CC) $(call our_cppflags,$(1)) $(lib_cflags) $(optional_cflags) $(2) $(CPPFLAGS) $(our_cflags) $(CFLAGS)
judge_cflags := $(if $(findstring fuzzer,$(SAN)),-fno-sanitize=all)# fuzzers look for ways through the product, not our judges
link = $(CC) $(our_ldflags) $(our_cflags) $(CFLAGS) $(LDFLAGS)
say = @mkdir -p $(@D)$(if $(V),,; printf '  %-5s %s\n' $(1) $@)
archive = $(call say,AR)$(newline)$(quiet)rm -f $@ && $(AR) rcs $@ $^
define newline


endef

# ---- targets ----------------------------------------------------------------------------------------

.PHONY: all check check-all interop unit programs bench bench-programs torture torture-programs torture-tools fleet demo install uninstall installcheck \
	clean distclean help force
.SUFFIXES:
.DELETE_ON_ERROR:

all: $(shared) $(out)/libtrace2.a $(out)/t2expand $(example)

# The packages come first: the second make finds what they brought.
check:
	$(quiet).ci/packages build test
	$(quiet)$(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$$(nproc)) check-all

check-all: all $(unit) $(out)/tests/replay $(out)/tests/counted $(out)/tests/grow
	$(quiet)$(run_env) tests/run.sh $(unit) $(scripts) tests/conformance/conformance.sh

unit: $(unit)
	$(quiet)$(run_env) tests/run.sh $(unit)

# What a sanitizer can judge: no scripts
programs: $(unit) $(out)/tests/replay $(out)/t2expand
	$(quiet)$(run_env) tests/run.sh $(unit) tests/conformance/conformance.sh

run_env = T2_OUT='$(out)' T2_V='$(V)' T2_LIVE='$(live_obj)' CC='$(CC)' MAKE='$(MAKE)' CMOCKA_MESSAGE_OUTPUT=STDOUT

# bench ONLY=name: only that one.  A peer that cannot be installed is left out.
bench:
	$(quiet).ci/packages build test
	$(quiet).ci/packages bench || echo 'bench: goes on without these'
	$(quiet)$(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$$(nproc)) bench-programs
	$(quiet)$(run_env) bench/run.sh $(ONLY)

bench-programs: all $(benches) $(bench_static) $(out)/tests/counted

# torture ONLY=name: only that harness; T2_SCALE, T2_SEED: see tests/torture/run.sh
torture:
	$(quiet).ci/packages build test torture
	$(quiet)$(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$$(nproc)) torture-programs
	$(quiet)$(run_env) tests/torture/run.sh $(ONLY)

# Servers, hosts and collectors on this machine, and what goes wrong between them; T2_SCALE, T2_SEED as for torture
fleet:
	$(quiet).ci/packages build test
	$(quiet)$(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$$(nproc)) all
	$(quiet)$(run_env) T2_SEED="$${T2_SEED:-$$(date +%s)}" tests/torture/harness_fleet.sh

torture-programs: torture-tools $(unit)
torture-tools: all $(torture) $(out)/tests/grow

# What others wrote reads what we write, of those that need a browser, Go or Node
interop:
	$(quiet).ci/packages build test interop
	$(quiet)$(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$$(nproc)) all
	$(quiet)$(run_env) tests/run.sh $(sort $(wildcard tests/interop/check_*.sh))

demo:
	$(quiet).ci/demo

# All flags are in this file, and the version: a change of one rebuilds.
$(out)/flags: force
	@mkdir -p $(@D)
	@echo '$(call compile,) $(our_ldflags) $(LDFLAGS) $(runtime_libs) $(tool_libs) $(LDLIBS) $(version)' | cmp -s - $@ || \
		echo '$(call compile,) $(our_ldflags) $(LDFLAGS) $(runtime_libs) $(tool_libs) $(LDLIBS) $(version)' > $@

$(obj)/tests/%.o: tests/%.c $(out)/flags
	$(call say,CC)
	$(quiet)$(call compile,tests,$(test_cflags)) $(judge_cflags) -MMD -MP -c -o $@ $<

$(obj)/%.o: %.c $(out)/flags
	$(call say,CC)
	$(quiet)$(call compile,$*) -MMD -MP -c -o $@ $<

# One object: wherever it is linked its small variables share pages, and what runs at the start lies together.
$(obj)/libtrace2.o: $(runtime_obj) $(live_obj) $(format_obj)
	$(call say,LD)
	$(quiet)$(CC) $(filter -m%,$(CFLAGS)) -nostdlib -r -o $@ $^

$(out)/libtrace2.a: $(obj)/libtrace2.o
	$(archive)

$(out)/$(soname): $(runtime_obj) $(format_obj) $(live_obj) runtime/trace2.map $(out)/flags
	$(call say,LD)
	$(quiet)$(link) -shared -Wl,--sort-section=name -Wl,-soname,$(soname) -Wl,-z,defs -Wl,-z,nodelete -Wl,-z,now \
		-Wl,--version-script=runtime/trace2.map -Wl,--no-undefined-version \
		-o $@ $(runtime_obj) $(format_obj) $(runtime_libs) $(live_obj) $(LDLIBS)

$(out)/libtrace2.so: $(out)/$(soname)
	@ln -sf $(soname) $@

$(out)/t2expand: $(expand_obj) $(format_obj)
	$(call say,LD)
	$(quiet)$(link) -o $@ $^ $(tool_libs) $(LDLIBS)
	@ln -sf t2expand $(@D)/t2

# Archives for the tests: a test program takes from them what it calls.
$(obj)/libtr2.a: $(runtime_obj)
$(obj)/libt2x.a: $(reader_obj)
$(obj)/libtlg.a: $(format_obj)
$(obj)/libhelp.a: $(help_src:%=$(obj)/%.o)
$(addprefix $(obj)/lib,tr2.a tr2p.a t2x.a tlg.a help.a):
	$(archive)

# Tests of format/ and expand/ do without the runtime; the others may use everything.  Helpers whose
# header a test includes come first, so that they may stand in for what is under test.
included = $(foreach name,$(filter $(help_names),$(shell sed -n 's/^.include "\([a-z0-9_]*\)\.h"/\1/p' $(1))),\
	   $(filter %/$(name).o,$(help_src:%=$(obj)/%.o)))
source = $(patsubst $(obj)/%.o,%.c,$<)
object = $(filter %/$*.o,$(patsubst %,$(obj)/%.o,$(test_src) $(torture_src)))
wrapped = $(shell grep -o '__wrap_[a-z0-9_]*' $(1) | sort -u | sed 's/__wrap_/-Wl,--wrap=/')
link_test = $(link) $(call wrapped,$(source)) -o $@ $< $(call included,$(source)) \
	    -Wl,--start-group $(filter %.a,$^) -Wl,--end-group
reader_tests := $(filter $(addsuffix _%,$(addprefix $(out)/tests/test_,tlg t2x replay)),$(unit))

.SECONDEXPANSION:
$(reader_tests): $(out)/tests/%: $$(object) $(obj)/libt2x.a $(obj)/libtlg.a $(obj)/libhelp.a
	$(call say,LD)
	$(quiet)$(link_test) $(expand_libs) $(test_libs) $(LDLIBS)

# Bound at the start, as the shared library is: else a function that is first called in a signal handler costs that
# handler 3 KB of its stack, more than all that recording needs
$(filter-out $(reader_tests),$(unit)): $(out)/tests/%: $$(object) $(addprefix $(obj)/lib,tr2.a t2x.a tlg.a help.a)
	$(call say,LD)
	$(quiet)$(link_test) -Wl,-z,now $(expand_libs) $(runtime_libs) $(test_libs) $(LDLIBS)

# Programs that use the library as its users do: the shared one, where there is one
link_user = $(link) -o $@ $(filter %.o,$^) $(if $(SAN),$(out)/libtrace2.a $(runtime_libs),\
	    -L$(out) -Wl,-rpath,'$$ORIGIN/..' -ltrace2) $(LDLIBS)
user_lib := $(if $(SAN),$(out)/libtrace2.a,$(shared))

$(out)/tests/replay: $(call objects,tests/tools,replay replay_list) $(user_lib)
	$(call say,LD)
	$(quiet)$(link_user)

$(out)/tests/counted $(out)/tests/grow: $(out)/tests/%: $(obj)/tests/tools/%.o $(addprefix $(obj)/lib,help.a tlg.a) $(out)/libtrace2.a
	$(call say,LD)
	$(quiet)$(link) -o $@ $^ $(expand_libs) $(runtime_libs) $(LDLIBS)

# With SAN=...,fuzzer-no-link by clang: for libFuzzer.  Else they run files, and simple changes of them.
fuzz_main := $(if $(findstring fuzzer,$(SAN)),,$(obj)/tests/fuzz/fuzzmain.o)

$(fuzzers): $(out)/torture/%: $$(object) $(fuzz_main) $(obj)/tests/fuzz/fuzzmemory.o $(obj)/libhelp.a $(obj)/libt2x.a $(obj)/libtlg.a
	$(call say,LD)
	$(quiet)$(link) $(call wrapped,tests/fuzz/fuzzmemory.c) $(if $(fuzz_main),,-fsanitize=fuzzer) -o $@ $^ $(expand_libs) $(LDLIBS)

$(filter-out $(fuzzers),$(torture)): $(out)/torture/%: $$(object) \
		$(addprefix $(obj)/lib,tr2.a t2x.a tlg.a help.a)
	$(call say,LD)
	$(quiet)$(link) -Wl,-z,now $(call wrapped,$(source)) -o $@ $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(expand_libs) $(runtime_libs) $(LDLIBS)

$(out)/examples/t2index: $(call objects,runtime/examples,$(example_names)) $(user_lib)
	$(call say,LD)
	$(quiet)$(link_user)

# The same program without the library
$(out)/bench/bench_bare: $(call objects,bench,bench_bare bench_start $(bench_help))
	$(call say,LD)
	$(quiet)$(link) -o $@ $^ $(LDLIBS)

$(filter-out %/bench_bare %/bench_prof,$(benches)): $(out)/bench/%: $(obj)/bench/%.o $(call objects,bench,$(bench_help)) $(user_lib)
	$(call say,LD)
	$(quiet)$(link_user)
$(out)/bench/bench_lttng $(out)/bench/bench_server: private LDLIBS += $(lttng_libs)
$(out)/bench/bench_sqlite: private LDLIBS += -lsqlite3 $(lttng_libs)
$(out)/bench/bench_zstd: private LDLIBS += -lzstd $(lttng_libs)

$(bench_static): $(out)/bench/%_static: $(obj)/bench/%.o $(call objects,bench,$(bench_help)) $(out)/libtrace2.a
	$(call say,LD)
	$(quiet)$(link) -o $@ $^ $(runtime_libs) $(LDLIBS)

# ---- installation -----------------------------------------------------------------------------------

# A directory below prefix is written relative to it, so that pkg-config can move the tree.
pc_dir = $(patsubst $(prefix)/%,$${prefix}/%,$(1))

$(addprefix $(out)/,libtrace2.pc libtrace2-prof.pc): $(out)/%.pc: runtime/%.pc.in force
	@mkdir -p $(@D)
	$(quiet)sed -e 's|@prefix@|$(prefix)|' -e 's|@libdir@|$(call pc_dir,$(libdir))|' \
		-e 's|@includedir@|$(call pc_dir,$(includedir))|' -e 's|@version@|$(version)|' \
		-e 's|@requires@|$(runtime_pkgs)|' $< > $@

installed := $(addprefix $(bindir)/,t2expand t2) $(addprefix $(bashcompdir)/,t2expand t2) $(zshcompdir)/_t2expand \
	     $(addprefix $(fishcompdir)/,t2expand.fish t2.fish) $(addprefix $(libdir)/,$(soname) libtrace2.so libtrace2.a) \
	     $(addprefix $(includedir)/,trace2.h trace2_scope.h) $(pkgconfigdir)/libtrace2.pc \
	     $(mandir)/man1/t2expand.1 $(mandir)/man1/t2.1 \
	     $(mandir)/man3/trace2.3 $(addprefix $(mandir)/man7/,trace2-env.7 trace2-tutorial.7 t2-fleet.7)
# A page for each function, which sources trace2(3): of trace2_x_fl() also as trace2_x
functions := $(shell sed -n 's/^	\(trace2_[a-z0-9_]*\);/\1/p' runtime/trace2.map)
man_links := $(patsubst %,$(mandir)/man3/%.3,$(sort $(functions) $(functions:%_fl=%) TRACE2_SCOPE trace2_scope))

install: all $(out)/libtrace2.pc
	$(if $(SAN),$(error a build with sanitizers is not for installation))
	$(quiet)$(INSTALL) -d $(addprefix $(DESTDIR),$(sort $(dir $(installed))))
	$(quiet)$(INSTALL) -m 755 $(out)/t2expand $(DESTDIR)$(bindir)/t2expand && ln -sf t2expand $(DESTDIR)$(bindir)/t2 && \
		ln -sf t2expand $(DESTDIR)$(bashcompdir)/t2
	$(quiet)$(INSTALL) -m 644 expand/completion/t2expand.bash $(DESTDIR)$(bashcompdir)/t2expand && \
		$(INSTALL) -m 644 expand/completion/_t2expand $(DESTDIR)$(zshcompdir)/_t2expand
	$(quiet)$(INSTALL) -m 644 expand/completion/t2expand.fish $(DESTDIR)$(fishcompdir)/t2expand.fish && ln -sf t2expand.fish $(DESTDIR)$(fishcompdir)/t2.fish
	$(quiet)$(INSTALL) -m 755 $(out)/$(soname) $(DESTDIR)$(libdir)/$(soname) && ln -sf $(soname) $(DESTDIR)$(libdir)/libtrace2.so && \
		$(INSTALL) -m 644 $(out)/libtrace2.a $(DESTDIR)$(libdir)/libtrace2.a
	$(quiet)$(INSTALL) -m 644 runtime/trace2.h runtime/trace2_scope.h $(DESTDIR)$(includedir)/
	$(quiet)$(INSTALL) -m 644 $(out)/libtrace2.pc $(DESTDIR)$(pkgconfigdir)/libtrace2.pc
	$(quiet)$(INSTALL) -m 644 expand/t2expand.1 expand/t2.1 $(DESTDIR)$(mandir)/man1/
	$(quiet)$(INSTALL) -m 644 runtime/trace2.3 $(DESTDIR)$(mandir)/man3/trace2.3 && \
		$(INSTALL) -m 644 runtime/trace2-env.7 runtime/trace2-tutorial.7 expand/t2-fleet.7 $(DESTDIR)$(mandir)/man7/
	$(quiet)for page in $(man_links); do echo .so man3/trace2.3 >"$(DESTDIR)$$page" || exit; done

uninstall:
	$(quiet)rm -f $(addprefix $(DESTDIR),$(installed) $(man_links))

installcheck: all
	$(quiet)$(run_env) tests/run.sh tests/library/check_install.sh

clean:
	rm -rf build

distclean: clean
	rm -rf tests/cli/__pycache__ tests/conformance/__pycache__

help:
	@echo 'make all           libtrace2 (shared, static), t2expand, the example, into build/'
	@echo 'make check         install missing packages, build, run every test and check'
	@echo 'make unit          the unit tests only; programs: these and the conformance cases'
	@echo 'make bench, torture   the benchmarks; the long harnesses; ONLY=name: one of them'
	@echo 'make fleet         traces of many hosts: servers, hosts and collectors that are killed'
	@echo 'make interop       programs that others wrote: a browser, Go, Node read what we write; CPython passes its tests'
	@echo 'make demo          record a real program, show the three texts'
	@echo 'make install       into prefix (now $(prefix)); also uninstall, installcheck; DESTDIR works'
	@echo 'make clean         remove build/; distclean: everything that is not source'
	@echo 'Settings: CC CFLAGS CPPFLAGS LDFLAGS LDLIBS, SAN=address,undefined or thread, WERROR=1, V=1'

include expand/page/page.mk expand/serve/serve.mk runtime/prof/prof.mk runtime/cmake/cmake.mk
-include $(shell find $(obj) -name '*.d' 2>/dev/null)
