/* SPDX-License-Identifier: MIT */
/* tr2_vdso.c - a shared object that the kernel maps into each process: its table of symbols. */
#include "tr2_vdso.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#if defined(__x86_64__)
static const char name[] = "__vdso_clock_gettime";
#else
static const char name[] = "__kernel_clock_gettime";
#endif

struct symbols {
	const ElfW(Sym) *table;
	const char *names;
	const ElfW(Word) *hash;   /* its second word says how many symbols there are */
};

/* Addresses in the object are relative to where it is. */
static struct symbols find_symbols(const unsigned char *object, const ElfW(Dyn) *dynamic)
{
	struct symbols symbols = { 0 };

	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		const void *at = object + dynamic->d_un.d_ptr;
		if (dynamic->d_tag == DT_SYMTAB)
			symbols.table = at;
		else if (dynamic->d_tag == DT_STRTAB)
			symbols.names = at;
		else if (dynamic->d_tag == DT_HASH)
			symbols.hash = at;
	}
	return symbols;
}

static const ElfW(Dyn) *find_dynamic(const unsigned char *object)
{
	const ElfW(Ehdr) *header = (const void *)object;
	const ElfW(Phdr) *segment = (const void *)(object + header->e_phoff);

	for (unsigned i = 0; i < header->e_phnum; i++)
		if (segment[i].p_type == PT_DYNAMIC)
			return (const void *)(object + segment[i].p_offset);
	return NULL;
}

tr2_vdso_clock *tr2_vdso_find_clock(void)
{
	const unsigned char *object = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Dyn) *dynamic = object ? find_dynamic(object) : NULL;
	struct symbols symbols;

	if (!dynamic)
		return NULL;
	symbols = find_symbols(object, dynamic);
	if (!symbols.table || !symbols.names || !symbols.hash)
		return NULL;
	for (ElfW(Word) i = 0; i < symbols.hash[1]; i++) {
		const ElfW(Sym) *symbol = &symbols.table[i];
		if (symbol->st_shndx != SHN_UNDEF && !strcmp(symbols.names + symbol->st_name, name))
			return (tr2_vdso_clock *)(uintptr_t)(object + symbol->st_value);
	}
	return NULL;
}
