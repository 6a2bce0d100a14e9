/* SPDX-License-Identifier: MIT */
/* t2x_suggest.c - see t2x_suggest.h. */
#include "t2x_suggest.h"

#include <string.h>

enum { MAX_LENGTH = 32 };         /* bytes of a word; no command or option is longer */

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* row[j] is the distance between the first i bytes of a and the first j of b; three rows are enough. */
static unsigned find_distance(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned rows[3][MAX_LENGTH + 1];

	for (unsigned j = 0; j <= nb; j++)
		rows[0][j] = j;
	for (unsigned i = 1; i <= na; i++) {
		unsigned *row = rows[i % 3];
		const unsigned *above = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];

		row[0] = i;
		for (unsigned j = 1; j <= nb; j++) {
			row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
	}
	return rows[na % 3][nb];
}

void t2x_suggest_try(struct t2x_suggestion *suggestion, const char *candidate)
{
	size_t n = strlen(suggestion->word), length = strlen(candidate);
	unsigned max = n < 3 ? 1 : (unsigned)n / 3, distance;

	if (!n || n > MAX_LENGTH || length > MAX_LENGTH)
		return;
	distance = find_distance(suggestion->word, n, candidate, length);
	if (n > 1 && !strncmp(candidate, suggestion->word, n))
		distance = 1;
	if (distance > max || (suggestion->best && suggestion->distance <= distance))
		return;
	suggestion->best = candidate;
	suggestion->distance = distance;
}
