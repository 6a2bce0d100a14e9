/* SPDX-License-Identifier: MIT */
/* printed.c - see printed.h. */
#include "printed.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *printed(const char *format, ...)
{
	static char said[256];
	const char *out = getenv("T2_OUT");
	char asked[640], command[1024];
	int is_long;
	va_list args;
	FILE *pipe;
	size_t n;

	va_start(args, format);
	is_long = vsnprintf(asked, sizeof(asked), format, args) >= (int)sizeof(asked);
	va_end(args);
	if (is_long || snprintf(command, sizeof(command), "expand='%s/t2expand'; %s", out ? out : "build", asked) >=
		       (int)sizeof(command))
		abort();
	pipe = popen(command, "r");
	if (!pipe)
		abort();
	n = fread(said, 1, sizeof(said) - 1, pipe);
	pclose(pipe);
	said[n] = '\0';
	said[strcspn(said, "\n")] = '\0';
	return said;
}
