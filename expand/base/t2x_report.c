/* SPDX-License-Identifier: MIT */
/* t2x_report.c - see t2x_report.h. */
#include "t2x_report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "t2x_escape.h"

enum { MAX_TEXT = 1024 };      /* bytes of a message about an input */

static const char *program = "t2expand";

void t2x_report_set_name(const char *name)
{
	program = name;
}

const char *t2x_report_name(void)
{
	return program;
}

static void put_to_file(void *to, const char *text, size_t n)
{
	fwrite(text, 1, n, to);
}

/* Names of files are escaped, too: whoever made a file also chose its name. */
static void put_escaped(const struct t2x_report *report, const char *text)
{
	struct t2x_escape escape = { .put = put_to_file, .to = report->to, .is_line = 1 };

	t2x_escape_text(&escape, text, strlen(text));
	t2x_escape_end(&escape);
}

/* Print the name of an input such that its end can be seen. */
static void put_name(const struct t2x_report *report, const char *name)
{
	size_t n = strlen(name);
	int is_quoted = !n || name[n - 1] == ':' || name[n - 1] == ' ';

	if (is_quoted)
		fputc('"', report->to);
	put_escaped(report, name);
	if (is_quoted)
		fputc('"', report->to);
}

static void put_line(const struct t2x_report *report, const char *input, const char *place, const char *format,
		     va_list ap)
{
	char text[MAX_TEXT];

	vsnprintf(text, sizeof(text), format, ap);
	fprintf(report->to, "%s: ", program);
	put_name(report, input);
	fputs(place, report->to);
	put_escaped(report, text);
	fputc('\n', report->to);
}

void t2x_report_damage(struct t2x_report *report, const char *input, const char *unit, uint64_t offset,
		       const char *format, ...)
{
	char place[64];
	va_list ap;

	if (report->damages++ >= T2X_REPORT_LINES || !report->to)
		return;
	snprintf(place, sizeof(place), ": %s %" PRIu64 ": ", unit, offset);
	va_start(ap, format);
	put_line(report, input, place, format, ap);
	va_end(ap);
}

void t2x_report_repeat(struct t2x_report *report, const char *messages, const struct t2x_report *counts)
{
	uint64_t left = report->damages < T2X_REPORT_LINES ? T2X_REPORT_LINES - report->damages : 0;

	for (; messages && *messages && left && report->to; left--) {
		size_t n = strcspn(messages, "\n") + 1;
		fwrite(messages, 1, n, report->to);
		messages += n;
	}
	report->damages += counts->damages;
	report->skipped_blocks += counts->skipped_blocks;
	report->skipped_events += counts->skipped_events;
}

void t2x_report_note(struct t2x_report *report, const char *input, const char *format, ...)
{
	va_list ap;

	if (!report->to)
		return;
	va_start(ap, format);
	put_line(report, input, ": ", format, ap);
	va_end(ap);
}

void t2x_report_skipped(struct t2x_report *report, unsigned events)
{
	report->skipped_blocks++;
	report->skipped_events += events;
}

void t2x_report_finish(struct t2x_report *report)
{
	if (report->damages > T2X_REPORT_LINES && report->to)
		fprintf(report->to, "%s: %" PRIu64 " more damaged places\n", program,
			report->damages - T2X_REPORT_LINES);
	if (report->skipped_blocks && report->to)
		fprintf(report->to,
			"%s: %" PRIu64 " blocks in an unknown encoding skipped: %" PRIu64 " raw events\n", program,
			report->skipped_blocks, report->skipped_events);
}
