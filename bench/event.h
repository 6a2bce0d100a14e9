/* SPDX-License-Identifier: MIT */
/*
 * event.h - the events in the real work of bench_sqlite, bench_zstd and bench_server: ours, LTTng-UST's or none.
 *
 * `kind` is a constant where these are used, so that copies of the same work differ only in their events.  For LTTng
 * each event is a tracepoint with one integer, the cheapest one with the same information; a message is a text and an
 * integer.  Only the one .c file of such a program includes this header, because it defines the tracepoints.
 */
#ifndef EVENT_H
#define EVENT_H

#include <stddef.h>

#include "program.h"
#include "trace2.h"

#if __has_include(<lttng/tracepoint.h>)
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_tp.def"
#define EVENT_OF_LTTNG(...) lttng_ust_tracepoint(bench, __VA_ARGS__)
#else
#define EVENT_OF_LTTNG(...) ((void)0)
#endif

#define EVENT_(kind, ours, ...) \
	do { \
		if ((kind) == PROGRAM_OURS) \
			ours; \
		else if ((kind) == PROGRAM_LTTNG) \
			EVENT_OF_LTTNG(__VA_ARGS__); \
	} while (0)

#define EVENT_ENTER(kind, label) EVENT_(kind, trace2_region_enter("bench", label, NULL), integer, __LINE__)
#define EVENT_LEAVE(kind, label) EVENT_(kind, trace2_region_leave("bench", label, NULL), integer, __LINE__)
#define EVENT_STEP(kind, label) EVENT_(kind, trace2_step("bench", label), integer, __LINE__)
#define EVENT_ENTER_MESSAGE(kind, label, text, number) \
	EVENT_(kind, trace2_region_enter_printf("bench", label, NULL, "%s %d", text, number), message, text, number)

/* Define the copies of a function of (kind, thread, events) for struct program: NAME_none, NAME_ours, NAME_lttng. */
#define EVENT_COPY_(name, suffix, kind) \
	static void name##_##suffix(unsigned thread, unsigned events) \
	{ \
		name(kind, thread, events); \
	}
#define EVENT_COPIES(name) \
	EVENT_COPY_(name, none, PROGRAM_NONE) \
	EVENT_COPY_(name, ours, PROGRAM_OURS) \
	EVENT_COPY_(name, lttng, PROGRAM_LTTNG)
#define EVENT_INLINE static inline __attribute__((always_inline))

#endif
