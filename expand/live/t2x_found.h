/* SPDX-License-Identifier: MIT */
/*
 * t2x_found.h - the ring files and .tlg files of what is followed, found while it runs.
 *
 * A process belongs to it by its id, by its session id (a descendant), by the .tlg file it writes, or by the directory
 * of that file.  A process that lives for less than a millisecond can be gone before its ring file is opened; its .tlg
 * file is found all the same, by the directory.
 */
#ifndef T2X_FOUND_H
#define T2X_FOUND_H

#include "t2x_tail.h"
#include "t2x_tap.h"

struct t2x_found_target {
	enum { T2X_FOLLOW_FILE, T2X_FOLLOW_PROCESS, T2X_FOLLOW_DIRECTORY, T2X_FOLLOW_ALL } kind;
	const char *path;                 /* of the file or directory */
	uint32_t pid;
	uid_t user;                       /* whose ring files */
	uint64_t round_bytes;             /* of a file that are read in a round; 0: all */
	int takes_dead;                   /* the process may be dead, and have left a ring file */
	uint64_t since_ns;                /* older events in files that are there may be left out; 0: none */
};

/* A file of a directory in which new files are looked for, and how long it was when it was seen first. */
struct t2x_found_file {
	char *path;
	dev_t device;
	ino_t inode;
	uint64_t bytes;
	int has_tail;
	unsigned alike;                   /* index + 1 of the next file with the same key; 0: none */
};

struct t2x_found_tail {
	struct t2x_found_tail *next;
	struct t2x_tail tail;
	unsigned streams;                 /* in it, if reading began in its middle */
	unsigned idle;                    /* looks since it grew */
	int has_known;                    /* a process that is followed has written it */
	int is_guess;                     /* others may write it, too: only streams of known processes are wanted */
	int is_sure;                      /* a followed process says that it writes it, whoever wrote it before */
};

struct t2x_found {
	struct t2x_found_target target;
	struct t2x_tap *taps;
	struct t2x_found_tail *tails, *last_tail;   /* in the order in which they were written */
	struct t2x_found_file *files;
	unsigned nfiles, room;
	struct t2x_map by_file;           /* (void *)(index + 1) of the last file with this key */
	uint64_t searched_ms;             /* when the directories were searched */
	struct { dev_t device; ino_t inode; char *path; int is_known; } directories[16];
	unsigned ndirectories;
	int watch;                        /* inotify; -1: there is none */
	unsigned looks;                   /* so far */
	int is_due;                       /* the directories are to be searched, as soon as they may be */
	int is_forbidden;                 /* the process has a ring file that we may not open */
	int has_event;                    /* since the last look something appeared somewhere */
};

/* Return  NULL, or why it cannot be followed, in words */
const char *t2x_found_init(struct t2x_found *found, const struct t2x_found_target *target);
void t2x_found_free(struct t2x_found *found);

/* Look for what is new, and check all processes.  Return  0 or -ENOMEM */
int t2x_found_look(struct t2x_found *found);

/* Wait until something new appears, but not longer. */
void t2x_found_wait(struct t2x_found *found, int ms);

/* A file turned out to be somebody else's. */
void t2x_found_drop(struct t2x_found *found, struct t2x_found_tail *tail);

/* 1: a wanted process may still record. */
int t2x_found_is_alive(const struct t2x_found *found);

#endif
