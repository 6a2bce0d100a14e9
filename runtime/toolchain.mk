# SPDX-License-Identifier: MIT
# What the compiler is for, and where the libraries for it are.  Read by the Makefile, which says in inline_pkgs,
# runtime_pkgs and their like what is needed.
#
# CC=aarch64-linux-gnu-gcc and other cross compilers: the libraries of that machine, as Debian's multiarch has them, or
# where PKG_CONFIG_LIBDIR, PKG_CONFIG_SYSROOT_DIR or PKG_CONFIG say.
# CC=musl-gcc: the wrapper finds glibc's libraries and would link them; those for musl are where PKG_CONFIG_LIBDIR says.

cc_name := $(notdir $(firstword $(CC)))
# A compiler with a machine in its name is a cross compiler, unless that is this machine
cc_machine := $(firstword $(subst -gcc, ,$(subst -clang, ,$(subst -cc, ,$(cc_name)))))
host_machine := $(if $(or $(findstring -linux-,$(cc_machine)),$(findstring musl,$(cc_name))),$(shell cc -dumpmachine 2>/dev/null))
cross := $(if $(findstring -linux-,$(cc_machine)),$(filter-out $(host_machine),$(cc_machine)))
musl_wrapper := $(filter musl-gcc musl-clang,$(cc_name))

ifeq ($(origin AR),default)
AR := $(addsuffix -,$(cross))ar
endif
OBJCOPY ?= $(addsuffix -,$(cross))objcopy

# The profiler stands in front of functions of glibc; elsewhere the build goes without it.
is_glibc := $(shell printf '%s\n' '#include <features.h>' glibc=__GLIBC__ | $(CC) $(CPPFLAGS) -E -P - 2>/dev/null | grep '^glibc=[0-9]')

# Where pkg-config looks, unless the user says it
foreign_dirs := $(if $(cross),/usr/local/lib/$(cross)/pkgconfig:/usr/lib/$(cross)/pkgconfig:/usr/$(cross)/lib/pkgconfig:/usr/share/pkgconfig)
foreign_dirs += $(if $(musl_wrapper),/usr/lib/$(firstword $(subst -, ,$(host_machine)))-linux-musl/pkgconfig:/usr/local/musl/lib/pkgconfig)
foreign_dirs := $(if $(PKG_CONFIG_LIBDIR)$(PKG_CONFIG_SYSROOT_DIR),,$(strip $(foreign_dirs)))
PKG_CONFIG ?= $(if $(foreign_dirs),PKG_CONFIG_LIBDIR=$(foreign_dirs) )pkg-config

# pkg_cflags, pkg_libs: asked only when a command needs it, so that `make clean` needs no packages
pkg_ask = $(if $(filter 0,$(call pkg_status,$(2))),$(shell $(PKG_CONFIG) $(1) $(2)),$(error \
	$(2) is missing$(if $(cross)$(musl_wrapper), for $(cc_name): PKG_CONFIG_LIBDIR has to say where its .pc file is,: \
	install the Debian package $(debian_$(2)), or run .ci/packages build test)))
pkg_status = $(shell $(PKG_CONFIG) --exists $(1) 2>/dev/null; echo $$?)
# Headers of this machine are none of another's, nor of another C library's
pkg_cflags = $(filter-out $(addprefix -I/usr/include/,$(host_machine)),$(strip $(foreach p,$(1),$(call pkg_ask,--cflags,$(p)))))
# The flags of a package that need not be there, with one that says that it is
pkg_optional = $(if $(filter 0,$(call pkg_status,$(1))),$(2) $(filter-out -I/usr/include/%,$(shell $(PKG_CONFIG) --cflags $(1))))
pkg_libs = $(strip $(foreach p,$(1),$(call pkg_ask,--libs,$(p))))

# Each library that comes along costs every process 45 us, tracing or not: so where there are archives, these (not in tests)
archive_of = $(firstword $(wildcard $(patsubst -L%,%/lib$(1).a,$(filter -L%,$(2)))) \
	     $(if $(musl_wrapper),,$(wildcard $(shell $(CC) -print-file-name=lib$(1).a))))
archives = $(if $(BUNDLE),$(foreach l,$(filter -l%,$(pkg_libs)),$(call archive_of,$(l:-l%=%),$(pkg_libs))))
bundled = $(if $(filter $(words $(filter -l%,$(pkg_libs))),$(words $(archives))),$(archives),$(pkg_libs))
