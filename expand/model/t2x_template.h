/* SPDX-License-Identifier: MIT */
/*
 * t2x_template.h - what a line's checkpoint, and what its thread, decide alone: laid out once, copied from then on.
 *
 * Scopes and threads have numbers that are never given twice, and another one as soon as they say something
 * else (t2x_hit.h).  So a template that carries the right number is right, and nobody need hear of it when a
 * scope is gone.  Templates lie in a table with one place for each of the numbers that are equal modulo its
 * size; numbers are dense, so a table is as good as one of all scopes while there are no more than places.
 * What a template's text and lengths mean is the writer's own business.
 */
#ifndef T2X_TEMPLATE_H
#define T2X_TEMPLATE_H

#include <stdint.h>
#include <string.h>

enum {
	T2X_TEMPLATE_BYTES = 496,
	T2X_TEMPLATE_STEP = 32,           /* bytes copied at a time */
	T2X_SCOPE_TEMPLATES = 2048,       /* a megabyte, of which only what is used is touched */
	T2X_THREAD_TEMPLATES = 256,
	T2X_TEMPLATE_TOO_LONG = UINT16_MAX,   /* for a length: it may not fit, and is laid out each time */
};

struct t2x_template {
	uint64_t number;                  /* of the scope or thread; 0: the text is of nobody */
	uint16_t length[4];
	char text[T2X_TEMPLATE_BYTES];
};

/* All zero: empty. */
struct t2x_templates {
	struct t2x_template scope[T2X_SCOPE_TEMPLATES];
	struct t2x_template thread[T2X_THREAD_TEMPLATES];
};

/* The place of a number: its template is there if t2x_template_is_of(); if not, it is to be put there. */
static inline struct t2x_template *t2x_template_of_scope(struct t2x_templates *templates, uint64_t number)
{
	return &templates->scope[number % T2X_SCOPE_TEMPLATES];
}

static inline struct t2x_template *t2x_template_of_thread(struct t2x_templates *templates, uint64_t number)
{
	return &templates->thread[number % T2X_THREAD_TEMPLATES];
}

/* What has number 0 has no template that outlives its line. */
static inline int t2x_template_is_of(const struct t2x_template *template, uint64_t number)
{
	return template->number == number && number;
}

/*
 * Append n bytes of text that have been laid out.
 * which  index in length: 0 for the first part of the text, another one for the part behind it
 */
static inline void t2x_template_keep(struct t2x_template *template, unsigned which, const char *text, size_t n)
{
	unsigned used = which ? template->length[0] : 0;

	template->length[which] = T2X_TEMPLATE_TOO_LONG;
	if (used == T2X_TEMPLATE_TOO_LONG || n > T2X_TEMPLATE_BYTES - T2X_TEMPLATE_STEP - used)
		return;
	memcpy(template->text + used, text, n);
	template->length[which] = (uint16_t)n;
}

/* Copy n bytes of text, up to T2X_TEMPLATE_STEP - 1 more of it are read, and written behind.  Return  to + n */
static inline char *t2x_template_put(char *to, const char *text, unsigned n)
{
	unsigned done = 0;

	do
		memcpy(to + done, text + done, T2X_TEMPLATE_STEP);
	while ((done += T2X_TEMPLATE_STEP) < n);
	return to + n;
}

#endif
