/* SPDX-License-Identifier: MIT */
/* t2x_top_private.h - what t2x_top_take.c adds up, t2x_top_view.c draws, and t2x_top_keys.c chooses. */
#ifndef T2X_TOP_PRIVATE_H
#define T2X_TOP_PRIVATE_H

#include "t2x_top.h"
#include "base/t2x_map.h"
#include "model/t2x_spans.h"
#include "query/t2x_histogram.h"

enum {
	T2X_TOP_ROWS = 16384,             /* of a kind; what comes beyond is one row, "(others)" */
	T2X_TOP_CACHED = 1024,
	T2X_TOP_FILTER = 64,
	T2X_TOP_HISTOGRAMS = 32 << 20,    /* bytes of histograms */
};

/* A label, or a function with its caller. */
struct t2x_top_row {
	struct t2x_top_row *alike;        /* with the same hash */
	char *name;
	uint64_t count, before;           /* events or samples; those up to the latest interval */
	double rate;                      /* a second, in the latest interval */
	uint64_t total_ns;                /* of regions that were left */
	struct t2x_histogram durations;
	/* filled in when it is drawn: */
	uint64_t p99;
	unsigned open;                    /* regions that are open now ... */
	uint64_t oldest_ns;               /* ... and when the oldest of them was entered */
};

struct t2x_top_rows {
	struct t2x_map by_hash;
	struct t2x_top_row **rows;
	unsigned n, room;
	struct t2x_top_row *others;       /* NULL: there has been room */
};

/* A thread, as it is drawn. */
struct t2x_top_thread {
	const struct t2x_spans *spans;
	uint32_t pid;
};

enum t2x_top_view { T2X_TOP_LABELS, T2X_TOP_THREADS, T2X_TOP_FUNCTIONS, T2X_TOP_DETAIL, T2X_TOP_HELP };
enum t2x_top_sort {
	T2X_TOP_BY_RATE, T2X_TOP_BY_COUNT, T2X_TOP_BY_TIME, T2X_TOP_BY_P99, T2X_TOP_BY_OPEN, T2X_TOP_SORTS
};

struct t2x_top {
	struct t2x_spans_table table;     /* first: a table's address is its top's */
	struct t2x_top_settings settings;
	struct t2x_printer *printer;
	struct t2x_top_rows labels, functions;
	struct { uint64_t scope; struct t2x_top_row *row; } cache[T2X_TOP_CACHED];
	size_t budget;                    /* bytes that histograms may still take */
	uint64_t events, events_before;
	double rate;
	uint64_t lost;                    /* events that the reader, or a program, is missing */
	uint64_t first_ns, drawn_ns;      /* when it began; when the latest interval ended */
	/* what is chosen */
	enum t2x_top_view view, back;
	enum t2x_top_sort sort;
	unsigned selected, first, shown;  /* row, first row on the screen, rows that the filter lets through */
	struct t2x_top_row *detail;
	char filter[T2X_TOP_FILTER];
	int is_typing;                    /* the filter */
	int is_changed;                   /* by a key: it is drawn at once */
	int is_raw;                       /* the terminal gives each key */
};

/* Its row.  Return  NULL: no memory */
struct t2x_top_row *t2x_top_find(struct t2x_top_rows *rows, const char *name);
void t2x_top_rows_free(struct t2x_top_rows *rows);

/* Take the terminal; give it back. */
void t2x_top_open_screen(struct t2x_top *top);
void t2x_top_close_screen(struct t2x_top *top);

/* Read the keys that were pressed.  Return  1: it is to end */
int t2x_top_read_keys(struct t2x_top *top);

void t2x_top_draw(struct t2x_top *top, uint64_t now_ns);

#endif
