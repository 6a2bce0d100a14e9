/* SPDX-License-Identifier: MIT */
/* t2x_refuse.c - see t2x_refuse.h. */
#include "t2x_refuse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/t2x_report.h"
#include "t2x_status.h"
#include "t2x_suggest.h"

_Noreturn void t2x_refuse_word(const char *what, const char *value, const char *meant)
{
	const char *name = t2x_report_name();
	int is_empty = value && !*value;

	fprintf(stderr, "%s: %s%s%s%s%s%s (%s --help tells more)\n", name, what, value ? ": " : "",
		!value ? "" : is_empty ? "\"\"" : value, meant ? "; did you mean " : "", meant ? meant : "",
		meant ? "?" : "", name);
	exit(T2X_EXIT_USAGE);
}

_Noreturn void t2x_refuse(const char *what, const char *value)
{
	t2x_refuse_word(what, value, NULL);
}

/* Put the options that begin with a name together: "--recover, --recover-all".  Return  how many there are */
static unsigned list_options(const struct option *all, const char *name, char *to, size_t size)
{
	unsigned n = 0;
	size_t length = 0;

	for (*to = '\0'; all->name; all++)
		if (!strncmp(all->name, name, strlen(name)) && length < size)
			length += (size_t)snprintf(to + length, size - length, "%s--%s", n++ ? ", " : "", all->name);
	return n;
}

/* argument  with its hyphens, without a value; name  without these */
static _Noreturn void refuse_unknown(const struct option *all, const char *argument, const char *name)
{
	struct t2x_suggestion suggestion = { .word = name };
	char meant[64], several[512], what[sizeof(several) + 64];

	if (*name && list_options(all, name, several, sizeof(several)) > 1) {
		snprintf(what, sizeof(what), "this option may be %s", several);
		t2x_refuse(what, argument);
	}
	for (; all->name; all++)
		t2x_suggest_try(&suggestion, all->name);
	snprintf(meant, sizeof(meant), "--%s", suggestion.best ? suggestion.best : "");
	t2x_refuse_word("no such option", argument, suggestion.best ? meant : NULL);
}

_Noreturn void t2x_refuse_option(const struct option *all, int answer, const char *argument)
{
	char name[128], letter[] = { '-', (char)optopt, '\0' };
	int is_long = !strncmp(argument, "--", 2);

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(argument, "="), argument);
	if (answer == ':')
		t2x_refuse("this option needs a value", is_long ? name : letter);
	if (!is_long)
		t2x_refuse("no such option", letter);
	if (optopt)
		t2x_refuse("this option takes no value", argument);
	refuse_unknown(all, name, name + 2);
}

int t2x_complain(const char *name, const char *why)
{
	struct t2x_report report = { .to = stderr };

	t2x_report_note(&report, name, "%s", why);
	return T2X_EXIT_UNUSABLE;
}
