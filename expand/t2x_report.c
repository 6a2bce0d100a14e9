/* SPDX-License-Identifier: MIT */
/* t2x_report.c - see t2x_report.h. */
#include "t2x_report.h"

#include <inttypes.h>
#include <stdarg.h>

void t2x_report_damage(struct t2x_report *report, const char *input, const char *unit, uint64_t offset,
		       const char *format, ...)
{
	va_list ap;

	if (report->damages++ >= T2X_REPORT_LINES || !report->to)
		return;
	fprintf(report->to, "t2expand: %s: %s %" PRIu64 ": ", input, unit, offset);
	va_start(ap, format);
	vfprintf(report->to, format, ap);
	va_end(ap);
	fputc('\n', report->to);
}

void t2x_report_note(struct t2x_report *report, const char *input, const char *format, ...)
{
	va_list ap;

	if (!report->to)
		return;
	fprintf(report->to, "t2expand: %s: ", input);
	va_start(ap, format);
	vfprintf(report->to, format, ap);
	va_end(ap);
	fputc('\n', report->to);
}

void t2x_report_finish(struct t2x_report *report)
{
	if (report->damages > T2X_REPORT_LINES && report->to)
		fprintf(report->to, "t2expand: %" PRIu64 " more damaged places\n",
			report->damages - T2X_REPORT_LINES);
}
