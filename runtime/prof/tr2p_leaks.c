/* SPDX-License-Identifier: MIT */
/* tr2p_leaks.c - the buckets of the heap profile that have something in use, sorted. */
#include "tr2p_leaks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/tr2_atomic.h"
#include "tr2p_bucket.h"
#include "tr2p_labels.h"
#include "tr2p_live.h"
#include "tr2p_sigpipe.h"
#include "tr2p_stacks_text.h"
#include "tr2p_thread.h"

static int g_fd;

/* What the name of a thing ends with, when there are n of it. */
static const char *plural(int64_t n)
{
	return n == 1 ? "" : "s";
}

static void print_frame(struct t2x_out *out, uintptr_t at, const struct tr2p_module *module)
{
	tr2p_print(out, "    %#" PRIxPTR, at);
	tr2p_print_place(out, " ", at, module);
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

static void print_amount(struct t2x_out *out, const struct leak *leak)
{
	tr2p_print(out, "%" PRId64 " byte%s in %" PRId64 " object%s, %" PRId64 " sample%s\n", leak->value,
		   plural(leak->value), leak->count, plural(leak->count), leak->samples, plural(leak->samples));
}

static void print_leak(struct t2x_out *out, const struct leak *leak)
{
	const char *const *labels = tr2p_labels_list(leak->bucket->labels);

	print_amount(out, leak);
	for (; labels && *labels; labels += 2)
		tr2p_print(out, "    %.200s=%.200s\n", labels[0], labels[1]);
	for (unsigned i = 0; i < leak->bucket->n; i++)
		print_frame(out, leak->bucket->at[i], leak->bucket->modules[i]);
}

static void print_all(struct t2x_out *out, struct leak *leaks, size_t n)
{
	struct leak all = { NULL, 0, 0, 0 };

	qsort(leaks, n, sizeof(*leaks), by_value);
	for (size_t i = 0; i < n; i++) {
		all.samples += leaks[i].samples;
		all.count += leaks[i].count;
		all.value += leaks[i].value;
	}
	tr2p_print(out, "trace2: process %ld: in use at exit: ", (long)getpid());
	print_amount(out, &all);
	if (tr2p_bucket_dropped(TR2P_HEAP) + tr2p_live_lost())
		tr2p_print(out, "and more: %" PRIu64 " samples found no memory\n",
			   tr2p_bucket_dropped(TR2P_HEAP) + tr2p_live_lost());
	for (size_t i = 0; i < n; i++)
		print_leak(out, &leaks[i]);
}

/* What cannot be written is lost: at exit nobody is left to whom an error could be reported. */
static int write_text(void *fd, const char *bytes, size_t n)
{
	struct tr2p_sigpipe held;
	int error;

	tr2p_sigpipe_hold(&held);
	error = t2x_out_write_all(*(const int *)fd, bytes, n);
	tr2p_sigpipe_release(&held, error);
	return error;
}

static void write_leaks(struct t2x_out *out)
{
	size_t n = 0, max = tr2p_bucket_count(TR2P_HEAP);
	struct leak *leaks = calloc(max + 1, sizeof(*leaks));

	if (!leaks)
		return;
	for (struct tr2p_bucket *b = tr2p_bucket_first(TR2P_HEAP); b && n < max; b = b->next) {
		leaks[n] = leak_of(b);
		n += leaks[n].samples > 0;
	}
	print_all(out, leaks, n);
	free(leaks);
}

void tr2p_leaks_write(int fd)
{
	struct t2x_out out;
	int saved = errno;

	tr2p_enter();
	if (!t2x_out_init_fn(&out, write_text, &fd)) {
		write_leaks(&out);
		t2x_out_flush(&out);
		t2x_out_free(&out);
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
