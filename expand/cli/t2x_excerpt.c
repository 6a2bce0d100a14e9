/* SPDX-License-Identifier: MIT */
/* t2x_excerpt.c - see t2x_excerpt.h. */
#include "t2x_excerpt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/t2x_kernel.h"
#include "tlg.h"

enum { DIGITS = 16, FIRST_MAX = 4096 };

void t2x_excerpt_free(struct t2x_excerpt *excerpt)
{
	free(excerpt->addresses);
	t2x_bytes_free(&excerpt->text);
	*excerpt = (struct t2x_excerpt){ .n = 0 };
}

/* ---- addresses ---------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	const uint64_t one = *(const uint64_t *)a, two = *(const uint64_t *)b;

	return one < two ? -1 : one > two;
}

/* Each address stays once, in ascending order. */
static void sort(struct t2x_excerpt *excerpt)
{
	size_t kept = 0;

	if (excerpt->n)
		qsort(excerpt->addresses, excerpt->n, sizeof(excerpt->addresses[0]), compare);
	for (size_t i = 0; i < excerpt->n; i++)
		if (!kept || excerpt->addresses[kept - 1] != excerpt->addresses[i])
			excerpt->addresses[kept++] = excerpt->addresses[i];
	excerpt->n = kept;
}

/* Samples repeat their addresses, so sorting frees most of the table.  Return  0: no more have room */
static int make_room(struct t2x_excerpt *excerpt)
{
	size_t max = excerpt->max ? 2 * excerpt->max : FIRST_MAX;
	uint64_t *addresses;

	if (excerpt->n < excerpt->max)
		return 1;
	sort(excerpt);
	if (excerpt->n < excerpt->max / 2)
		return 1;
	addresses = max <= T2X_JIT_MAX ? realloc(excerpt->addresses, max * sizeof(*addresses)) : NULL;
	if (!addresses)
		return excerpt->n < excerpt->max;
	excerpt->addresses = addresses;
	excerpt->max = max;
	return 1;
}

/* A stack is hexadecimal numbers with a blank between them.  The first bit of an address of the kernel is set. */
static void look_at_word(struct t2x_excerpt *excerpt, const char *word, size_t n)
{
	uint64_t address = 0;

	if (n != DIGITS || *word < '8')
		return;
	for (size_t i = 0; i < n; i++) {
		const char c = word[i];
		if ((c < '0' || c > '9') && (c < 'a' || c > 'f'))
			return;
		address = address << 4 | (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	if (address != TLG_KERNEL_START && make_room(excerpt))
		excerpt->addresses[excerpt->n++] = address;
}

static void look_at_text(struct t2x_excerpt *excerpt)
{
	const char *text = (const char *)excerpt->text.bytes, *end = text + excerpt->text.n, *word = text;

	for (; text < end; text++)
		if (*text == ' ' || !*text) {
			look_at_word(excerpt, word, (size_t)(text - word));
			word = text + 1;
		}
	excerpt->text.n = 0;
}

/* The texts of an event are in the INFO events behind it; VALUE events may lie in between. */
void t2x_excerpt_look(struct t2x_excerpt *excerpt, const struct t2x_block *block)
{
	for (unsigned i = 0; i < block->count; i++) {
		const struct tlg_event *event = &block->events[i];
		unsigned type = tlg_event_type(event);

		if (type == TLG_INFO)
			t2x_bytes_put(&excerpt->text, event->u.info.text.c, TLG_TEXT_SIZE);
		if (type != TLG_VALUE && (type != TLG_INFO || (event->flags & TLG_INFO_END))) {
			t2x_bytes_put(&excerpt->text, "", 1);
			look_at_text(excerpt);
		}
	}
}

/* ---- names -------------------------------------------------------------------------------------- */

void t2x_excerpt_put(struct t2x_excerpt *excerpt, struct t2x_bytes *to)
{
	char boot[T2X_KERNEL_BOOT], line[64];
	struct t2x_jit jit = { .n = 0 };
	int has_head = 0;

	sort(excerpt);
	if (excerpt->n && t2x_kernel_boot(boot))
		t2x_kernel_read(&jit, boot);
	for (size_t i = 0; i < excerpt->n && jit.n; i++) {
		const char *name = t2x_jit_find(&jit, excerpt->addresses[i]);
		int n = snprintf(line, sizeof(line), "%llx 1 ", (unsigned long long)excerpt->addresses[i]);

		if (!name)
			continue;
		if (!has_head) {
			t2x_bytes_put(to, "kernel ", strlen("kernel "));
			t2x_bytes_put(to, boot, strlen(boot));
			t2x_bytes_put(to, "\n", 1);
			has_head = 1;
		}
		t2x_bytes_put(to, line, (size_t)n);
		t2x_bytes_put(to, name, strlen(name));
		t2x_bytes_put(to, "\n", 1);
	}
	t2x_jit_free(&jit);
	excerpt->n = 0;
}
