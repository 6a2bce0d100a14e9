/* SPDX-License-Identifier: MIT */
/* t2x_profiles.c - see t2x_profiles.h. */
#include "t2x_profiles.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "profile/t2x_prof_kinds.h"
#include "profile/t2x_samples.h"
#include "read/t2x_seek.h"
#include "tlg_ctl.h"

enum { CHUNK = 64 * 1024 };

/* What is read of a trace. */
struct reading {
	char since[64], until[64], pid[32], profile[48], debug[16], live[32];
	uint64_t since_ns;
	const char *arguments[T2X_WORKER_ARGUMENTS + 1];
	unsigned n;
};

static struct t2x_gate gate_of(const struct t2x_server *server, const struct t2x_http_call *call)
{
	return (struct t2x_gate){ server->stop, call->client };
}

/* ---- workers ------------------------------------------------------------------------------------------- */

void t2x_profiles_read(const struct t2x_server *server, const struct t2x_http_call *call, const char *const *arguments,
		       int input, const char *type, struct t2x_reply *reply)
{
	const struct t2x_gate gate = gate_of(server, call);
	const struct t2x_worker worker = { arguments, input, server->what->directory, &gate };
	char why[512];
	int fd = t2x_worker_run(&worker, why, sizeof(why));

	if (fd < 0) {
		t2x_reply_fail(reply, 503, *why ? why : "the request was given up", NULL);
		return;
	}
	reply->type = type;
	reply->fd = fd;
}

static void add(struct reading *reading, const char *argument)
{
	if (reading->n < T2X_WORKER_ARGUMENTS)
		reading->arguments[reading->n++] = argument;
	reading->arguments[reading->n] = NULL;
}

static uint64_t find_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void put_time(char *to, size_t size, const char *option, uint64_t ns)
{
	const time_t seconds = (time_t)(ns / UINT64_C(1000000000));
	char date[32];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(to, size, "%s=%s.%09luZ", option, date, (unsigned long)(ns % UINT64_C(1000000000)));
}

