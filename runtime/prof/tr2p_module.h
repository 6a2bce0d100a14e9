/* SPDX-License-Identifier: MIT */
/*
 * tr2p_module.h - the program and the shared libraries in its memory, as samples find them.
 *
 * A module is looked up by _dl_find_object(), which takes no lock, and read from its headers in memory.  A library
 * that is loaded in the place of another one is a module of its own.
 */
#ifndef TR2P_MODULE_H
#define TR2P_MODULE_H

#include <stddef.h>
#include <stdint.h>

enum { TR2P_PATH = 512 };             /* of a path at most; the rest is cut */

struct tr2p_module {
	uintptr_t start, end;         /* in memory, of the segment that has its code */
	uint64_t offset;              /* in the file of what is at start */
	uintptr_t bias;               /* added to addresses of the file */
	const void *link;             /* of the loader: tells two apart that lie at the same place */
	unsigned id_size;
	unsigned char id[32];         /* build-id; id_size 0: none */
	const unsigned char *id_at;   /* where that is in the memory of the module; NULL */
	char path[];
};

/* Note the working directory, in which a library may have been found by a relative path.  Once, before the others. */
void tr2p_module_init(void);

/*
 * The module that an address is in, or NULL: none, or no memory for another one.
 * near    one that was found before, which is tried first; or NULL
 * Thread  any, no lock    Signal safe    Cost  20 ns; 1 us when it is new
 */
const struct tr2p_module *tr2p_module_of(uintptr_t address, const struct tr2p_module *near);

/*
 * The module of an address that is in none: code that the process has made at run time.  It has no file, and is named
 * "[jit:PID]" after the process, so that whoever reads the trace can look for what its compiler said (perf-PID.map).
 * Return  NULL: no memory    Thread  any, no lock    Signal safe
 */
const struct tr2p_module *tr2p_module_of_none(void);

/*
 * The text of a sample's modules, and of its stack, as FORMAT.md section 8 has them, as far as it fits.
 * to      at least size bytes, ended by a NUL; may be NULL if size is 0
 * Return  bytes of all of it, without the NUL
 */
size_t tr2p_module_text(const struct tr2p_module *const *modules, unsigned n, char *to, size_t size);
size_t tr2p_stack_text(const uintptr_t *at, unsigned n, char *to, size_t size);

#endif
