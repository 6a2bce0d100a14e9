/* SPDX-License-Identifier: MIT */
/* tr2p_text.h - what reports for people have in common: the names that the process itself knows. */
#ifndef TR2P_TEXT_H
#define TR2P_TEXT_H

#include <stdint.h>

#include "base/t2x_out.h"

struct tr2p_module;

/* At most 2047 bytes at once. */
__attribute__((format(printf, 2, 3))) void tr2p_print(struct t2x_out *out, const char *format, ...);

/*
 * The end of a frame's line: " name+0x12 (/usr/bin/true+0x1234)", as far as they are known.
 * before  what stands in front of the name
 * module  that the address is in, or NULL
 */
void tr2p_print_place(struct t2x_out *out, const char *before, uintptr_t at, const struct tr2p_module *module);

#endif
