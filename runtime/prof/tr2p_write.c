/* SPDX-License-Identifier: MIT */
/*
 * tr2p_write.c - see tr2p_write.h; to a descriptor, see trace2_prof.h.
 *
 * What was added up goes into the expander's t2x_samples, which writes the messages and texts.  To the message go
 * estimates, with the period that each sample stands for by then, 1; the text of a heap has what was sampled, and says
 * at which rate.  The message has no names, so that its reader looks them up in the files, with lines and what is
 * inlined; the text has those that dladdr() knows.
 */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profile/t2x_bytes.h"
#include "profile/t2x_prof_kinds.h"
#include "profile/t2x_samples.h"
#include "trace2_prof.h"
#include "tr2p_write.h"
#include "tr2p_init.h"
#include "tr2p_labels.h"
#include "tr2p_live.h"
#include "tr2p_module.h"
#include "tr2p_profile.h"
#include "tr2p_sigpipe.h"
#include "tr2p_stacks.h"
#include "tr2p_stacks_text.h"
#include "tr2p_thread.h"

/* ---- the descriptor -------------------------------------------------------------------------------- */

static ssize_t write_some(int fd, const char *bytes, size_t n)
{
	struct tr2p_sigpipe held;
	ssize_t done;
	int error;

	tr2p_sigpipe_hold(&held);
	done = write(fd, bytes, n);
	error = done < 0 ? errno : 0;
	tr2p_sigpipe_release(&held, error);
	errno = error;
	return done;
}

static int write_all(void *target, const char *bytes, size_t n)
{
	struct pollfd ready = { .fd = *(const int *)target, .events = POLLOUT };

	while (n) {
		ssize_t done = write_some(ready.fd, bytes, n);
		if (done < 0 && errno == EAGAIN)
			poll(&ready, 1, -1);
		else if (done < 0 && errno != EINTR)
			return errno;
		if (done > 0) {
			bytes += done;
			n -= (size_t)done;
		}
	}
	return 0;
}

/* ---- since a moment -------------------------------------------------------------------------------- */

static uint64_t find_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

int tr2p_since_take(struct tr2p_since *since, unsigned profile)
{
	size_t n = 0;

	*since = (struct tr2p_since){ .first = tr2p_bucket_first(profile), .ns = find_now() };
	for (const struct tr2p_bucket *b = since->first; b; b = b->next)
		n++;
	since->totals = calloc(n + 1, sizeof(*since->totals));
	if (!since->totals)
		return ENOMEM;
	n = 0;
	for (const struct tr2p_bucket *b = since->first; b; b = b->next)
		since->totals[n++] = tr2p_bucket_totals(b);
	return 0;
}

void tr2p_since_free(struct tr2p_since *since)
{
	free(since->totals);
	since->totals = NULL;
}

/* What has come meanwhile.  A clock that somebody has started again begins at 0. */
static struct tr2p_totals subtract(struct tr2p_totals now, const struct tr2p_totals *then)
{
	if (now.count < then->count || now.freed_count < then->freed_count)
		return now;
	now.count -= then->count;
	now.value -= then->value;
	now.freed_count -= then->freed_count;
	now.freed_value -= then->freed_value;
	now.all_count -= then->all_count;
	now.all_value -= then->all_value;
	now.freed_all_count -= then->freed_all_count;
	now.freed_all_value -= then->freed_all_value;
	return now;
}

/* ---- stacks ---------------------------------------------------------------------------------------- */

struct writing {
	struct t2x_samples *samples;
	const struct trace2_profile *profile;
	const struct tr2p_since *since;   /* NULL: all */
	enum t2x_prof_form_id form;
	int is_text;
};

