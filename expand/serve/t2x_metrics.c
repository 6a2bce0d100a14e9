/* SPDX-License-Identifier: MIT */
/* t2x_metrics.c - see t2x_metrics.h. */
#include "t2x_metrics.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "t2x_answered.h"
#include "t2x_gate.h"
#include "live/t2x_ctl_page.h"

/* For one process, for all of them together. */
enum { ASK_MS = 250, ALL_MS = 3000 };

/* A process, and what it says. */
struct row {
	const struct t2x_traced *traced;
	int has_answered;
	uint64_t file_bytes;
	struct t2x_answered said;
};

/* ---- asking ------------------------------------------------------------------------------------------ */

static void ask(struct row *row, unsigned ms)
{
	static const char *const status[] = { "status" };
	struct t2x_ctl_answer answer;
	struct t2x_ctl_page page;

	if (!row->traced->page[0] || t2x_ctl_page_open(&page, row->traced->page, row->traced->pid))
		return;
	t2x_ctl_page_ask(&page, status, 1, ms, &answer);
	t2x_ctl_page_close(&page);
	row->has_answered = answer.kind == TLG_CTL_DONE;
	if (row->has_answered)
		t2x_answered_parse(&row->said, answer.text);
}

static unsigned ask_all(struct row *rows, const struct t2x_traced_list *list)
{
	const uint64_t until = t2x_gate_clock() + ALL_MS;
	unsigned n = 0;

	for (unsigned i = 0; i < list->n && list->items[i].is_alive; i++) {
		struct row *row = &rows[n++];
		const char *file = list->items[i].file;
		struct stat st;

		row->traced = &list->items[i];
		if (t2x_gate_clock() + ASK_MS < until)
			ask(row, ASK_MS);
		if (row->has_answered && row->said.file[0])
			file = row->said.file;
		if (*file == '/' && !stat(file, &st) && S_ISREG(st.st_mode))
			row->file_bytes = (uint64_t)st.st_size;
	}
	return n;
}

/* ---- lines ------------------------------------------------------------------------------------------- */

static void put_head(struct t2x_out *out, const char *name, const char *type, const char *help)
{
	t2x_out_literal(out, "# HELP ");
	t2x_out_string(out, name);
	t2x_out_char(out, ' ');
	t2x_out_string(out, help);
	t2x_out_literal(out, "\n# TYPE ");
	t2x_out_string(out, name);
	t2x_out_char(out, ' ');
	t2x_out_string(out, type);
	t2x_out_char(out, '\n');
}

static void put_number(struct t2x_out *out, const char *name, const char *type, const char *help, uint64_t value)
{
	put_head(out, name, type, help);
	t2x_out_string(out, name);
	t2x_out_char(out, ' ');
	t2x_out_uint(out, value);
	t2x_out_char(out, '\n');
}

static void put_sample(struct t2x_out *out, const char *name, const struct t2x_traced *traced, const char *reason,
		       uint64_t value)
{
	t2x_out_string(out, name);
	t2x_out_literal(out, "{pid=\"");
	t2x_out_uint(out, traced->pid);
	t2x_out_literal(out, "\",program=");
	t2x_reply_json(out, traced->name);
	if (reason) {
		t2x_out_literal(out, ",reason=");
		t2x_reply_json(out, reason);
	}
	t2x_out_literal(out, "} ");
	t2x_out_uint(out, value);
	t2x_out_char(out, '\n');
}

/* A number of each process that records. */
static void put_column(struct t2x_out *out, const struct row *rows, unsigned n, const char *name, const char *type,
		       const char *help, size_t offset)
{
	uint64_t value;

	put_head(out, name, type, help);
	for (unsigned i = 0; i < n; i++) {
		if (!rows[i].said.has_counts)
			continue;
		memcpy(&value, (const char *)&rows[i] + offset, sizeof(value));
		put_sample(out, name, rows[i].traced, NULL, value);
	}
}

static void put_lost(struct t2x_out *out, const struct row *rows, unsigned n)
{
	static const char name[] = "trace2_lost_checkpoints_total";

	put_head(out, name, "counter", "Checkpoints that the process has lost, by the reason.");
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < rows[i].said.nlost; j++)
			put_sample(out, name, rows[i].traced, rows[i].said.lost[j].reason, rows[i].said.lost[j].count);
}

static void put_processes(struct t2x_out *out, const struct row *rows, unsigned n, unsigned dead)
{
	static const char name[] = "trace2_processes", answers[] = "trace2_process_answers";

	put_head(out, name, "gauge", "Traced processes of this user: running, and dead with events left behind.");
	t2x_out_literal(out, "trace2_processes{state=\"running\"} ");
	t2x_out_uint(out, n);
	t2x_out_literal(out, "\ntrace2_processes{state=\"dead\"} ");
	t2x_out_uint(out, dead);
	t2x_out_char(out, '\n');
	put_head(out, answers, "gauge", "1 if the process has answered by its control page just now.");
	for (unsigned i = 0; i < n; i++)
		put_sample(out, answers, rows[i].traced, NULL, (uint64_t)rows[i].has_answered);
}

static void put_server(struct t2x_out *out, const struct t2x_counts *counts)
{
	static const char name[] = "trace2_serve_requests_total";

	put_head(out, name, "counter", "Requests that were answered, by the first digit of the status.");
	for (unsigned i = 2; i < 6; i++) {
		t2x_out_string(out, name);
		t2x_out_literal(out, "{status=\"");
		t2x_out_uint(out, i);
		t2x_out_literal(out, "xx\"} ");
		t2x_out_uint(out, counts->requests[i]);
		t2x_out_char(out, '\n');
	}
	put_number(out, "trace2_serve_refused_connections_total", "counter",
		   "Connections that were closed because they were too slow.", counts->refused);
	put_number(out, "trace2_serve_connections", "gauge", "Connections that are open.", counts->connections);
	put_number(out, "trace2_serve_start_time_seconds", "gauge", "When the server began, since 1970.",
		   counts->started);
}

void t2x_metrics_write(struct t2x_out *out, const struct t2x_traced_list *list, const struct t2x_counts *counts)
{
	struct row *rows = calloc(list->n + 1, sizeof(*rows));
	unsigned n;

	if (!rows) {
		out->error = ENOMEM;
		return;
	}
	n = ask_all(rows, list);
	put_processes(out, rows, n, list->n - n);
	put_column(out, rows, n, "trace2_written_checkpoints_total", "counter", "Checkpoints in the trace.",
		   offsetof(struct row, said.written));
	put_column(out, rows, n, "trace2_raw_events_total", "counter", "Raw events that were recorded and collected.",
		   offsetof(struct row, said.moved));
	put_lost(out, rows, n);
	put_column(out, rows, n, "trace2_threads", "gauge", "Threads that have recorded.",
		   offsetof(struct row, said.threads));
	put_column(out, rows, n, "trace2_memory_bytes", "gauge", "Memory for events that are not written yet.",
		   offsetof(struct row, said.memory_used));
	put_column(out, rows, n, "trace2_file_bytes", "gauge", "Bytes of the trace, 0 if it is no file.",
		   offsetof(struct row, file_bytes));
	put_server(out, counts);
	free(rows);
}
