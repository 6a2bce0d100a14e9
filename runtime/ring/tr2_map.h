/* SPDX-License-Identifier: MIT */
/*
 * tr2_map.h - where the ring file is mapped, how large its parts are, and how much of them is accessible.
 *
 *   head, tables, rings ->                                      chunks ->
 *   |--------------------- 1 MiB of rings -|....................|- 1 MiB -|......................................|
 *
 * The file is sparse and 8 GiB long, as a rule; what counts against RLIMIT_AS are the two extents of it that are mapped
 * (tr2_extent.h): 21 MiB at the start.  They grow as rings and chunks are used.
 */
#ifndef TR2_MAP_H
#define TR2_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "tlg_ring.h"

/*
 * If the address of the mapping allows it, the first chunk follows the first entries of the tables.  So two system
 * calls provide all that a short process needs.
 */
enum { TR2_MAP_FIRST_CHUNK_AT = TLG_RING_FIRST_AT + (int)sizeof(struct tlg_ring_first) };

/* The file's parts, as offsets and numbers.  format/tlg_ring.h says what they are. */
struct tr2_map {
	unsigned char *base;
	size_t first_chunk_at, tables_at, rings_at, chunks_at, bytes;
	unsigned rings, chunks;
	uint32_t text_bytes;
	int is_reduced;                   /* a limit made them fewer */
};

/*
 * Make the file long enough and map it.  fd -1: map anonymous memory.
 * max: how long the file may be.  RLIMIT_AS bounds it, too.  is_on_disk: the file is on a disk, or may be.
 * Return  base is NULL: there is no room    Thread  alone
 */
struct tr2_map tr2_map_create(int fd, uint64_t max, int is_on_disk);

/* Unmap what tr2_map_create() mapped last.  Thread  alone */
void tr2_map_destroy(void);

/* Make the extent that contains `to` accessible up to `to`.  Return  0 or -errno    Thread  any    Signal safe */
int tr2_map_reach(const unsigned char *to);

/* How many bytes of the two extents are accessible.  The caller ensures that none grows meanwhile. */
struct tr2_map_parts {
	size_t tables, chunks;
	int is_mapped;                    /* the rest is, too, but not accessible */
} tr2_map_parts(void);

#endif
