/* SPDX-License-Identifier: MIT */
/* t2x_watched.c - see t2x_watched.h. */
#include "t2x_watched.h"

#include <string.h>

#include "t2x_refuse.h"
#include "t2x_value.h"

/* t2 follow prints an event when it comes, so not every format will do. */
static void check_stream(const struct t2x_format *format, const struct t2x_options *options)
{
	if (!(format->traits & T2X_TRAIT_STREAM))
		t2x_refuse("cannot be printed while the program runs, --format", format->name);
	if (t2x_option(options, T2X_OPTION_last))
		t2x_refuse("--last needs an end", NULL);
}

struct t2x_watched t2x_watched_take(enum t2x_takes takes, const struct t2x_format *format,
				    const struct t2x_options *options, char **operands, unsigned n)
{
	struct t2x_watched watched = { .is_state = takes == T2X_TAKES_STATE, .is_top = takes == T2X_TAKES_TOP };

	watched.what = n ? operands[0] : watched.is_top ? "all" : NULL;
	if (!watched.what && watched.is_state)
		t2x_refuse("needs a process id or a file", NULL);
	if (!watched.what)
		t2x_refuse("needs a process id, a file, a directory or all", NULL);
	if (n > 1)
		t2x_refuse("takes one operand", operands[1]);
	if (takes == T2X_TAKES_FOLLOWED)
		check_stream(format, options);
	if (watched.what[strspn(watched.what, "0123456789")] == '\0')
		watched.pid = t2x_value_pid("not a process id", watched.what);
	return watched;
}
