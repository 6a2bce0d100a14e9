/* SPDX-License-Identifier: MIT */
/*
 * tr2p_handle.c - trace2_pprof_handle(): requests below debug/pprof/, answered inside of the process.
 *
 * The request is read by t2x_pprof.h, as `t2 serve` reads it.  Only the calling thread waits.  What it switches on is
 * switched off when it has waited (tr2p_during.h).  It uses the rest of the profiler as any thread of the program does.
 */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profile/t2x_pprof.h"
#include "profile/t2x_samples.h"
#include "trace2_prof.h"
#include "tr2p_answer.h"
#include "tr2p_during.h"
#include "tr2p_excerpt.h"
#include "tr2p_profile.h"
#include "tr2p_thread.h"
#include "tr2p_write.h"

enum { BODY_MAX = 65536, ADDRESSES = 4096 };

static const char place[] = "/debug/pprof";

/* ---- profiles -------------------------------------------------------------------------------------- */

static int append(void *target, const char *bytes, size_t n)
{
	struct t2x_bytes *body = target;

	t2x_bytes_put(body, bytes, n);
	return body->error ? ENOMEM : 0;
}

/* Fetchers want one that is valid, if there is nothing in it. */
static int write_empty(const char *profile, struct t2x_bytes *body)
{
	struct t2x_samples *samples = t2x_samples_new(profile);
	int error = samples ? t2x_samples_write(samples, append, body) : ENOMEM;

	t2x_samples_free(samples);
	return error;
}

static void answer_by(struct tr2p_answer *answer, const struct t2x_pprof *asked, const struct trace2_profile *profile,
		      const struct tr2p_since *since)
{
	int error;

	tr2p_enter();
	error = tr2p_write(profile, (int)asked->debug, since, append, &answer->body);
	if (error == EBUSY && !asked->debug)   /* threads cannot be asked */
		error = write_empty(profile->name, &answer->body);
	tr2p_leave();
	answer->type = asked->debug ? TR2P_ANSWER_TEXT : TR2P_ANSWER_BINARY;
	if (!asked->debug)
		answer->name = asked->is_kind && profile->number != TR2P_CPU ? asked->profile : "profile";
	if (error)
		tr2p_answer_fail_by(answer, error);
}

/* What comes in the next seconds. */
static void answer_since(struct tr2p_answer *answer, const struct t2x_pprof *asked,
			 const struct trace2_profile *profile)
{
	struct tr2p_since since = { .totals = NULL };
	int is_ours, error = tr2p_during_begin(profile->number, &is_ours);

	if (!error) {
		tr2p_enter();
		error = tr2p_since_take(&since, profile->number);
		tr2p_leave();
	}
	if (!error)
		tr2p_answer_wait(answer, t2x_pprof_ms(asked));
	if (is_ours)
		tr2p_during_end(profile->number);
	if (error)
		tr2p_answer_fail_by(answer, error);
	else if (!answer->error)
		answer_by(answer, asked, profile, &since);
	tr2p_since_free(&since);
}

static void answer_profile(struct tr2p_answer *answer, const struct t2x_pprof *asked)
{
	const struct trace2_profile *profile = trace2_prof_lookup(asked->profile);

	if (!profile)
		tr2p_answer_fail(answer, 404, T2X_PPROF_UNKNOWN);
	else if (profile->number >= TR2P_OWN && asked->ms)
		tr2p_answer_fail(answer, 400, "seconds= is not for profiles of the program's own");
	else if (profile->number == TR2P_THREADS || asked->debug || !t2x_pprof_ms(asked))
		answer_by(answer, asked, profile, NULL);
	else
		answer_since(answer, asked, profile);
}

/* ---- the rest -------------------------------------------------------------------------------------- */

/* A name in a link and as its text: what is no letter, no digit and none of -._~ is %XX there. */
static void put_link(struct tr2p_answer *answer, const char *name, const char *count)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
	char link[3 * T2X_PPROF_NAME + 1] = "";
	size_t n = 0;

	for (; *name && n + 4 < sizeof(link); name++)
		n += (size_t)snprintf(link + n, sizeof(link) - n, strchr(plain, *name) ? "%c" : "%%%02X",
				      (unsigned char)*name);
	tr2p_answer_put(answer, "<li><a href=\"");
	tr2p_answer_put(answer, link);
	tr2p_answer_put(answer, "\">");
	tr2p_answer_put(answer, link);
	tr2p_answer_put(answer, "</a>");
	tr2p_answer_put(answer, count);
	tr2p_answer_put(answer, "\n");
}

static int put_profile(struct trace2_profile *profile, void *data)
{
	char count[32];

	snprintf(count, sizeof(count), " %zu", trace2_prof_count(profile));
	put_link(data, trace2_prof_name(profile), count);
	return 0;
}

