/* SPDX-License-Identifier: MIT */
/*
 * tr2p_stacks_text.h - stacks as text, as in a crash report: with the names that the process itself knows.
 */
#ifndef TR2P_STACKS_TEXT_H
#define TR2P_STACKS_TEXT_H

#include "base/t2x_out.h"
#include "tr2p_stacks.h"

struct tr2p_module;

/* At most 2047 bytes at once. */
__attribute__((format(printf, 2, 3))) void tr2p_print(struct t2x_out *out, const char *format, ...);

/*
 * The end of a frame's line: " name+0x12 (/usr/bin/true+0x1234)", as far as they are known.
 * before  what stands in front of the name
 * module  that the address is in, or NULL
 */
void tr2p_print_place(struct t2x_out *out, const char *before, uintptr_t at, const struct tr2p_module *module);

/* Write the stacks of all threads.  Return  0, the errno of write, or ENOMEM */
int tr2p_stacks_write(const struct tr2p_stacks_thread *threads, unsigned n, t2x_write_fn *write, void *target);

#endif