static uint32_t mapping_of(struct t2x_samples *samples, const struct tr2p_module *module)
{
	char id[2 * sizeof(module->id) + 1] = "";

	for (unsigned i = 0; i < module->id_size; i++)
		snprintf(id + 2 * i, 3, "%02x", module->id[i]);
	return t2x_samples_mapping(samples, &(struct t2x_samples_mapping){
		.start = module->start, .limit = module->end, .offset = module->offset, .file = module->path,
		.build_id = id });
}

static unsigned count_labels(const char *const *list)
{
	unsigned n = 0;

	while (list && list[2 * n])
		n++;
	return n;
}

static void add_amount(struct t2x_samples *samples, struct t2x_sample *sample, int64_t count, int64_t value,
		       int64_t period)
{
	sample->count = count;
	sample->value = value;
	sample->period = period;
	t2x_samples_add(samples, sample);
}

/* With its labels set. */
static void add_amounts(const struct writing *writing, const struct tr2p_bucket *bucket, const struct tr2p_totals *of,
			struct t2x_sample *sample)
{
	const struct tr2p_totals t = *of;
	int64_t period = tr2p_bucket_period(bucket), parts = tr2p_value_parts(bucket->profile);

	if (writing->is_text && writing->form == T2X_PROF_FORM_HEAP) {
		add_amount(writing->samples, sample, t.count, t.value, period);
		add_amount(writing->samples, sample, -t.freed_count, -t.freed_value, period);
		return;
	}
	/* the period of the profile is that of its first sample */
	if (writing->form != T2X_PROF_FORM_WAITS)
		add_amount(writing->samples, sample, 0, 0, period);
	add_amount(writing->samples, sample, t.all_count / TR2P_COUNT_PARTS, t.all_value / parts, 1);
	if (t.freed_count)
		add_amount(writing->samples, sample, -t.freed_all_count / TR2P_COUNT_PARTS, -t.freed_all_value / parts,
			   1);
}

static void add_stack(const struct writing *writing, const struct tr2p_bucket *bucket,
		      const struct tr2p_totals *totals)
{
	const char *const *list = tr2p_labels_list(bucket->labels);
	unsigned n = count_labels(list);
	struct t2x_samples_label *labels = calloc(n + 1, sizeof(*labels));
	uint32_t stack[TR2P_STACK_MAX];
	struct t2x_sample sample = { .stack = stack, .depth = bucket->n, .labels = labels, .nlabels = labels ? n : 0 };

	for (unsigned i = 0; i < sample.nlabels; i++)
		labels[i] = (struct t2x_samples_label){ .key = list[2 * i], .text = list[2 * i + 1] };
	for (unsigned i = 0; i < bucket->n; i++) {
		const struct tr2p_module *module = bucket->modules[i];
		stack[i] = t2x_samples_location(writing->samples, module ? mapping_of(writing->samples, module) : 0,
						bucket->at[i]);
	}
	add_amounts(writing, bucket, totals, &sample);
	free(labels);
}

static void add_names(struct t2x_samples *samples)
{
	for (uint32_t i = 1; i <= t2x_samples_locations(samples); i++) {
		uintptr_t address = (uintptr_t)t2x_samples_address(samples, i);
		struct t2x_samples_line line = { 0 };
		char name[512];
		Dl_info info;

		if (!dladdr((const void *)address, &info) || !info.dli_sname)
			continue;
		snprintf(name, sizeof(name), "%s+0x%" PRIxPTR, info.dli_sname, address - (uintptr_t)info.dli_saddr);
		line.function = name;
		line.system_name = info.dli_sname;
		t2x_samples_symbolize(samples, i, &line, 1);
	}
}

/* Since a moment it has a duration. */
static void note_time(const struct writing *writing)
{
	const uint64_t now = find_now(), start = writing->since ? writing->since->ns : now;

	t2x_samples_set_time(writing->samples, start, now > start ? now - start : 0);
}