static void answer_list(struct tr2p_answer *answer)
{
	answer->type = TR2P_ANSWER_HTML;
	tr2p_answer_put(answer, "<!DOCTYPE html><meta charset=\"utf-8\"><title>/debug/pprof/</title>\n"
				"<h1>/debug/pprof/</h1>\n<ul>\n");
	trace2_prof_each(put_profile, answer);
	for (unsigned i = 0; t2x_pprof_names[i]; i++)
		if (!trace2_prof_lookup(t2x_pprof_names[i]))
			put_link(answer, t2x_pprof_names[i], "");
	tr2p_answer_put(answer, "</ul>\n<p><code>?seconds=N</code>: of the next N seconds; "
				"<code>?debug=1</code>: text\n");
}

/* Arguments with a NUL between them. */
static void answer_cmdline(struct tr2p_answer *answer)
{
	int fd = tr2p_answer_open("/proc/self/cmdline");
	char bytes[4096];
	ssize_t n;

	while (fd >= 0 && answer->body.n < BODY_MAX && (n = read(fd, bytes, sizeof(bytes))) > 0)
		t2x_bytes_put(&answer->body, bytes, (size_t)n);
	if (fd >= 0)
		close(fd);
	if (answer->body.n && !answer->body.bytes[answer->body.n - 1])
		answer->body.n--;
}

/* Of the names that the process itself knows. */
static void answer_symbol(struct tr2p_answer *answer, const char *text)
{
	uint64_t address;
	char hex[32];
	Dl_info info;

	/* Not how many: that there are any, which is what pprof wants to know. */
	tr2p_answer_put(answer, "num_symbols: 1\n");
	for (unsigned i = 0; i < ADDRESSES && t2x_pprof_address(&text, &address); i++) {
		if (!dladdr((const void *)(uintptr_t)address, &info) || !info.dli_sname)
			continue;
		snprintf(hex, sizeof(hex), "0x%" PRIx64 " ", address);
		tr2p_answer_put(answer, hex);
		tr2p_answer_put(answer, info.dli_sname);
		tr2p_answer_put(answer, "\n");
	}
}

/* ---- requests -------------------------------------------------------------------------------------- */

static void answer_page(struct tr2p_answer *answer, const struct t2x_pprof *asked, const char *query)
{
	switch (asked->page) {
	case T2X_PPROF_LIST: answer_list(answer); break;
	case T2X_PPROF_PROFILE: answer_profile(answer, asked); break;
	case T2X_PPROF_TRACE: tr2p_excerpt_answer(answer, asked); break;
	case T2X_PPROF_CMDLINE: answer_cmdline(answer); break;
	case T2X_PPROF_SYMBOL: answer_symbol(answer, query); break;
	}
}

/* path  behind /debug/pprof, which is followed by its end or a slash */
static void answer_request(struct tr2p_answer *answer, const char *path, size_t n, const char *query)
{
	struct t2x_pprof asked = { .why = NULL };
	char name[T2X_PPROF_NAME];

	if (!n) {
		answer->status = 301;
		answer->location = "pprof/";
		tr2p_answer_send(answer);
		return;
	}
	if (!t2x_pprof_decode(name, sizeof(name), path + 1, n - 1, 0)) {
		tr2p_answer_fail(answer, 404, T2X_PPROF_UNKNOWN);
	} else {
		t2x_pprof_path(&asked, name);
		if (asked.page != T2X_PPROF_SYMBOL)
			t2x_pprof_query(&asked, query);
		if (asked.why)
			tr2p_answer_fail(answer, 400, asked.why);
		else
			answer_page(answer, &asked, query);
	}
	if (!answer->error)
		tr2p_answer_send(answer);
}

/* Where the part of a path begins that is ours.  Return  NULL: it is another page's */
static const char *find_place(const char *path, size_t n)
{
	const size_t length = sizeof(place) - 1;
	const char *found = memmem(path, n, place, length);

	while (found && found + length < path + n && found[length] != '/')
		found = memmem(found + 1, n - (size_t)(found + 1 - path), place, length);
	return found ? found + length : NULL;
}

int trace2_pprof_handle(const char *path, const char *query, trace2_pprof_write_fn *write, void *context)
{
	struct tr2p_answer answer = { .write = write, .context = context, .status = 200, .type = TR2P_ANSWER_TEXT };
	const size_t n = path ? strcspn(path, "?") : 0;
	const char *below = path ? find_place(path, n) : NULL;
	int cancel, saved = errno;

	if (!path || !write)
		return EINVAL;
	if (!below)
		return ENOENT;
	if (!query)
		query = path[n] ? path + n + 1 : "";
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	answer_request(&answer, below, n - (size_t)(below - path), query);
	t2x_bytes_free(&answer.body);
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
	return answer.error;
}
