/* SPDX-License-Identifier: MIT */
/* tr2p_module.c - modules by where their code lies, in a hash table that only grows. */
#include "tr2p_module.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tr2p_arena.h"
#include "tr2p_scratch.h"
#include "base/tr2_atomic.h"

enum { SLOTS = 1024, PAGE = 4096 };

static const struct tr2p_module *g_slots[SLOTS];

/* ---- what a module says of itself, in its memory ------------------------------------------------ */

/*
 * Its program headers, which are in the page where it begins; NULL: they are not.  Of the program itself the kernel has
 * said where they are: if there are gaps between its segments, what is found is the one segment.
 */
static const ElfW(Phdr) *find_headers(const struct dl_find_object *found, unsigned *count)
{
	const char *name = found->dlfo_link_map->l_name;
	const ElfW(Ehdr) *elf = found->dlfo_map_start;
	size_t bytes = (size_t)((char *)found->dlfo_map_end - (char *)found->dlfo_map_start);

	if (!name || !*name) {
		*count = (unsigned)getauxval(AT_PHNUM);
		return (const void *)getauxval(AT_PHDR);
	}
	if (bytes < sizeof(*elf) || memcmp(elf->e_ident, ELFMAG, SELFMAG) || elf->e_phentsize != sizeof(ElfW(Phdr)) ||
	    elf->e_phoff + (size_t)elf->e_phnum * sizeof(ElfW(Phdr)) > (bytes < PAGE ? bytes : PAGE))
		return NULL;
	*count = elf->e_phnum;
	return (const void *)((const char *)elf + elf->e_phoff);
}

static size_t round_up(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* Note the build-id, if it is among these notes. */
static void find_id(struct tr2p_module *module, const unsigned char *note, size_t bytes)
{
	ElfW(Nhdr) head;

	while (bytes >= sizeof(head)) {
		size_t name, all;
		memcpy(&head, note, sizeof(head));
		if (head.n_namesz > bytes || head.n_descsz > bytes)
			return;
		name = sizeof(head) + round_up(head.n_namesz);
		all = name + round_up(head.n_descsz);
		if (all > bytes)
			return;
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && !memcmp(note + sizeof(head), "GNU", 4) &&
		    head.n_descsz <= sizeof(module->id)) {
			module->id_at = note + name;
			module->id_size = head.n_descsz;
			memcpy(module->id, module->id_at, head.n_descsz);
			return;
		}
		note += all;
		bytes -= all;
	}
}