/* Also of memory in use that found no place: it was allocated, and looks freed. */
static void note_dropped(struct t2x_samples *samples, unsigned number)
{
	uint64_t dropped = tr2p_bucket_dropped(number) + (number == TR2P_HEAP ? tr2p_live_lost() : 0);
	char text[100];

	if (!dropped)
		return;
	snprintf(text, sizeof(text), "%" PRIu64 " samples found no memory, or no room on a handler's stack",
		 dropped);
	t2x_samples_comment(samples, text);
}

/* ---- all of it ------------------------------------------------------------------------------------- */

/* The stacks of all buckets, without what was there at the moment. */
static void add_stacks(const struct writing *writing)
{
	const struct tr2p_totals *then = NULL;

	for (struct tr2p_bucket *b = tr2p_bucket_first(writing->profile->number); b; b = b->next) {
		struct tr2p_totals totals = tr2p_bucket_totals(b);

		if (!writing->since) {
			if (tr2p_bucket_is_there(b))
				add_stack(writing, b, &totals);
			continue;
		}
		if (b == writing->since->first)
			then = writing->since->totals;
		if (then)
			totals = subtract(totals, then++);
		if (totals.count || totals.freed_count)
			add_stack(writing, b, &totals);
	}
}

static int collect(const struct writing *writing)
{
	if (!writing->samples)
		return ENOMEM;
	add_stacks(writing);
	note_time(writing);
	note_dropped(writing->samples, writing->profile->number);
	if (writing->is_text)
		add_names(writing->samples);
	return 0;
}

/* Threads are taken under a lock that forks wait for: it is not held while fd keeps the writer waiting. */
static int collect_threads(const struct writing *writing)
{
	const struct tr2p_stacks_thread *threads;
	unsigned n;
	int error = tr2p_init();

	if (error)
		return error;
	tr2p_stacks_lock();
	error = tr2p_stacks_take(&threads, &n);
	if (!error)
		error = collect(writing);
	tr2p_stacks_unlock();
	return error;
}

static int append(void *target, const char *bytes, size_t n)
{
	struct t2x_bytes *text = target;

	t2x_bytes_put(text, bytes, n);
	return text->error ? ENOMEM : 0;
}

static int write_threads(t2x_write_fn *write, void *target)
{
	const struct tr2p_stacks_thread *threads;
	struct t2x_bytes text = { .n = 0 };
	unsigned n;
	int error = tr2p_init();

	if (error)
		return error;
	tr2p_stacks_lock();
	error = tr2p_stacks_take(&threads, &n);
	if (!error)
		error = tr2p_stacks_write(threads, n, append, &text);
	tr2p_stacks_unlock();
	if (!error)
		error = write(target, (const char *)text.bytes, text.n);
	t2x_bytes_free(&text);
	return error;
}

int tr2p_write(const struct trace2_profile *profile, int debug, const struct tr2p_since *since, t2x_write_fn *write,
	       void *target)
{
	struct writing writing = { .profile = profile, .since = since, .is_text = debug != 0 };
	int error;

	if (profile->number == TR2P_THREADS && debug == 2)
		return write_threads(write, target);
	writing.samples = t2x_samples_new(profile->name);
	writing.form = t2x_prof_kind_of(profile->name)->id;
	error = profile->number == TR2P_THREADS ? collect_threads(&writing) : collect(&writing);
	if (!error)
		error = writing.is_text ? t2x_samples_write_text(writing.samples, write, target) :
					  t2x_samples_write(writing.samples, write, target);
	t2x_samples_free(writing.samples);
	return error;
}

int trace2_prof_write_to(struct trace2_profile *profile, int fd, int debug)
{
	int error, cancel, saved = errno;

	if (!profile || debug < 0 || debug > 2)
		return EINVAL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	tr2p_enter();
	error = tr2p_write(profile, debug, NULL, write_all, &fd);
	tr2p_leave();
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
	return error;
}

int trace2_prof_write_heap(int fd)
{
	return trace2_prof_write_to(trace2_prof_lookup("heap"), fd, 0);
}
