/* SPDX-License-Identifier: MIT */
/* tr2_status.c - see tr2_status.h. */
#include "tr2_status.h"

#include <errno.h>

#include "trace2.h"
#include "tlg_desc.h"
#include "base/tr2_clock.h"
#include "base/tr2_text.h"
#include "drain/tr2_collect.h"
#include "drain/tr2_cycle.h"
#include "drain/tr2_drain.h"
#include "drain/tr2_lock.h"
#include "drain/tr2_trigger.h"
#include "output/tr2_sink.h"
#include "record/tr2_late.h"
#include "record/tr2_profiler.h"
#include "record/tr2_sample.h"
#include "ring/tr2_losses.h"
#include "ring/tr2_pool.h"
#include "ring/tr2_thread.h"
#include "settings/tr2_env.h"
#include "settings/tr2_sid.h"

static int has_session(void)
{
	return tr2_g_shm.head && !tr2_is_forked_child();
}

/* Run function under the drain's lock, if there is a session and the lock can be had. */
static void with_lock(void (*function)(void *data), void *data)
{
	if (has_session() && tr2_lock_briefly()) {
		function(data);
		tr2_lock_release();
	}
}

struct file {
	char *path;
	size_t size;
};

static void find_file(void *data)
{
	const struct file *file = data;
	uint64_t device, inode;

	tr2_sink_file(file->path, file->size, &device, &inode);
}

void tr2_status_file(char *path, size_t size)
{
	struct file file = { path, size };

	*path = '\0';
	with_lock(find_file, &file);
}

void tr2_sample_file_v1(char *path, unsigned long size)
{
	const int saved = errno;

	tr2_status_file(path, size);
	errno = saved;
}

static void find_stream(void *data)
{
	*(uint32_t *)data = tr2_cycle_stream();
}

uint32_t tr2_status_stream(void)
{
	uint32_t stream = 0;

	with_lock(find_stream, &stream);
	return stream;
}

/* ---- lines -------------------------------------------------------------------------------------- */

static void put_text(struct tr2_text *to, const char *key, const char *value)
{
	tr2_text_add(to, key);
	tr2_text_add(to, ": ");
	tr2_text_add(to, value);
	tr2_text_add(to, "\n");
}

static void put_number(struct tr2_text *to, const char *key, uint64_t value)
{
	tr2_text_add(to, key);
	tr2_text_add(to, ": ");
	tr2_text_decimal(to, value, 1);
	tr2_text_add(to, "\n");
}

static const char *name_state(enum tr2_late late)
{
	if (tr2_late_has_paused())
		return "off";
	if (late == TR2_LATE_WANTED || late == TR2_LATE_BEGINNING)
		return "on, with the program's next call";
	if (late == TR2_LATE_FAILED)
		return "dormant, its session could not begin";
	if (!tr2_is_enabled())
		return has_session() ? "ended" : "dormant";
	return "on";
}

/* Of a session that could not begin, the reason follows. */
static void put_state(struct tr2_text *to)
{
	int error;
	enum tr2_late late = tr2_late_state(&error);

	tr2_text_add(to, "state: ");
	tr2_text_add(to, name_state(late));
	if (late == TR2_LATE_FAILED && !tr2_late_has_paused()) {
		tr2_text_add(to, ": ");
		tr2_text_add(to, tr2_text_error(-error));
	}
	tr2_text_add(to, "\n");
}

static void put_losses(struct tr2_text *to)
{
	uint64_t sums[TLG_LOSS_REASONS] = { 0 };
	struct tlg_loss loss;

	for (unsigned i = 0, bound = tr2_losses_bound(); i < bound; i++)
		if (tr2_losses_get(i, &loss) && loss.reason < TLG_LOSS_REASONS)
			sums[loss.reason] += loss.count;
	for (unsigned i = 1; i < TLG_LOSS_REASONS; i++) {
		if (!sums[i])
			continue;
		tr2_text_add(to, "lost, ");
		put_number(to, tlg_loss_name(i), sums[i]);
	}
}

static void put_session(void *data)
{
	enum { PAGE = 4096 };
	struct tr2_text *to = data;

	put_number(to, "written", tr2_cycle_stored());
	put_number(to, "moved", tr2_collect_moved());
	put_number(to, "threads", tr2_pool_threads());
	put_number(to, "memory used", (uint64_t)tr2_pool_taken() * PAGE);
	put_losses(to);
	if (tr2_is_flight_recorder()) {
		tr2_trigger_put(to);
		tr2_text_add(to, "\n");
	}
}

static void put_settings(struct tr2_text *to)
{
	static const char *const policies[] = { "discard", "block", "overwrite" };

	put_text(to, "policy", policies[tr2_g_settings.policy]);
	put_number(to, "memory", tr2_g_settings.memory_bytes);
	put_number(to, "ring", tr2_g_settings.ring_bytes);
	put_number(to, "cycle", tr2_is_flight_recorder() ? 0 : tr2_g_settings.cycle_bytes);
	put_number(to, "flush", tr2_g_settings.flush_ms);
	put_number(to, "wait", tr2_g_settings.wait_ms);
}

/* Those that run; nothing if libtrace2-prof is not there, or older. */
static void put_profiles(struct tr2_text *to)
{
	tr2_profiler_call *profiler = tr2_profiler();
	char names[128], why[2];

	if (profiler && profiler("status", names, sizeof(names), why, sizeof(why)))
		put_text(to, "profiles", *names ? names : "none");
}

void tr2_status_write(char *to, size_t size)
{
	struct tr2_text text = tr2_text_begin(to, size);
	char path[1024];

	tr2_status_file(path, sizeof(path));
	put_state(&text);
	put_text(&text, "version", TRACE2_VERSION);
	put_text(&text, "file", *path ? path : "none");
	put_number(&text, "clock", tr2_clock_ms());
	put_settings(&text);
	put_profiles(&text);
	with_lock(put_session, &text);
	put_text(&text, "sid", tr2_sid());   /* last, for it may be long */
}
