/* SPDX-License-Identifier: MIT */
/* t2x_answered.c - see t2x_answered.h. */
#include "t2x_answered.h"

#include <string.h>

/* A text that does not fit is none: half of a path would be another one. */
static void take_text(char *to, size_t size, const char *value, size_t n)
{
	if (n >= size || memchr(value, '\0', n))
		n = 0;
	memcpy(to, value, n);
	to[n] = '\0';
}

/* Return  0: it is none */
static int take_number(uint64_t *to, const char *value, size_t n)
{
	uint64_t number = 0;

	for (size_t i = 0; i < n; i++) {
		if (value[i] < '0' || value[i] > '9' || number > (UINT64_MAX - 9) / 10)
			return 0;
		number = number * 10 + (uint64_t)(value[i] - '0');
	}
	if (n)
		*to = number;
	return n != 0;
}

static void take_lost(struct t2x_answered *answered, const char *reason, size_t n, const char *value, size_t nvalue)
{
	const unsigned i = answered->nlost;

	if (i == T2X_ANSWERED_REASONS || n >= sizeof(answered->lost[i].reason) ||
	    !take_number(&answered->lost[i].count, value, nvalue))
		return;
	take_text(answered->lost[i].reason, sizeof(answered->lost[i].reason), reason, n);
	answered->nlost++;
}

static int is_key(const char *key, size_t n, const char *wanted)
{
	return n == strlen(wanted) && !memcmp(key, wanted, n);
}

static void take_line(struct t2x_answered *answered, const char *key, size_t n, const char *value, size_t nvalue)
{
	if (is_key(key, n, "state"))
		take_text(answered->state, sizeof(answered->state), value, nvalue);
	else if (is_key(key, n, "file") && nvalue && *value == '/')
		take_text(answered->file, sizeof(answered->file), value, nvalue);
	else if (is_key(key, n, "policy"))
		take_text(answered->policy, sizeof(answered->policy), value, nvalue);
	else if (is_key(key, n, "profiles")) {
		take_text(answered->profiles, sizeof(answered->profiles), value, nvalue);
		answered->has_profiles = 1;
	} else if (is_key(key, n, "written"))
		answered->has_counts = take_number(&answered->written, value, nvalue);
	else if (is_key(key, n, "moved"))
		take_number(&answered->moved, value, nvalue);
	else if (is_key(key, n, "threads"))
		take_number(&answered->threads, value, nvalue);
	else if (is_key(key, n, "memory used"))
		take_number(&answered->memory_used, value, nvalue);
	else if (n > 6 && !memcmp(key, "lost, ", 6))
		take_lost(answered, key + 6, n - 6, value, nvalue);
}

void t2x_answered_parse(struct t2x_answered *answered, const char *text)
{
	memset(answered, 0, sizeof(*answered));
	while (*text) {
		const size_t n = strcspn(text, "\n");
		const char *colon = n ? memchr(text, ':', n) : NULL;

		if (colon && colon + 1 < text + n && colon[1] == ' ')
			take_line(answered, text, (size_t)(colon - text), colon + 2, (size_t)(text + n - colon - 2));
		text += n;
		text += *text == '\n';
	}
}

int t2x_answered_has(const struct t2x_answered *answered, const char *profile)
{
	const size_t n = strlen(profile);

	for (const char *at = answered->profiles; *at; at += *at == ',') {
		const size_t length = strcspn(at, ",");

		if (length == n && !memcmp(at, profile, n))
			return 1;
		at += length;
	}
	return 0;
}
