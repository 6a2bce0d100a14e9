/* SPDX-License-Identifier: MIT */
/* t2x_pages.c - see t2x_pages.h. */
#include "t2x_pages.h"

#include <string.h>

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>t2 serve</title>\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n"
	"<style>body{font:15px/1.5 system-ui,sans-serif;margin:2em;color-scheme:light dark}"
	"table{border-collapse:collapse}td,th{text-align:left;padding:.2em 1em .2em 0}"
	"td.n{text-align:right}</style>\n";

/* The name of a path in an address: what could mean something there is written as %XX. */
static void put_address(struct t2x_out *out, const char *text)
{
	static const char digits[] = "0123456789ABCDEF";

	for (; *text; text++) {
		const unsigned char c = (unsigned char)*text;

		if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || strchr("-._~", c)) {
			t2x_out_char(out, *text);
		} else {
			t2x_out_char(out, '%');
			t2x_out_char(out, digits[c >> 4]);
			t2x_out_char(out, digits[c & 15]);
		}
	}
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- for people ---------------------------------------------------------------------------------------- */

static void put_link(struct t2x_out *out, const char *before, const char *name, const char *after, const char *text)
{
	t2x_out_literal(out, "<a href=\"");
	t2x_out_string(out, before);
	put_address(out, name);
	t2x_out_string(out, after);
	t2x_out_literal(out, "\">");
	t2x_reply_html(out, text);
	t2x_out_literal(out, "</a>");
}

static void put_running(struct t2x_out *out, const struct t2x_traced *traced)
{
	char pid[32];

	*t2x_put_uint(pid, traced->pid) = '\0';
	t2x_out_literal(out, "<tr><td class=n>");
	put_link(out, "pid/", pid, "/", pid);
	t2x_out_literal(out, "<td>");
	t2x_reply_html(out, traced->name);
	t2x_out_literal(out, "<td>");
	put_link(out, "pid/", pid, "/debug/pprof/", "profiles");
	t2x_out_literal(out, "<td>");
	t2x_out_string(out, traced->page[0] ? "" : "no control page");
	t2x_out_literal(out, "<td>");
	t2x_reply_html(out, traced->file);
	t2x_out_char(out, '\n');
}

static void put_dead(struct t2x_out *out, const struct t2x_traced *traced)
{
	t2x_out_literal(out, "<tr><td class=n>");
	t2x_out_uint(out, traced->pid);
	t2x_out_literal(out, "<td>");
	put_link(out, "ring/", name_of(traced->ring), "", name_of(traced->ring));
	t2x_out_literal(out, "<td>");
	t2x_reply_html(out, traced->file);
	t2x_out_char(out, '\n');
}

static void put_file(void *owner, const char *name, uint64_t bytes)
{
	struct t2x_out *out = owner;

	t2x_out_literal(out, "<tr><td>");
	put_link(out, "file/", name, "", name);
	t2x_out_literal(out, "<td class=n>");
	t2x_out_uint(out, bytes);
	t2x_out_char(out, '\n');
}

void t2x_pages_index(struct t2x_out *out, const struct t2x_traced_list *list, const struct t2x_files *files)
{
	unsigned i = 0;

	t2x_out_string(out, head);
	t2x_out_literal(out, "<h1>Traced processes</h1>\n<table><tr><th>process<th>program<th><th><th>trace\n");
	for (; i < list->n && list->items[i].is_alive; i++)
		put_running(out, &list->items[i]);
	t2x_out_literal(out, "</table>\n");
	if (i < list->n)
		t2x_out_literal(out, "<h2>Dead, with events left behind</h2>\n"
				     "<table><tr><th>process<th>what it left<th>trace\n");
	for (unsigned first = i; i < list->n; i++) {
		put_dead(out, &list->items[i]);
		if (i + 1 == list->n && first < list->n)
			t2x_out_literal(out, "</table>\n");
	}
	if (files->n) {
		t2x_out_literal(out, "<h2>Files</h2>\n<table><tr><th>name<th>bytes\n");
		t2x_files_each(files, put_file, out);
		t2x_out_literal(out, "</table>\n");
	}
	t2x_out_literal(out, "<p><a href=\"processes.json\">as JSON</a> <a href=\"metrics\">metrics</a>\n");
}

/* ---- for programs -------------------------------------------------------------------------------------- */

static void put_text(struct t2x_out *out, const char *key, const char *value)
{
	t2x_out_literal(out, ",\"");
	t2x_out_string(out, key);
	t2x_out_literal(out, "\":");
	t2x_reply_json(out, value);
}

static void put_process(struct t2x_out *out, const struct t2x_traced *traced, int is_first)
{
	t2x_out_string(out, is_first ? "\n{\"pid\":" : ",\n{\"pid\":");
	t2x_out_uint(out, traced->pid);
	if (traced->is_alive) {
		put_text(out, "program", traced->name);
		t2x_out_string(out, traced->page[0] ? ",\"control\":true" : ",\"control\":false");
	} else {
		put_text(out, "ring", name_of(traced->ring));
	}
	if (traced->file[0])
		put_text(out, "file", traced->file);
	t2x_out_literal(out, ",\"stored\":");
	t2x_out_uint(out, traced->stored);
	t2x_out_char(out, '}');
}

struct listing {
	struct t2x_out *out;
	int is_first;
};

static void list_file(void *owner, const char *name, uint64_t bytes)
{
	struct listing *listing = owner;

	t2x_out_string(listing->out, listing->is_first ? "\n{\"name\":" : ",\n{\"name\":");
	t2x_reply_json(listing->out, name);
	t2x_out_literal(listing->out, ",\"bytes\":");
	t2x_out_uint(listing->out, bytes);
	t2x_out_char(listing->out, '}');
	listing->is_first = 0;
}

void t2x_pages_json(struct t2x_out *out, const struct t2x_traced_list *list, const struct t2x_files *files)
{
	struct listing listing = { out, 1 };
	unsigned running = 0;

	t2x_out_literal(out, "{\"processes\":[");
	for (; running < list->n && list->items[running].is_alive; running++)
		put_process(out, &list->items[running], !running);
	t2x_out_literal(out, "],\n\"dead\":[");
	for (unsigned i = running; i < list->n; i++)
		put_process(out, &list->items[i], i == running);
	t2x_out_literal(out, "],\n\"files\":[");
	t2x_files_each(files, list_file, &listing);
	t2x_out_literal(out, "]}\n");
}
