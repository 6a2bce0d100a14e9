/* SPDX-License-Identifier: MIT */
/*
 * feed.h - for the tests of the model and the writers: makes checkpoints, passes them to the model, compares the text.
 *
 * The process began at 2026-11-21 03:06:43.000000 UTC, in a zone one hour ahead.  Times are microseconds since then.
 * feed_expect() fails the test on the first byte that differs.
 */
#ifndef FEED_H
#define FEED_H

#include "model/t2x_model.h"

enum { FEED_SCOPES = 80, FEED_ARGS = 16, FEED_THREADS = 2 };

#define FEED_START_NS UINT64_C(1795230403000000000)

struct feed {
	int fd;
	struct t2x_out out;
	struct t2x_model *model;
	struct t2x_process process;
	struct t2x_thread thread[FEED_THREADS];   /* main; th01:worker, which began at 1000 us */
	struct t2x_scope scope[FEED_SCOPES];
	unsigned nscopes;
	uint16_t flags;                           /* for the next hits */
	unsigned current;                         /* thread of the next hits */
};

/* nesting as in struct t2x_options. */
void feed_open(struct feed *feed, const struct t2x_writer *writer, int brief, unsigned nesting);
void feed_open_with(struct feed *feed, const struct t2x_writer *writer, const struct t2x_options *options);

/* Make a scope at m.c:<scope number, from 1>; the test may change it before its first hit. */
struct t2x_scope *feed_scope(struct feed *feed, int style, const char *category, const char *label,
			     const char *format);

/*
 * A checkpoint at us.  letters: i int, u unsigned, s const char * (NULL: null text), d double, p pointer; an
 * argument for each follows.
 */
void feed_hit(struct feed *feed, struct t2x_scope *scope, uint64_t us, const char *letters, ...);

/* A checkpoint of a new scope without names. */
#define feed(feed_, style, ...) \
	feed_hit((feed_), feed_scope((feed_), TLG_STYLE_##style, NULL, NULL, NULL), __VA_ARGS__)

/* Make a long name, different for each number: "r", eight digits, then x's; bytes bytes with its NUL. */
void feed_long_name(char *name, size_t bytes, unsigned number);

/* A gap of the current thread, at us. */
void feed_gap(struct feed *feed, uint64_t us, struct t2x_gap gap);

/* Feed a checkpoint of every kind of the command and its children; of every other kind, and an unresolved one. */
void feed_commands(struct feed *feed);
void feed_regions(struct feed *feed);

/* End the feed.  Return  all text, for free() */
char *feed_finish(struct feed *feed);

/* End the feed and compare its text with the expected one. */
void feed_expect(struct feed *feed, const char *expected);

#endif