/* A trace that this user has: nothing of others, also if root serves. */
static int is_my_file(const char *path)
{
	struct stat st;

	return *path == '/' && !stat(path, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid();
}

/*
 * The arguments that say which trace: its file, and what the rings have if it is a flight recorder, or has no file.
 * Return  0: there is none yet
 */
static int choose_source(struct reading *reading, const struct t2x_traced *traced, const char *file, int is_live)
{
	const int has_file = is_my_file(file);

	snprintf(reading->live, sizeof(reading->live), "%u", (unsigned)traced->pid);
	if ((is_live || !has_file) && traced->ring[0]) {
		add(reading, "live");
		add(reading, reading->live);
	} else if (has_file) {
		add(reading, "export");
	} else {
		return 0;
	}
	if (has_file)
		add(reading, file);
	add(reading, "--quiet");
	snprintf(reading->pid, sizeof(reading->pid), "--pid=%u", (unsigned)traced->pid);
	return 1;
}

/* Of this process alone, and of this time: others may write into the file, too. */
static void add_filters(struct reading *reading, uint64_t until_ns)
{
	if (reading->since_ns) {
		put_time(reading->since, sizeof(reading->since), "--since", reading->since_ns);
		put_time(reading->until, sizeof(reading->until), "--until", until_ns);
		add(reading, reading->since);
		add(reading, reading->until);
	}
	add(reading, reading->pid);
}

/* ---- profiles ------------------------------------------------------------------------------------------ */

static int append(void *target, const char *text, size_t n)
{
	struct t2x_bytes *bytes = target;

	t2x_bytes_put(bytes, text, n);
	return bytes->error ? ENOMEM : 0;
}

/* Nothing was sampled: fetchers want a profile nevertheless. */
static void answer_empty(const struct t2x_request *request, struct t2x_reply *reply)
{
	struct t2x_samples *samples = t2x_samples_new(request->pprof.profile);
	const uint64_t now = find_now();
	int error = samples ? 0 : ENOMEM;

	if (samples) {
		t2x_samples_set_time(samples, now, (uint64_t)request->pprof.ms * 1000000);
		error = request->pprof.debug ? t2x_samples_write_text(samples, append, &reply->body)
				       : t2x_samples_write(samples, append, &reply->body);
	}
	t2x_samples_free(samples);
	if (error)
		t2x_reply_fail(reply, 503, strerror(error), NULL);
}

static void name_answer(const struct t2x_request *request, struct t2x_reply *reply)
{
	reply->type = request->pprof.debug ? T2X_REPLY_TEXT : T2X_REPLY_BINARY;
	if (!request->pprof.debug)
		snprintf(reply->name, sizeof(reply->name), "%.31s", !strcmp(request->pprof.profile, "cpu") ? "profile" :
			 request->pprof.profile);
}

/* As `t2 stacks': a signal asks, if the process was started so that one may. */
static void answer_threads(const struct t2x_server *server, const struct t2x_http_call *call,
			   const struct t2x_traced *traced, struct t2x_reply *reply)
{
	struct reading reading = { .n = 0 };

	snprintf(reading.live, sizeof(reading.live), "%u", (unsigned)traced->pid);
	snprintf(reading.debug, sizeof(reading.debug), "--debug=%u", call->request.pprof.debug);
	add(&reading, "stacks");
	add(&reading, "--format=pprof");
	add(&reading, "--profile=threads");
	add(&reading, reading.debug);
	add(&reading, reading.live);
	t2x_profiles_read(server, call, reading.arguments, -1, T2X_REPLY_BINARY, reply);
	/* It cannot be asked. */
	if (reply->status != 200 && !call->request.pprof.debug) {
		t2x_reply_free(reply);
		t2x_reply_init(reply);
		answer_empty(&call->request, reply);
	}
	if (reply->status == 200)
		name_answer(&call->request, reply);
}

static void read_profile(const struct t2x_server *server, const struct t2x_http_call *call,
			 const struct t2x_traced *traced, const struct t2x_taking *taking, uint64_t since_ns,
			 struct t2x_reply *reply)
{
	const char *file = taking->file[0] ? taking->file : traced->file;
	struct reading reading = { .since_ns = since_ns };

	if (!choose_source(&reading, traced, file, taking->is_flight || !traced->page[0])) {
		answer_empty(&call->request, reply);
		name_answer(&call->request, reply);
		return;
	}
	snprintf(reading.profile, sizeof(reading.profile), "--profile=%.31s", call->request.pprof.profile);
	snprintf(reading.debug, sizeof(reading.debug), "--debug=%u", call->request.pprof.debug);
	add(&reading, "--format=pprof");
	add(&reading, reading.profile);
	add(&reading, reading.debug);
	add_filters(&reading, find_now());
	t2x_profiles_read(server, call, reading.arguments, -1, T2X_REPLY_BINARY, reply);
	if (reply->status == 200)
		name_answer(&call->request, reply);
}

/*
 * Wait with a profile, or only the trace, switched on.  *since_ns becomes the time from which on it was.
 * Return  0: the reply says why not
 */
static int record(const struct t2x_server *server, const struct t2x_http_call *call, const struct t2x_traced *traced,
		  const char *profile, uint32_t ms, struct t2x_taking *taking, uint64_t *since_ns,
		  struct t2x_reply *reply)
{
	const struct t2x_gate gate = gate_of(server, call);
	char why[TLG_CTL_ANSWER + 1];
	unsigned status = 0;
	int has_passed;

	*taking = (struct t2x_taking){ .kind = -1 };
	if (traced->page[0])
		status = t2x_steering_begin(taking, server->steering, traced, profile, ms, why, sizeof(why));
	if (status) {
		t2x_reply_fail(reply, status, why, NULL);
		return 0;
	}
	*since_ns = find_now();
	has_passed = t2x_gate_wait(&gate, ms);
	t2x_steering_end(taking);
	if (!has_passed)
		t2x_reply_fail(reply, 503, "the request was given up", NULL);
	return has_passed;
}

void t2x_profiles_answer(const struct t2x_server *server, const struct t2x_http_call *call,
			 const struct t2x_traced *traced, struct t2x_reply *reply)
{
	const struct t2x_prof_kind *kind = t2x_prof_kind_of(call->request.pprof.profile);
	const uint32_t ms = t2x_pprof_ms(&call->request.pprof);
	struct t2x_taking taking = { .kind = -1 };
	uint64_t since_ns = 0;

	if (!strcmp(call->request.pprof.profile, "threads")) {
		answer_threads(server, call, traced, reply);
		return;
	}
	if (!ms) {
		if (traced->page[0])
			t2x_steering_flush(&taking, server->steering, traced);
	} else if (!record(server, call, traced, t2x_prof_kinds[kind->recorded].name, ms, &taking, &since_ns,
			   reply)) {
		return;
	}
	read_profile(server, call, traced, &taking, since_ns, reply);
}

/* ---- traces -------------------------------------------------------------------------------------------- */

/*
 * The end of a file, from a cycle on that begins before the moment: so it can be read by itself.
 * Return  0 or an errno
 */
static int copy_end(const char *path, uint64_t since_ns, int to)
{
	int fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC), error = fd < 0 ? errno : 0;
	uint64_t at = error ? 0 : t2x_seek(path, NULL, since_ns), most = (uint64_t)T2X_WORKER_OUTPUT_MB << 20;
	char bytes[CHUNK];

	while (!error && most) {
		ssize_t n = pread(fd, bytes, sizeof(bytes), (off_t)at);

		if (n <= 0) {
			error = n ? errno : 0;
			break;
		}
		error = t2x_out_write_all(to, bytes, (size_t)n);
		at += (uint64_t)n;
		most -= most < (uint64_t)n ? most : (uint64_t)n;
	}
	if (fd >= 0)
		close(fd);
	return most ? error : EFBIG;
}

