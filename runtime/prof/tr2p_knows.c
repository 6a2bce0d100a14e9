/* SPDX-License-Identifier: MIT */
/* tr2p_knows.c - what the modules of the process say that they need. */
#include "tr2p_knows.h"

#include <link.h>
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
			return (const char *)(entry->d_un.d_ptr < info->dlpi_addr ? info->dlpi_addr : 0) +
			       entry->d_un.d_ptr;
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

int tr2p_knows_trace2(void)
{
	return dl_iterate_phdr(needs_tracer, NULL);
}
