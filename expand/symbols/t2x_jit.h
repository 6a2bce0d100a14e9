/* SPDX-License-Identifier: MIT */
/*
 * t2x_jit.h - the names of code that a process has made at run time.
 *
 * A compiler in a process (node, a JVM, .NET, CPython) can say what it has made, in one of two forms that perf(1)
 * knows: a text, perf-PID.map, of lines "start size name"; or jit-PID.dump, records with the code itself.  Both only
 * grow.  Where two entries have the same address, the later one counts: the code of the earlier one is gone.
 *
 * Bytes come from anywhere, so each number is checked.  What is no entry is skipped.
 */
#ifndef T2X_JIT_H
#define T2X_JIT_H

#include <stddef.h>
#include <stdint.h>

/* Of a name; how many entries are kept. */
enum { T2X_JIT_MAX_NAME = 1024, T2X_JIT_MAX = 1 << 18 };

struct t2x_jit_entry {
	uint64_t start, end;
	uint64_t reach;                   /* once they are sorted: the largest end so far */
	uint64_t index;                   /* by which a dump speaks of this code */
	uint32_t number;                  /* in the order of the file */
	uint32_t length;                  /* of the name ... */
	size_t name;                      /* ... which begins there in the texts */
};

struct t2x_jit {
	struct t2x_jit_entry *entries;
	size_t n, max;
	char *texts;                      /* names, each with a NUL behind it */
	size_t bytes, max_bytes;
	int is_sorted;
	int error;                        /* there was no memory: what is here may be used */
};

/* All zero is an empty one. */
void t2x_jit_free(struct t2x_jit *jit);

/* Add what is in a file of this form.  More than one file may be added, the later one last. */
void t2x_jit_add_map(struct t2x_jit *jit, const char *text, size_t n);
void t2x_jit_add_dump(struct t2x_jit *jit, const unsigned char *bytes, size_t n);

/* Return  the name of the code at an address; NULL: it has none.  Valid until more is added */
const char *t2x_jit_find(struct t2x_jit *jit, uint64_t address);

#endif
