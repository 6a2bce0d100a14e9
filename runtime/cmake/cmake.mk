# SPDX-License-Identifier: MIT
# What find_package(trace2) of CMake reads, beside the files of pkg-config.  Read by the Makefile in the top directory.

cmakedir ?= $(libdir)/cmake/trace2

# A directory below prefix is written relative to the file, which is as many steps below prefix as cmake_prefix goes up:
# CMake finds the tree wherever it has been moved.
cmake_dir = $(patsubst $(prefix)/%,$${_trace2_prefix}/%,$(1))
cmake_below := $(filter-out /%,$(patsubst $(prefix)/%,%,$(cmakedir)))
cmake_prefix := $(or $(subst $(space),/,$(foreach step,$(subst /, ,$(cmake_below)),..)),$(prefix))
pointer_size = $(shell echo __SIZEOF_POINTER__ | $(CC) $(CPPFLAGS) $(CFLAGS) -E -P -xc - | tail -n 1)
cmake_files := trace2-config.cmake trace2-config-version.cmake

$(addprefix $(out)/,$(cmake_files)): $(out)/%: runtime/cmake/%.in force
	@mkdir -p $(@D)
	$(quiet)sed -e 's|@prefix@|$(cmake_prefix)|' -e 's|@libdir@|$(call cmake_dir,$(libdir))|' \
		-e 's|@includedir@|$(call cmake_dir,$(includedir))|' -e 's|@version@|$(version)|' \
		-e 's|@soname@|$(soname)|' -e 's|@prof_soname@|$(prof_soname)|' -e 's|@pointer@|$(pointer_size)|' \
		-e 's|@libraries@|$(runtime_pkgs:lib%=%)|' $< > $@

installed += $(addprefix $(cmakedir)/,$(cmake_files))

.PHONY: install-cmake
install: install-cmake
install-cmake: $(addprefix $(out)/,$(cmake_files))
	$(quiet)$(INSTALL) -d $(DESTDIR)$(cmakedir)
	$(quiet)$(INSTALL) -m 644 $^ $(DESTDIR)$(cmakedir)/
