/* SPDX-License-Identifier: MIT */
/*
 * t2x_jit_files.h - where the names of a process's own code are kept, and those of the kernel's functions.
 *
 * The compiler in the process writes perf-PID.map or jit-PID.dump, mostly into /tmp, and a later process with the same
 * id overwrites it.  So `t2 record' puts what these files say at the end of the trace, when the program is over: a
 * skippable LZ4 frame, which every reader of such frames passes over.  FORMAT.md, section 7, describes it.
 *
 * A sample says which process has made the code, by a module of the name "[jit:PID]".
 */
#ifndef T2X_JIT_FILES_H
#define T2X_JIT_FILES_H

#include "t2x_jit.h"
#include "t2x_kernel.h"
#include "t2x_names.h"

/* Longer ones are left alone: files; what stands at the end of a trace. */
enum { T2X_JIT_MAX_FILE = 64 << 20, T2X_JIT_MAX_TEXT = 12 << 20 };

/* Where the traces have the names of each process.  All zero: nobody has looked yet. */
struct t2x_jit_index {
	struct t2x_jit_place {
		uint32_t pid;             /* 0: names of the kernel ... */
		char boot[T2X_KERNEL_BOOT];       /* ... that was started then */
		unsigned trace;
		size_t n;                 /* bytes ... */
		uint64_t at;              /* ... from there on */
	} *places;                        /* by pid and trace */
	size_t n, max;
	int is_made;
};

void t2x_jit_index_free(struct t2x_jit_index *index);

/* Return  1: this is the name of such a module, and pid is that of the process */
int t2x_jit_files_parse(const char *file, uint32_t *pid);

/* What the process has written, into this directory.  Return  0: nothing is there */
int t2x_jit_files_read(struct t2x_jit *jit, const char *directory, uint32_t pid);

/*
 * The names of a process, from the first of these that has some: the ends of the traces; the directory of --binaries;
 * if that was not given, /tmp and the working directory.
 */
void t2x_jit_files_find(struct t2x_jit *jit, struct t2x_jit_index *index, const struct t2x_symbols_places *places,
			uint32_t pid);

/* The names that the ends of the traces have of a kernel, by the id of its start. */
void t2x_jit_files_find_kernel(struct t2x_jit *jit, struct t2x_jit_index *index,
			       const struct t2x_symbols_places *places, const char *boot);

/*
 * Append the frame to a trace that is in LZ4 frames.
 * text    of a kernel a line "kernel BOOT", the id of its start; of each process a line "jit PID", in decimal; behind
 *         it lines as of a perf-PID.map.  Readers before 0.2.0 know only "jit", and skip what is in front of the first
 * Return  0, or an errno
 */
int t2x_jit_files_append(int fd, const char *text, size_t n);

#endif