/* Fill in what the headers say: the segment that the address is in, the build-id. */
static void read_headers(struct tr2p_module *module, const struct dl_find_object *found, uintptr_t address)
{
	unsigned count = 0;
	const ElfW(Phdr) *head = find_headers(found, &count);

	for (; head && count; count--, head++) {
		uintptr_t start = module->bias + head->p_vaddr;
		if (head->p_type == PT_LOAD && address >= start && address - start < head->p_memsz) {
			module->offset = head->p_offset & ~(uint64_t)(PAGE - 1);
			module->start = start & ~(uintptr_t)(PAGE - 1);
			module->end = (start + head->p_memsz + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
		}
		if (head->p_type == PT_NOTE && !module->id_size)
			find_id(module, (const unsigned char *)start, head->p_filesz);
	}
}

/* ---- the table ---------------------------------------------------------------------------------- */

static char g_begun_in[TR2P_PATH];        /* the working directory when the profiler began; "": not known */

void tr2p_module_init(void)
{
	if (!getcwd(g_begun_in, sizeof(g_begun_in)))
		*g_begun_in = '\0';
}

/* Behind the directory of n bytes that is there.  Return  the length of a path that leads to a file; 0: it does not */
static size_t put_behind(const char *name, char *to, size_t n, size_t size)
{
	size_t length = strlen(name);

	if (!n || *to != '/' || n + 1 + length >= size)
		return 0;
	to[n] = '/';
	memcpy(to + n + 1, name, length + 1);
	return access(to, F_OK) ? 0 : n + 1 + length;
}

/*
 * The loader notes a path as it was given: by LD_LIBRARY_PATH when the program began, or by dlopen() perhaps now.  It
 * is of no use in another directory, so that of then or of now comes in front of it.  Return  0: it is in neither
 */
static size_t find_relative(const char *name, char *to, size_t size)
{
	size_t n = strlen(g_begun_in), length;
	long got;

	while (name[0] == '.' && name[1] == '/')
		name += 2;
	memcpy(to, g_begun_in, n);
	length = put_behind(name, to, n, size);
	if (length)
		return length;
	got = syscall(SYS_getcwd, to, size);      /* getcwd() may allocate */
	return got > 1 ? put_behind(name, to, (size_t)got - 1, size) : 0;
}

/* The program's own path is not in its link map. */
static size_t find_path(const struct link_map *link, char *to, size_t size)
{
	const char *name = link->l_name;
	size_t length;
	ssize_t n;

	if (name && *name) {
		length = *name != '/' && strchr(name, '/') ? find_relative(name, to, size) : 0;
		if (length)
			return length;
		length = strnlen(name, size - 1);
		memcpy(to, name, length);
		return length;
	}
	n = readlink("/proc/self/exe", to, size - 1);
	return n > 0 ? (size_t)n : 0;
}

static const struct tr2p_module *make_by(char path[TR2P_PATH], const struct dl_find_object *found, uintptr_t address)
{
	size_t length = find_path(found->dlfo_link_map, path, TR2P_PATH);
	struct tr2p_module *module = tr2p_arena_acquire(sizeof(*module) + length + 1);

	if (!module)
		return NULL;
	module->start = (uintptr_t)found->dlfo_map_start;
	module->end = (uintptr_t)found->dlfo_map_end;
	module->link = found->dlfo_link_map;
	module->bias = found->dlfo_link_map->l_addr;
	read_headers(module, found, address);
	for (size_t i = 0; i < length; i++)
		module->path[i] = path[i] == '\n' ? '?' : path[i];   /* its text is a line */
	return module;
}

/* noinline: only here the stack has a buffer of its own. */
static __attribute__((noinline)) const struct tr2p_module *make_here(const struct dl_find_object *found,
								     uintptr_t address)
{
	char path[TR2P_PATH];

	return make_by(path, found, address);
}

static const struct tr2p_module *make_module(const struct dl_find_object *found, uintptr_t address)
{
	char *path = tr2p_scratch_acquire();
	const struct tr2p_module *module;

	_Static_assert((int)TR2P_PATH <= (int)TR2P_SCRATCH_BYTES, "it has room for a path");
	module = path ? make_by(path, found, address) : make_here(found, address);
	tr2p_scratch_release(path);
	return module;
}

/*
 * What lies where its build-id was is another one?  Only in the page where the module begins that is there now: of one
 * that was unloaded the rest may be nobody's memory.
 */
static int has_other_id(const struct tr2p_module *module, const unsigned char *page)
{
	return module->id_size && module->id_at >= page && module->id_at + module->id_size <= page + PAGE &&
	       memcmp(module->id, module->id_at, module->id_size);
}

static int is_of(const struct tr2p_module *module, const struct dl_find_object *found, uintptr_t address)
{
	return address >= module->start && address < module->end && module->link == found->dlfo_link_map &&
	       module->bias == found->dlfo_link_map->l_addr && !has_other_id(module, found->dlfo_map_start);
}

const struct tr2p_module *tr2p_module_of(uintptr_t address, const struct tr2p_module *near)
{
	const struct tr2p_module *module, *mine = NULL;
	struct dl_find_object found;
	size_t hash;

	if (near && address >= near->start && address < near->end)
		return near;
	if (_dl_find_object((void *)address, &found) || !found.dlfo_link_map)
		return NULL;
	hash = (size_t)(((uint64_t)(uintptr_t)found.dlfo_map_start * UINT64_C(0x9e3779b97f4a7c15)) >> 40);
	for (size_t probe = 0; probe < SLOTS; probe++) {
		const struct tr2p_module **slot = &g_slots[(hash + probe) % SLOTS];
		module = tr2_load_acq(slot); /* [P1] acquire: the module.  Pairs with the exchange below */
		if (!module) {
			if (!mine && !(mine = make_module(&found, address)))
				return NULL;
			if (tr2_cas_acq_rel(slot, NULL, mine)) /* [P1] release: publishes the module */
				return mine;
			module = tr2_load_acq(slot); /* [P1] acquire: another thread's.  Pairs with its exchange */
		}
		if (is_of(module, &found, address))
			return module;
	}
	return NULL;
}

/* ---- code of no file ---------------------------------------------------------------------------- */

static const struct tr2p_module *g_none;  /* of this process, or of its parent */

/* Signal safe, unlike snprintf() */
static void put_none(char *path, unsigned long pid)
{
	static const char begin[] = "[jit:";
	char digits[20];
	unsigned n = 0;

	do
		digits[n++] = (char)('0' + pid % 10);
	while (pid /= 10);
	memcpy(path, begin, sizeof(begin) - 1);
	path += sizeof(begin) - 1;
	while (n)
		*path++ = digits[--n];
	memcpy(path, "]", 2);
}

/* It begins at 0 and has all addresses, so it stands behind the others in a text. */
const struct tr2p_module *tr2p_module_of_none(void)
{
	const uintptr_t pid = (uintptr_t)getpid();
	/* [P1] acquire: the module.  Pairs with the exchange below */
	const struct tr2p_module *none = tr2_load_acq(&g_none);
	struct tr2p_module *mine;

	if (none && none->bias == pid)
		return none;
	mine = tr2p_arena_acquire(sizeof(*mine) + 32);
	if (!mine)
		return NULL;
	mine->end = UINTPTR_MAX;
	mine->bias = pid;
	put_none(mine->path, pid);
	/* [P1] release: publishes the module.  Another thread may have been faster: then this one is used once. */
	tr2_cas_acq_rel(&g_none, none, mine);
	return mine;
}

/* ---- texts -------------------------------------------------------------------------------------- */

/* Bytes appended at at, as far as they fit; at goes on in any case. */
static size_t put(char *to, size_t size, size_t at, const char *from, size_t n)
{
	for (size_t i = 0; i < n && at + i < size; i++)
		to[at + i] = from[i];
	return at + n;
}

/* The NUL behind what has been put up to at.  Return  at */
static size_t end_text(char *to, size_t size, size_t at)
{
	if (size)
		to[at < size ? at : size - 1] = '\0';
	return at;
}

static size_t put_hex(char *to, size_t size, size_t at, uint64_t value)
{
	char digits[16];
	unsigned n = 0;

	do
		digits[sizeof(digits) - ++n] = "0123456789abcdef"[value % 16];
	while (value /= 16);
	return put(to, size, at, digits + sizeof(digits) - n, n);
}

static size_t put_module(char *to, size_t size, size_t at, const struct tr2p_module *module)
{
	at = put_hex(to, size, at, module->start);
	at = put(to, size, at, "-", 1);
	at = put_hex(to, size, at, module->end);
	at = put(to, size, at, " ", 1);
	at = put_hex(to, size, at, module->offset);
	at = put(to, size, at, " ", 1);
	for (unsigned i = 0; i < module->id_size; i++) {
		at = put(to, size, at, &"0123456789abcdef"[module->id[i] / 16], 1);
		at = put(to, size, at, &"0123456789abcdef"[module->id[i] % 16], 1);
	}
	at = put(to, size, at, "- ", module->id_size ? 0 : 1);
	at = put(to, size, at, " ", 1);
	return put(to, size, at, module->path, strlen(module->path));
}

static int is_before(const struct tr2p_module *const *modules, unsigned n, const struct tr2p_module *module)
{
	while (n)
		if (modules[--n] == module)
			return 1;
	return 0;
}

size_t tr2p_module_text(const struct tr2p_module *const *modules, unsigned n, char *to, size_t size)
{
	size_t at = 0;

	const struct tr2p_module *none = NULL;

	for (unsigned i = 0; i < n; i++) {
		if (!modules[i] || is_before(modules, i, modules[i]))
			continue;
		if (modules[i]->end == UINTPTR_MAX) {
			none = modules[i];
			continue;
		}
		if (at)
			at = put(to, size, at, "\n", 1);
		at = put_module(to, size, at, modules[i]);
	}
	if (none) {
		at = put(to, size, at, "\n", at != 0);
		at = put_module(to, size, at, none);
	}
	return end_text(to, size, at);
}

size_t tr2p_stack_text(const uintptr_t *at, unsigned n, char *to, size_t size)
{
	size_t end = 0;

	for (unsigned i = 0; i < n; i++) {
		if (i)
			end = put(to, size, end, " ", 1);
		end = put_hex(to, size, end, at[i]);
	}
	return end_text(to, size, end);
}
