/* SPDX-License-Identifier: MIT */
/*
 * rawread.h - for the tests of the runtime: a second, simple reader of .tlg files without LZ4.
 */
#ifndef RAWREAD_H
#define RAWREAD_H

#include <stddef.h>

#include "tlg.h"

enum { RAW_THREADS = 1 << 17 };

/* The content of a file. */
struct raw_file {
	struct tlg_event *events;
	size_t count;             /* events, BLOCKs included */
	size_t blocks;
	size_t bad_blocks;        /* with a wrong checksum, a wrong number, or cut off */
	size_t hits;
	size_t streams;           /* CYCLE events with a new stream id */
	size_t cycles;
	size_t ends;
	uint64_t end_stored;      /* of the last END */
	uint64_t lost;            /* the last total of each thread and reason, added up */
	uint64_t lost_by[TLG_LOSS_REASONS];   /* the same for each reason */
	unsigned end_reason;      /* of the last END */
	uint32_t pid;             /* of the last PROCINFO */
	uint64_t gaps;            /* events missing by sequence number, all threads */
};

/* Read and check a file.  Return  0; -1 if it cannot be read or is not a multiple of 24 bytes long. */
int raw_read(const char *path, struct raw_file *file);
void raw_free(struct raw_file *file);

/* Write the part of a file from its nth cycle on, which a reader that begins there gets.  Return  0; -1 */
int raw_write_from_cycle(const struct raw_file *file, size_t n, const char *path);

/* HITs whose SLOC, posted before them, has this style; and, label not NULL, this label. */
size_t raw_count(const struct raw_file *file, unsigned style, const char *label);

/*
 * Count in seen[v] how often each value v = 0..n-1 occurs as the first argument of a HIT with this style and label.
 * Return  the number of such HITs whose first argument is not below n
 */
size_t raw_tally(const struct raw_file *file, unsigned style, const char *label, unsigned char *seen, size_t n);

/* Return  how many of the values 0..n-1 do not occur exactly once there, and how many such HITs have another value */
size_t raw_not_once(const struct raw_file *file, unsigned style, const char *label, size_t n);

/* Of a thread, or with RAW_ALL of all: the number of HITs; the total of drops for this reason. */
#define RAW_ALL UINT64_MAX
size_t raw_stored(const struct raw_file *file, uint64_t tid);
uint64_t raw_lost(const struct raw_file *file, uint64_t tid, unsigned reason);

/* Get the label of the scope of the OPEN at event, from the SLOC before it in its cycle.  Return  its length, or -1 */
long raw_label(const struct raw_file *file, size_t event, char *to, size_t size);

/* Get the text arguments of the first HIT with this style, MOREs included.  Return  their length, or -1 */
long raw_text(const struct raw_file *file, unsigned style, char *to, size_t size);

#endif
