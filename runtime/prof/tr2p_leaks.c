/* SPDX-License-Identifier: MIT */
/* tr2p_leaks.c - the buckets of the heap profile that have something in use, sorted. */
#include "tr2p_leaks.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/tr2_atomic.h"
#include "tr2p_bucket.h"
#include "tr2p_labels.h"
#include "tr2p_live.h"
#include "tr2p_module.h"
#include "tr2p_thread.h"

static int g_fd;

/* ---- text ------------------------------------------------------------------------------------------ */

struct text {
	int fd;
	size_t n;
	char buffer[4096];
};

/* What cannot be written is lost: at exit there is nobody to be told. */
static void flush(struct text *text)
{
	for (size_t at = 0; at < text->n;) {
		ssize_t n = write(text->fd, text->buffer + at, text->n - at);
		if (n < 0 && errno != EINTR)
			break;
		at += n > 0 ? (size_t)n : 0;
	}
	text->n = 0;
}

__attribute__((format(printf, 2, 3))) static void print(struct text *text, const char *format, ...)
{
	va_list args;
	int n;

	if (text->n > sizeof(text->buffer) / 2)
		flush(text);
	va_start(args, format);
	n = vsnprintf(text->buffer + text->n, sizeof(text->buffer) - text->n, format, args);
	va_end(args);
	if (n > 0)
		text->n += (size_t)n < sizeof(text->buffer) - text->n ? (size_t)n : sizeof(text->buffer) - text->n - 1;
}

/* What the name of a thing ends with, when there are n of it. */
static const char *plural(int64_t n)
{
	return n == 1 ? "" : "s";
}

static void print_frame(struct text *text, uintptr_t at, const struct tr2p_module *module)
{
	Dl_info info;

	print(text, "    %#" PRIxPTR, at);
	if (dladdr((void *)at, &info) && info.dli_sname)
		print(text, " %s+%#" PRIxPTR, info.dli_sname, at - (uintptr_t)info.dli_saddr);
	if (module)
		print(text, " (%s+%#" PRIxPTR ")", module->path, at - module->bias);
	print(text, "\n");
}

/* ---- what is in use -------------------------------------------------------------------------------- */

struct leak {
	const struct tr2p_bucket *bucket;
	int64_t samples, count, value;    /* estimated, but for samples */
};

static struct leak leak_of(const struct tr2p_bucket *bucket)
{
	struct tr2p_totals totals = tr2p_bucket_totals(bucket);

	return (struct leak){ bucket, totals.count - totals.freed_count,
			      (totals.all_count - totals.freed_all_count + TR2P_COUNT_PARTS / 2) / TR2P_COUNT_PARTS,
			      (totals.all_value - totals.freed_all_value + TR2P_BYTE_PARTS / 2) / TR2P_BYTE_PARTS };
}

static int by_value(const void *a, const void *b)
{
	const struct leak *one = a, *two = b;

	return (one->value < two->value) - (one->value > two->value);
}

static void print_amount(struct text *text, const struct leak *leak)
{
	print(text, "%" PRId64 " byte%s in %" PRId64 " object%s, %" PRId64 " sample%s\n", leak->value,
	      plural(leak->value), leak->count, plural(leak->count), leak->samples, plural(leak->samples));
}

static void print_leak(struct text *text, const struct leak *leak)
{
	const char *const *labels = tr2p_labels_list(leak->bucket->labels);

	print_amount(text, leak);
	for (; labels && *labels; labels += 2)
		print(text, "    %.200s=%.200s\n", labels[0], labels[1]);
	for (unsigned i = 0; i < leak->bucket->n; i++)
		print_frame(text, leak->bucket->at[i], leak->bucket->modules[i]);
}

static void print_all(struct text *text, struct leak *leaks, size_t n)
{
	struct leak all = { NULL, 0, 0, 0 };

	qsort(leaks, n, sizeof(*leaks), by_value);
	for (size_t i = 0; i < n; i++) {
		all.samples += leaks[i].samples;
		all.count += leaks[i].count;
		all.value += leaks[i].value;
	}
	print(text, "trace2: process %ld: in use at exit: ", (long)getpid());
	print_amount(text, &all);
	if (tr2p_bucket_dropped(TR2P_HEAP) + tr2p_live_lost())
		print(text, "and more: %" PRIu64 " samples found no memory\n",
		      tr2p_bucket_dropped(TR2P_HEAP) + tr2p_live_lost());
	for (size_t i = 0; i < n; i++)
		print_leak(text, &leaks[i]);
}

void tr2p_leaks_write(int fd)
{
	struct text text = { .fd = fd };
	struct leak *leaks;
	size_t n = 0, max;
	int saved = errno;

	tr2p_enter();
	max = tr2p_bucket_count(TR2P_HEAP);
	leaks = calloc(max + 1, sizeof(*leaks));
	if (leaks) {
		for (struct tr2p_bucket *b = tr2p_bucket_first(TR2P_HEAP); b && n < max; b = b->next) {
			leaks[n] = leak_of(b);
			n += leaks[n].samples > 0;
		}
		print_all(&text, leaks, n);
		flush(&text);
		free(leaks);
	}
	tr2p_leave();
	errno = saved;
}

void tr2p_leaks_at_exit(int fd)
{
	tr2_store_rlx(&g_fd, fd); /* relaxed: a number by itself */
}

/* Behind the program's handlers of exit() and its destructors. */
__attribute__((destructor)) static void at_exit(void)
{
	int fd = tr2_load_rlx(&g_fd); /* relaxed: as above */

	if (fd > 0)
		tr2p_leaks_write(fd);
}
