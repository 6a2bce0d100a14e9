/* SPDX-License-Identifier: MIT */
/*
 * t2x_libdw.h - elfutils' libdw, loaded when the first address is to be named.
 *
 * Linked as usual it would bring four libraries more into every t2expand, 0.4 ms at each start, a third more, for what
 * most commands never need; and where it is missing the addresses are shown as they are.  It would ask the servers of
 * DEBUGINFOD_URLS, which a distribution may have set, without the user's knowing: so that is off unless asked for.
 */
#ifndef T2X_LIBDW_H
#define T2X_LIBDW_H

#include <dwarf.h>
#include <elfutils/libdwfl.h>

#define T2X_LIBDW_FUNCTIONS(f) \
	f(dwarf_attr_integrate) f(dwarf_decl_line) f(dwarf_diecu) f(dwarf_diename) f(dwarf_dieoffset) f(dwarf_filesrc) \
	f(dwarf_formstring) f(dwarf_formudata) f(dwarf_getscopes) f(dwarf_getscopes_die) f(dwarf_getsrcfiles) \
	f(dwarf_offdie) f(dwarf_tag) f(dwfl_begin) f(dwfl_end) f(dwfl_lineinfo) f(dwfl_module_addrdie) \
	f(dwfl_module_addrinfo) f(dwfl_module_build_id) f(dwfl_module_getdwarf) f(dwfl_module_getelf) \
	f(dwfl_module_getsrc) f(dwfl_offline_section_address) f(dwfl_report_end) f(dwfl_report_offline) \
	f(dwfl_standard_find_debuginfo) f(elf_getdata) f(elf_getdata_rawchunk) f(elf_getphdrnum) \
	f(elf_getshdrstrndx) f(elf_nextscn) f(elf_rawdata) f(elf_strptr) f(gelf_getphdr) f(gelf_getrela) f(gelf_getshdr)

struct t2x_libdw {
#define T2X_LIBDW_MEMBER(name) __typeof__(&name) name;
	T2X_LIBDW_FUNCTIONS(T2X_LIBDW_MEMBER)
#undef T2X_LIBDW_MEMBER
};

/* uses_debuginfod  may ask servers; what was said first holds    Return  NULL: it is not here */
const struct t2x_libdw *t2x_libdw_load(int uses_debuginfod);

/* As t2x_libdw_load(): the C++ library's name for a mangled one.  Return  to be freed by free(); NULL: it has none */
char *t2x_libdw_demangle(const char *mangled);

#endif
