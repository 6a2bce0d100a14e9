/* SPDX-License-Identifier: MIT */
/*
 * tr2p_write.c - profiles as they are now, written to a descriptor.
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

#include "profile/t2x_prof_kinds.h"
#include "profile/t2x_samples.h"
#include "trace2_prof.h"
#include "tr2p_bucket.h"
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

static int write_all(void *target, const char *bytes, size_t n)
{
	struct pollfd ready = { .fd = *(const int *)target, .events = POLLOUT };

	while (n) {
		ssize_t done = write(ready.fd, bytes, n);
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

/* ---- stacks ---------------------------------------------------------------------------------------- */

struct writing {
	struct t2x_samples *samples;
	const struct trace2_profile *profile;
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
static void add_amounts(const struct writing *writing, const struct tr2p_bucket *bucket, struct t2x_sample *sample)
{
	const struct tr2p_totals t = tr2p_bucket_totals(bucket);
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

static void add_stack(const struct writing *writing, const struct tr2p_bucket *bucket)
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
	add_amounts(writing, bucket, &sample);
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

static void note_time(struct t2x_samples *samples)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	t2x_samples_set_time(samples, (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec, 0);
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

static int collect(const struct writing *writing)
{
	if (!writing->samples)
		return ENOMEM;
	for (struct tr2p_bucket *b = tr2p_bucket_first(writing->profile->number); b; b = b->next)
		if (tr2p_bucket_is_there(b))
			add_stack(writing, b);
	note_time(writing->samples);
	note_dropped(writing->samples, writing->profile->number);
	if (writing->is_text)
		add_names(writing->samples);
	return 0;
}

static int write_samples(const struct writing *writing, int fd)
{
	struct tr2p_sigpipe held;
	int error;

	tr2p_sigpipe_hold(&held);
	error = writing->is_text ? t2x_samples_write_text(writing->samples, write_all, &fd) :
				   t2x_samples_write(writing->samples, write_all, &fd);
	tr2p_sigpipe_release(&held, error);
	return error;
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

struct text {
	char *bytes;
	size_t n;
};

static int append(void *target, const char *bytes, size_t n)
{
	struct text *text = target;
	char *more = realloc(text->bytes, text->n + n);

	if (!more)
		return ENOMEM;
	memcpy(more + text->n, bytes, n);
	text->bytes = more;
	text->n += n;
	return 0;
}

static int write_threads(int fd)
{
	const struct tr2p_stacks_thread *threads;
	struct text text = { NULL, 0 };
	struct tr2p_sigpipe held;
	unsigned n;
	int error = tr2p_init();

	if (error)
		return error;
	tr2p_stacks_lock();
	error = tr2p_stacks_take(&threads, &n);
	if (!error)
		error = tr2p_stacks_write(threads, n, append, &text);
	tr2p_stacks_unlock();
	tr2p_sigpipe_hold(&held);
	if (!error)
		error = write_all(&fd, text.bytes, text.n);
	tr2p_sigpipe_release(&held, error);
	free(text.bytes);
	return error;
}

int trace2_prof_write_to(struct trace2_profile *profile, int fd, int debug)
{
	struct writing writing = { .profile = profile, .is_text = debug != 0 };
	int error, cancel, saved = errno;

	if (!profile || debug < 0 || debug > 2)
		return EINVAL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	tr2p_enter();
	if (profile->number == TR2P_THREADS && debug == 2) {
		error = write_threads(fd);
	} else {
		writing.samples = t2x_samples_new(profile->name);
		writing.form = t2x_prof_kind_of(profile->name)->id;
		error = profile->number == TR2P_THREADS ? collect_threads(&writing) : collect(&writing);
		if (!error)
			error = write_samples(&writing, fd);
		t2x_samples_free(writing.samples);
	}
	tr2p_leave();
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
	return error;
}

int trace2_prof_write_heap(int fd)
{
	return trace2_prof_write_to(trace2_prof_lookup("heap"), fd, 0);
}
