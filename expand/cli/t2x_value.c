/* SPDX-License-Identifier: MIT */
/* t2x_value.c - see t2x_value.h. */
#include "t2x_value.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "t2x_refuse.h"

enum t2x_when t2x_value_when(const char *text)
{
	if (text && strcmp(text, "auto") && strcmp(text, "always") && strcmp(text, "never"))
		t2x_refuse("--color is one of auto, always, never, not", text);
	return !text || !strcmp(text, "always") ? T2X_ALWAYS : !strcmp(text, "never") ? T2X_NEVER : T2X_AUTO;
}

unsigned t2x_value_number(const char *what, const char *text, unsigned max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end)
		t2x_refuse(what, text);
	return n > max ? max : (unsigned)n;
}

double t2x_value_percent(const char *text)
{
	char *end;
	double percent = strtod(text, &end);

	if (*text < '0' || *text > '9' || *end)
		t2x_refuse("--threshold is not a number of per cent", text);
	return percent;
}

uint32_t t2x_value_pid(const char *what, const char *text)
{
	char *end = NULL;
	unsigned long n = text ? strtoul(text, &end, 10) : 0;

	if (!n || *text < '1' || *text > '9' || *end || n > INT32_MAX)
		t2x_refuse(what, text);
	return (uint32_t)n;
}

uint64_t t2x_value_age(const char *what, const char *text)
{
	static const char units[] = "smhdw";
	static const unsigned seconds[] = { 1, 60, 3600, 86400, 604800 };
	const char *unit;
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	unit = *end ? strchr(units, *end) : units;
	if (*text < '0' || *text > '9' || !unit || (*end && end[1]) || n > UINT32_MAX)
		t2x_refuse(what, text);
	return unit ? (uint64_t)n * seconds[unit - units] : 0;
}

uid_t t2x_value_user(const char *text)
{
	const struct passwd *user = getpwnam(text);
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (user)
		return user->pw_uid;
	if (*text < '0' || *text > '9' || *end || n > UINT32_MAX)
		t2x_refuse("--ring-user is not a user", text);
	return (uid_t)n;
}