static void answer_end(const struct t2x_server *server, const char *file, uint64_t since_ns, struct t2x_reply *reply)
{
	int fd = t2x_worker_file(server->what->directory), error = fd < 0 ? -fd : copy_end(file, since_ns, fd);

	if (error) {
		if (fd >= 0)
			close(fd);
		t2x_reply_fail(reply, 503, "the trace cannot be read", strerror(error));
		return;
	}
	reply->fd = fd;
}

void t2x_profiles_trace(const struct t2x_server *server, const struct t2x_http_call *call,
			const struct t2x_traced *traced, struct t2x_reply *reply)
{
	const uint32_t ms = t2x_pprof_ms(&call->request.pprof);
	struct reading reading = { .n = 0 };
	struct t2x_taking taking;
	const char *file;
	int is_live;

	if (!record(server, call, traced, NULL, ms, &taking, &reading.since_ns, reply))
		return;
	file = taking.file[0] ? taking.file : traced->file;
	is_live = taking.is_flight || !traced->page[0];
	if (!call->request.pprof.is_chrome && !is_live && is_my_file(file)) {
		answer_end(server, file, reading.since_ns, reply);
	} else if (!choose_source(&reading, traced, file, is_live)) {
		t2x_reply_fail(reply, 503, "nothing was recorded", NULL);
	} else {
		add(&reading, call->request.pprof.is_chrome ? "--format=chrome" : "--format=raw");
		if (call->request.pprof.is_chrome)
			add_filters(&reading, find_now());
		t2x_profiles_read(server, call, reading.arguments, -1, T2X_REPLY_BINARY, reply);
	}
	if (reply->status != 200)
		return;
	reply->type = call->request.pprof.is_chrome ? "application/json" : T2X_REPLY_BINARY;
	snprintf(reply->name, sizeof(reply->name), "%s", call->request.pprof.is_chrome ? "trace.json" : "trace.tlg");
}

/* ---- the rest ------------------------------------------------------------------------------------------ */

void t2x_profiles_view(const struct t2x_server *server, const struct t2x_http_call *call,
		       const struct t2x_traced *traced, struct t2x_reply *reply)
{
	struct t2x_taking taking = { .kind = -1 };
	struct reading reading = { .n = 0 };

	if (traced->page[0])
		t2x_steering_flush(&taking, server->steering, traced);
	if (!choose_source(&reading, traced, taking.file[0] ? taking.file : traced->file, traced->ring[0] != '\0')) {
		t2x_reply_fail(reply, 409, "nothing is recorded of this process: it is off", NULL);
		return;
	}
	add(&reading, "--format=html");
	t2x_profiles_read(server, call, reading.arguments, -1, T2X_REPLY_HTML, reply);
}

void t2x_profiles_list(const struct t2x_traced *traced, struct t2x_reply *reply)
{
	struct t2x_out out;

	if (t2x_reply_begin(reply, T2X_REPLY_HTML, &out)) {
		t2x_reply_fail(reply, 503, strerror(ENOMEM), NULL);
		return;
	}
	t2x_out_literal(&out, "<!DOCTYPE html><meta charset=\"utf-8\"><title>/debug/pprof/</title>\n<h1>");
	t2x_reply_html(&out, traced->name);
	t2x_out_char(&out, ' ');
	t2x_out_uint(&out, traced->pid);
	t2x_out_literal(&out, ": /debug/pprof/</h1>\n<ul>\n");
	for (unsigned i = 0; t2x_pprof_names[i]; i++) {
		t2x_out_literal(&out, "<li><a href=\"");
		t2x_out_string(&out, t2x_pprof_names[i]);
		t2x_out_literal(&out, "\">");
		t2x_out_string(&out, t2x_pprof_names[i]);
		t2x_out_literal(&out, "</a>\n");
	}
	t2x_out_literal(&out, "</ul>\n<p><code>?seconds=N</code>: of the next N seconds; <code>?debug=1</code>: text; "
			      "<code>trace?format=chrome</code>: JSON\n");
	t2x_reply_end(reply, &out);
}

void t2x_profiles_cmdline(const struct t2x_traced *traced, struct t2x_reply *reply)
{
	char path[64], bytes[4096];
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/cmdline", (unsigned)traced->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && reply->body.n < T2X_HTTP_BODY && (n = read(fd, bytes, sizeof(bytes))) > 0)
		t2x_bytes_put(&reply->body, bytes, (size_t)n);
	if (fd >= 0)
		close(fd);
	if (reply->body.n && !reply->body.bytes[reply->body.n - 1])
		reply->body.n--;
}
