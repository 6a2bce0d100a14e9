/* SPDX-License-Identifier: MIT */
/* ownmodule.c - see ownmodule.h. */
#include "ownmodule.h"

#include <link.h>
#include <unistd.h>

struct search {
	uintptr_t address;
	struct t2x_module *module;
};

static int find_segment(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct search *search = data;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *head = &info->dlpi_phdr[i];
		const uintptr_t start = info->dlpi_addr + head->p_vaddr;
		if (head->p_type != PT_LOAD || search->address < start || search->address >= start + head->p_memsz)
			continue;
		search->module->start = start;
		search->module->limit = start + head->p_memsz;
		search->module->offset = head->p_offset;
		return 1;
	}
	return 0;
}

int own_module(uintptr_t address, struct t2x_module *module)
{
	static char program[4096];
	struct search search = { address, module };

	*module = (struct t2x_module){ .file = program, .build_id = "" };
	return readlink("/proc/self/exe", program, sizeof(program) - 1) > 0 && dl_iterate_phdr(find_segment, &search);
}
