/* SPDX-License-Identifier: MIT */
/* t2x_state_print.c - the page that a person reads: for each process how it stands, for each thread where it is. */
#include "t2x_state_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/t2x_clock.h"
#include "tlg_desc.h"
#include "export/t2x_payload.h"
#include "text/t2x_formats.h"

enum { MAX_FRAMES = 12 };

/* ---- numbers ------------------------------------------------------------------------------------ */

/* "1.204 s", "250 ms", "12.0 us" */
static const char *put_duration(char to[32], uint64_t ns)
{
	if (ns >= T2X_NS_PER_S)
		snprintf(to, 32, "%.3f s", (double)ns / 1e9);
	else if (ns >= 1000000)
		snprintf(to, 32, "%.1f ms", (double)ns / 1e6);
	else
		snprintf(to, 32, "%.1f us", (double)ns / 1e3);
	return to;
}

static void put_time(struct t2x_out *out, uint64_t ns)
{
	time_t seconds = (time_t)(ns / T2X_NS_PER_S);
	char text[64], part[16];
	struct tm utc;

	gmtime_r(&seconds, &utc);
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &utc);
	snprintf(part, sizeof(part), ".%06u UTC", (unsigned)(ns % T2X_NS_PER_S / 1000));
	t2x_out_string(out, text);
	t2x_out_string(out, part);
}

/* When the session began whose part of an id begins here; 0: it does not say. */
static uint64_t time_of_part(const char *part)
{
	struct tm utc = { 0 };
	unsigned us;

	if (sscanf(part, "%4d%2d%2dT%2d%2d%2d.%6uZ", &utc.tm_year, &utc.tm_mon, &utc.tm_mday, &utc.tm_hour, &utc.tm_min,
		   &utc.tm_sec, &us) != 7)
		return 0;
	utc.tm_year -= 1900;
	utc.tm_mon--;
	return (uint64_t)timegm(&utc) * T2X_NS_PER_S + (uint64_t)us * 1000;
}

/*
 * A forked child counts its time from its parent's start, which lies in front of the parent's session.
 * Return  when the child began its own session, at its first event; 0: the process is no forked child
 */
static uint64_t forked_ns(const struct t2x_state_process *process)
{
	const char *own = process->sid ? strrchr(process->sid, '/') : NULL, *parent = own;

	while (parent && parent > process->sid && parent[-1] != '/')
		parent--;
	return parent && process->start_ns / 1000 <= time_of_part(parent) / 1000 ? time_of_part(own + 1) : 0;
}

static uint64_t since(uint64_t now_ns, uint64_t ns)
{
	return now_ns > ns ? now_ns - ns : 0;
}

/* ---- events ------------------------------------------------------------------------------------- */

/* category/label and what the event says, on one line. */
static void put_event(struct t2x_out *out, const struct t2x_event *ev, const struct t2x_options *options)
{
	const struct t2x_scope *scope = ev->scope;

	if (!scope) {
		t2x_out_literal(out, "(its names are missing)");
		return;
	}
	if (scope->category) {
		t2x_out_in_line(out, scope->category);
		t2x_out_char(out, scope->label ? '/' : ' ');
	}
	if (scope->label) {
		t2x_out_in_line(out, scope->label);
		t2x_out_char(out, ' ');
	}
	if (ev->style == TLG_STYLE_data_intmax || ev->style == TLG_STYLE_counter || ev->style == TLG_STYLE_th_counter)
		t2x_out_int(out, ev->args[0].value);
	else
		t2x_payload(out, ev, options);
}

/* An event with its name, and its time before the instant. */
static void put_line(struct t2x_out *out, const char *head, const struct t2x_event *ev, uint64_t now_ns,
		     const struct t2x_options *options)
{
	const struct tlg_style_desc *style = tlg_style_by_id(ev->style);
	char text[32], line[96];

	snprintf(line, sizeof(line), "%s%12s before  %-14s ", head, put_duration(text, since(now_ns, ev->ns)),
		 style ? style->name : "?");
	t2x_out_string(out, line);
	put_event(out, ev, options);
	t2x_out_end_line(out);
}

/* The functions of a sample's stack, the innermost first. */
static void put_stack(struct t2x_out *out, const struct t2x_event *ev, const struct t2x_options *options)
{
	const struct t2x_stack_names *names =
		options->name_stack && ev->scope ? options->name_stack(options->namer, ev->scope) : NULL;

	for (unsigned i = 0; names && i < names->n && i < MAX_FRAMES; i++) {
		t2x_out_literal(out, "               ");
		t2x_out_in_line(out, names->at[i]);
		t2x_out_end_line(out);
	}
}

/* ---- a thread ----------------------------------------------------------------------------------- */

static void put_regions(struct t2x_out *out, const struct t2x_state_thread *thread, uint64_t now_ns,
			const struct t2x_options *options)
{
	const unsigned seen = thread->nopen + 1;   /* with the thread itself, the outermost */
	const unsigned before = thread->depth > seen ? thread->depth - seen : 0;
	char text[32], line[96];

	if (before && !thread->has_ended) {
		snprintf(line, sizeof(line), "    in     %u region%s entered earlier%s\n", before,
			 before == 1 ? "" : "s", forked_ns(thread->process) ? ", before the fork" : "");
		t2x_out_string(out, line);
	}
	for (unsigned i = thread->nopen; i--;) {
		const struct t2x_event *ev = &thread->open[i]->event;

		snprintf(line, sizeof(line), "    in     for %12s  ", put_duration(text, since(now_ns, ev->ns)));
		t2x_out_string(out, line);
		put_event(out, ev, options);
		t2x_out_end_line(out);
	}
}

