/* SPDX-License-Identifier: MIT */
#include "idx_error.h"

#include <stdarg.h>
#include <stdio.h>

#include "trace2.h"

void idx_error(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	trace2_cmd_error_va(format, ap);
	flockfile(stderr);
	fputs("t2index: ", stderr);
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
	funlockfile(stderr);
	va_end(ap);
}
