/* SPDX-License-Identifier: MIT */
/* shown.c - see shown.h. */
#include "shown.h"

#include <stdlib.h>
#include <string.h>

void shown_append(void *to, const char *piece, size_t n)
{
	struct shown *text = to;

	if (n >= sizeof(text->c) - text->n)
		abort();
	memcpy(text->c + text->n, piece, n);
	text->n += n;
	text->c[text->n] = '\0';
}

const struct shown *shown(void (*show)(tlg_show_fn *, void *))
{
	static struct shown text;

	text.n = 0;
	show(shown_append, &text);
	return &text;
}