static void put_last(struct t2x_out *out, const struct t2x_state *state, const struct t2x_state_thread *thread,
		     uint64_t now_ns, const struct t2x_options *options)
{
	unsigned max = state->settings.last, first = thread->nlast > max ? thread->nlast - max : 0;

	for (unsigned i = first; i < thread->nlast; i++)
		if (thread->last[i % max])
			put_line(out, "    event  ", &thread->last[i % max]->event, now_ns, options);
}

/* The latest wait for a lock, which is over; with the stack of who waited. */
static void put_wait(struct t2x_out *out, const struct t2x_event *ev, uint64_t now_ns,
		     const struct t2x_options *options)
{
	char waited[32], before[32], line[128];

	if (ev->nargs <= T2X_SAMPLE_VALUE)
		return;
	snprintf(line, sizeof(line), "    waited for a lock %s, until %s before:\n",
		 put_duration(waited, (uint64_t)ev->args[T2X_SAMPLE_VALUE].value),
		 put_duration(before, since(now_ns, ev->ns)));
	t2x_out_string(out, line);
	put_stack(out, ev, options);
}

static void put_thread(struct t2x_out *out, const struct t2x_state *state, const struct t2x_state_thread *thread,
		       uint64_t now_ns, const struct t2x_options *options)
{
	char text[32];

	t2x_out_literal(out, "  thread ");
	t2x_out_in_line(out, thread->name);
	if (thread->last_ns) {
		t2x_out_literal(out, ", last event ");
		t2x_out_string(out, put_duration(text, since(now_ns, thread->last_ns)));
		t2x_out_literal(out, " before");
	}
	t2x_out_string(out, thread->has_ended ? ", has ended" : "");
	t2x_out_end_line(out);
	put_regions(out, thread, now_ns, options);
	put_last(out, state, thread, now_ns, options);
	if (thread->wait)
		put_wait(out, &thread->wait->event, now_ns, options);
	if (thread->asked) {
		t2x_out_literal(out, "    was, when it was asked, in\n");
		put_stack(out, &thread->asked->event, options);
	}
}

/* ---- a process ---------------------------------------------------------------------------------- */

static void put_end(struct t2x_out *out, const struct t2x_state_process *process, int is_alive)
{
	const struct t2x_event *end = process->end ? &process->end->event : NULL;
	int number = end && end->nargs ? (int)end->args[0].value : 0;
	char line[96];

	if (end && end->style == TLG_STYLE_signal)
		snprintf(line, sizeof(line), "ended by signal %d, %s", number, strsignal(number));
	else if (end)
		snprintf(line, sizeof(line), "ended, code %d", number);
	else
		snprintf(line, sizeof(line), "%s", is_alive ? "runs" : "has no end: killed, or crashed");
	t2x_out_string(out, line);
}

static void put_count(struct t2x_out *out, const char *what, uint64_t n)
{
	char line[128];

	if (!n)
		return;
	snprintf(line, sizeof(line), "  %s %" PRIu64 "\n", what, n);
	t2x_out_string(out, line);
}

static void put_head(struct t2x_out *out, const struct t2x_state_process *process, int is_alive, int is_instant,
		     const struct t2x_options *options)
{
	char line[64];

	snprintf(line, sizeof(line), "process %u ", (unsigned)process->pid);
	t2x_out_string(out, line);
	if (is_instant && !process->end)
		t2x_out_literal(out, "at this instant");
	else
		put_end(out, process, is_alive);
	t2x_out_end_line(out);
	if (process->command) {
		t2x_out_literal(out, "  command  ");
		t2x_payload(out, &process->command->event, options);
		t2x_out_end_line(out);
	}
	t2x_out_literal(out, "  session  ");
	t2x_out_in_line(out, process->sid ? process->sid : "");
	if (forked_ns(process)) {
		t2x_out_literal(out, "\n  forked   before ");
		put_time(out, forked_ns(process));
	} else {
		t2x_out_literal(out, "\n  started  ");
		put_time(out, process->start_ns);
	}
	t2x_out_end_line(out);
}

static void put_process(struct t2x_out *out, const struct t2x_state *state, const struct t2x_state_process *process,
			const struct t2x_options *options)
{
	const struct t2x_state_settings *settings = &state->settings;
	int is_alive = settings->is_alive && settings->is_alive(settings->owner, process->pid, process->start_ticks);
	uint64_t now_ns = settings->at_ns ? settings->at_ns : process->last_ns;
	struct timespec now;

	if (!settings->at_ns && is_alive && !clock_gettime(CLOCK_REALTIME, &now))
		now_ns = (uint64_t)now.tv_sec * T2X_NS_PER_S + (uint64_t)now.tv_nsec;
	put_head(out, process, is_alive, settings->at_ns != 0, options);
	t2x_out_literal(out, "  instant  ");
	put_time(out, now_ns);
	t2x_out_end_line(out);
	put_count(out, "lost     checkpoints that the process counted instead of storing:", process->lost);
	put_count(out, "missing  raw events:", process->missing);
	put_count(out, "threads  that have ended:", process->ended_threads);
	for (unsigned i = process->nerrors > T2X_STATE_ERRORS ? process->nerrors - T2X_STATE_ERRORS : 0;
	     i < process->nerrors; i++)
		if (process->errors[i % T2X_STATE_ERRORS])
			put_line(out, "  error ", &process->errors[i % T2X_STATE_ERRORS]->event, now_ns, options);
	for (const struct t2x_state_thread *thread = process->threads; thread; thread = thread->next)
		put_thread(out, state, thread, now_ns, options);
}

void t2x_state_print(const struct t2x_state *state, struct t2x_printer *printer)
{
	for (const struct t2x_state_process *process = state->processes; process; process = process->next) {
		if (process != state->processes)
			t2x_out_char(printer->out, '\n');
		put_process(printer->out, state, process, &printer->options);
	}
}
