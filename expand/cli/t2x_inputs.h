/* SPDX-License-Identifier: MIT */
/*
 * t2x_inputs.h - the inputs of a run: files that were named, those in directories, those that ring files belong to.
 * Each is one input, by however many names it was given.
 */
#ifndef T2X_INPUTS_H
#define T2X_INPUTS_H

#include "t2x_dir.h"
#include "t2x_recover.h"
#include "base/t2x_map.h"
#include "read/t2x_input.h"

struct t2x_inputs {
	const struct t2x_settings *settings;
	const struct t2x_layout *layout;  /* of a foreign platform, or NULL */
	struct t2x_report *report;
	struct t2x_dir *dirs;             /* of the paths that are directories, in their order */
	struct t2x_input *items;
	unsigned n;
	struct t2x_open_files open_files;
	struct t2x_map by_file;           /* the first item of those whose device and inode have the same key */
	int is_stdin;                     /* standard input is one of them */
	unsigned twice;                   /* files that were given before */
	int is_unusable;                  /* one could not be used at all */
};

/* Those of the settings, and capacity for as many ring files.  Return  0 or -ENOMEM; to be freed in any case */
int t2x_inputs_find(struct t2x_inputs *inputs, unsigned rings);

/* A ring file goes with the .tlg file of its process, if that is there.  is_unasked  1: only if that is an input */
void t2x_inputs_add_ring(struct t2x_inputs *inputs, struct t2x_recovered *item, int is_unasked);

struct t2x_input *t2x_inputs_get(const struct t2x_inputs *inputs, dev_t device, ino_t inode);

/* How many bytes the files have; 0: nobody knows, for not all are files. */
uint64_t t2x_inputs_bytes(const struct t2x_inputs *inputs);

/* All have been read: say what they turned out to be. */
void t2x_inputs_judge(struct t2x_inputs *inputs);

/* Forget the items; others can be added. */
void t2x_inputs_clear(struct t2x_inputs *inputs);
void t2x_inputs_free(struct t2x_inputs *inputs);

#endif
