/* SPDX-License-Identifier: MIT */
/*
 * t2x_raw_names.h - the definitions that a stream has made: source files, and callsites by their content.
 *
 * Names longer than T2X_RAW_NAME_BYTES are cut.
 */
#ifndef T2X_RAW_NAMES_H
#define T2X_RAW_NAMES_H

#include "t2x_git_line.h"
#include "base/t2x_map.h"

enum { T2X_RAW_NAME_BYTES = TLG_NAME_MAX, T2X_RAW_NAMES_MAX = 1 << 20 };

struct t2x_raw_file {
	struct t2x_raw_file *next;        /* with the same hash */
	uint16_t number;
	uint32_t cycle;                   /* the last one that has its FLOC */
	size_t bytes;
	char name[];
};

struct t2x_raw_callsite {
	struct t2x_raw_callsite *next;    /* with the same hash */
	struct t2x_raw_file *file;        /* NULL: none */
	struct tlg_sourceloc place;
	uint32_t cycle;                   /* the last one that has its SLOC */
	size_t bytes;
	char names[];                     /* as SLOC has them */
};

/* All zero: none. */
struct t2x_raw_names {
	struct t2x_map files, callsites;          /* by hash */
	struct t2x_map by_index;                  /* callsites */
	uint32_t nfiles;
};

/* Return  index of the line's callsite; 0: no memory, or too many */
uint32_t t2x_raw_names_of(struct t2x_raw_names *names, const struct t2x_git_line *line);

const struct t2x_raw_callsite *t2x_raw_names_get(const struct t2x_raw_names *names, uint32_t index);

/* The cycle has the callsite and its file now. */
void t2x_raw_names_written(struct t2x_raw_names *names, uint32_t index, uint32_t cycle);

void t2x_raw_names_free(struct t2x_raw_names *names);

#endif
