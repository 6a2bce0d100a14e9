/* SPDX-License-Identifier: MIT */
/*
 * tlg_show.h - prints descriptions of the format: the XML document of --show_format, and the tables of FORMAT.md.
 *
 * All text comes from the descriptor tables.  A function of the caller gets the text in pieces, so that the traced
 * program can calculate its checksum without any I/O.
 */
#ifndef TLG_SHOW_H
#define TLG_SHOW_H

#include <stddef.h>
#include <stdint.h>

/* Receives n bytes of text, not NUL-terminated. */
typedef void tlg_show_fn(void *to, const char *text, size_t n);

/* The layout of this machine's events, StackTrack's RAW_FORMAT. */
void tlg_show_xml(tlg_show_fn *put, void *to);

/* The tables of FORMAT.md, each between its two marker comments. */
void tlg_show_md(tlg_show_fn *put, void *to);

/*
 * CRC-32C (seed 0) of what tlg_show_xml() prints: PROLOGUE.layout.
 * Thread any    Alloc none    Cost  about 20 us
 */
uint32_t tlg_show_crc(void);

#endif
