/* SPDX-License-Identifier: MIT */
/* tr2p_uses.c - what the modules of the process say that they need. */
#include "tr2p_uses.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

static const char tracer[] = "libtrace2.so.0", profiler[] = "libtrace2-prof.so.0";

static const ElfW(Dyn) *find_entries(const struct dl_phdr_info *info)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	return NULL;
}

/* Some dynamic linkers leave the address of the names as it is in the file. */
static const char *find_names(const struct dl_phdr_info *info, const ElfW(Dyn) *entry)
{
	for (; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_STRTAB)
			return (const char *)((entry->d_un.d_ptr < info->dlpi_addr ? info->dlpi_addr : 0) +
					      entry->d_un.d_ptr);
	return NULL;
}

/* The profiler needs it, too, and says nothing of the program. */
static int needs_tracer(struct dl_phdr_info *info, size_t size, void *data)
{
	const ElfW(Dyn) *entry = find_entries(info);
	const char *names = entry ? find_names(info, entry) : NULL;
	int is_needed = 0;

	(void)size;
	(void)data;
	for (; names && entry->d_tag != DT_NULL; entry++) {
		const char *name = names + entry->d_un.d_val;
		if (entry->d_tag == DT_SONAME && !strcmp(name, profiler))
			return 0;
		if (entry->d_tag == DT_NEEDED)
			is_needed |= !strcmp(name, tracer);
	}
	return is_needed;
}

int tr2p_uses_trace2(void)
{
	return dl_iterate_phdr(needs_tracer, NULL);
}

#ifndef TR2_IS_SANITIZED
/*
 * AddressSanitizer asks for it, and would refuse to start, since it is not the first library.  What ASAN_OPTIONS has,
 * and what the program itself returns here, counts more.
 */
__attribute__((weak, visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}

/* The value of an entry; 0: it is not there. */
static size_t find_value(const ElfW(Dyn) *entry, ElfW(Sxword) tag)
{
	for (; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == tag)
			return (size_t)entry->d_un.d_val;
	return 0;
}

/* What stands in a list of beginnings; NULL ends it. */
static int begins_with_any(const char *name, const char *const *beginnings)
{
	for (; *beginnings; beginnings++)
		if (!strncmp(name, *beginnings, strlen(*beginnings)))
			return 1;
	return 0;
}

/* Runtimes in the process.  UNDEFINED: the harmless one, of undefined behaviour; ANY: names that all of them have */
enum { FOREIGN = 1, LEAKS = 2, UNDEFINED = 4, ANY = 8 };

static int find_in_name(const char *name)
{
	static const char *const foreign[] = { "__tsan_", "__msan_", "__hwasan_", NULL };
	static const char *const leaks[] = { "__asan_", "__lsan_", NULL };
	static const char *const undefined[] = { "__ubsan_", NULL };
	static const char *const any[] = { "__sanitizer_symbolize_", NULL };

	if (strncmp(name, "__", 2) != 0)
		return 0;
	return (begins_with_any(name, foreign) ? FOREIGN : 0) | (begins_with_any(name, leaks) ? LEAKS : 0) |
	       (begins_with_any(name, undefined) ? UNDEFINED : 0) | (begins_with_any(name, any) ? ANY : 0);
}

static int find_in_library(const char *name)
{
	static const char *const foreign[] = {
		"libtsan.so", "libhwasan.so", "libclang_rt.tsan", "libclang_rt.msan", "libclang_rt.hwasan", NULL
	};
	static const char *const leaks[] = {
		"libasan.so", "liblsan.so", "libclang_rt.asan", "libclang_rt.lsan", NULL
	};

	return (begins_with_any(name, foreign) ? FOREIGN : 0) | (begins_with_any(name, leaks) ? LEAKS : 0);
}

/* Of a library its own name counts, of the program all those by which it refers to others, and they to it. */
static int find_runtime(struct dl_phdr_info *info, size_t size, void *data)
{
	const ElfW(Dyn) *entries = find_entries(info);
	const char *names = entries ? find_names(info, entries) : NULL;
	size_t own = names ? find_value(entries, DT_SONAME) : 0, n = names ? find_value(entries, DT_STRSZ) : 0;
	int *found = data;

	(void)size;
	if (own)
		*found |= find_in_library(names + own);
	else if (!info->dlpi_name || !*info->dlpi_name)
		for (const char *name = names; name && name < names + n; name += strlen(name) + 1)
			*found |= find_in_name(name);
	return 0;
}

static int looks_for_leaks(void)
{
	static const char *const settings[] = { "ASAN_OPTIONS", "LSAN_OPTIONS" };

	for (unsigned i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		const char *value = getenv(settings[i]);
		if (value && strstr(value, "detect_leaks=0"))
			return 0;
	}
	return 1;
}

/* ThreadSanitizer that gcc has linked statically leaves no names of its own in the program, but those of all. */
const char *tr2p_why_not(void)
{
	int found = 0;

	dl_iterate_phdr(find_runtime, &found);
	if ((found & FOREIGN) || found == ANY)
		return "built with a sanitizer of threads or memory";
	if ((found & LEAKS) && looks_for_leaks())
		return "its sanitizer looks for leaks, which ASAN_OPTIONS=detect_leaks=0 prevents";
	return NULL;
}
#else
const char *tr2p_why_not(void)
{
	return NULL;   /* a sanitizer is in us ourselves, in tests */
}
#endif
