/* SPDX-License-Identifier: MIT */
/* t2x_jit.c - see t2x_jit.h. */
#include "t2x_jit.h"

#include <stdlib.h>
#include <string.h>

enum {
	DUMP_MAGIC = 0x4a695444, DUMP_LOAD = 0, DUMP_MOVE = 1, DUMP_HEAD = 40, RECORD_HEAD = 16, LOAD_HEAD = 56,
	MOVE_HEAD = 64,
	LOOK_BACK = 4096      /* entries: hostile files have thousands at one address */
};

void t2x_jit_free(struct t2x_jit *jit)
{
	free(jit->entries);
	free(jit->texts);
	*jit = (struct t2x_jit){ .n = 0 };
}

/* ---- adding ------------------------------------------------------------------------------------- */

/* Return  0: no memory */
static int make_room(struct t2x_jit *jit, size_t length)
{
	size_t max = jit->max ? 2 * jit->max : 256, max_bytes = jit->max_bytes ? jit->max_bytes : 8192;
	struct t2x_jit_entry *entries;
	char *texts;

	while (max_bytes - jit->bytes < length + 1)
		max_bytes *= 2;
	if (max_bytes > jit->max_bytes) {
		texts = realloc(jit->texts, max_bytes);
		if (!texts)
			return 0;
		jit->texts = texts;
		jit->max_bytes = max_bytes;
	}
	if (jit->n < jit->max)
		return 1;
	entries = realloc(jit->entries, max * sizeof(*entries));
	if (!entries)
		return 0;
	jit->entries = entries;
	jit->max = max;
	return 1;
}

static void add(struct t2x_jit *jit, uint64_t start, uint64_t size, uint64_t index, const char *name, size_t length)
{
	char *text;

	if (!size || start > UINT64_MAX - size || !length || jit->n == T2X_JIT_MAX)
		return;
	if (length > T2X_JIT_MAX_NAME)
		length = T2X_JIT_MAX_NAME;
	if (!make_room(jit, length)) {
		jit->error = 1;
		return;
	}
	jit->entries[jit->n] = (struct t2x_jit_entry){
		.start = start, .end = start + size, .index = index, .number = (uint32_t)jit->n,
		.length = (uint32_t)length, .name = jit->bytes
	};
	text = jit->texts + jit->bytes;
	for (size_t i = 0; i < length; i++)       /* the name may become a line, or a part of one */
		text[i] = (unsigned char)name[i] < ' ' || name[i] == 0x7f ? ' ' : name[i];
	text[length] = '\0';
	jit->bytes += length + 1;
	jit->n++;
	jit->is_sorted = 0;
}

/* A hexadecimal number and the blank behind it.  Return  behind that; NULL: there is none */
static const char *take_hex(const char *at, const char *end, uint64_t *value)
{
	const char *begin;

	if (end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x')
		at += 2;
	begin = at;
	for (*value = 0; at < end && at - begin <= 16; at++) {
		unsigned c = (unsigned char)*at, letter = c | 0x20;
		if (c >= '0' && c <= '9')
			*value = *value << 4 | (c - '0');
		else if (letter >= 'a' && letter <= 'f')
			*value = *value << 4 | (letter - 'a' + 10);
		else
			break;
	}
	return at > begin && at < end && *at == ' ' && at - begin <= 16 ? at + 1 : NULL;
}

void t2x_jit_add_map(struct t2x_jit *jit, const char *text, size_t n)
{
	const char *end = text + n;

	while (text < end) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text)), *at;
		uint64_t start, size;

		if (!line_end)                    /* its writer has died in it */
			return;
		at = take_hex(text, line_end, &start);
		at = at ? take_hex(at, line_end, &size) : NULL;
		if (at)
			add(jit, start, size, 0, at, (size_t)(line_end - at));
		text = line_end + 1;
	}
}

/* ---- a dump ------------------------------------------------------------------------------------- */

static uint32_t load_u32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static uint64_t load_u64(const unsigned char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* process, thread, virtual address, address, size, index, name */
static void add_load(struct t2x_jit *jit, const unsigned char *record, size_t n)
{
	const char *name = (const char *)record + LOAD_HEAD;

	if (n > LOAD_HEAD)
		add(jit, load_u64(record + 32), load_u64(record + 40), load_u64(record + 48), name,
		    strnlen(name, n - LOAD_HEAD));
}

/* process, thread, virtual address, old address, new address, size, index */
static void add_move(struct t2x_jit *jit, const unsigned char *record, size_t n)
{
	char name[T2X_JIT_MAX_NAME];
	uint64_t index;
	size_t i;

	if (n < MOVE_HEAD)
		return;
	index = load_u64(record + 56);
	for (i = jit->n; i && jit->n - i < LOOK_BACK; i--) {
		const struct t2x_jit_entry *entry = &jit->entries[i - 1];
		if (entry->index != index)
			continue;
		memcpy(name, jit->texts + entry->name, entry->length);
		add(jit, load_u64(record + 40), load_u64(record + 48), index, name, entry->length);
		return;
	}
}

void t2x_jit_add_dump(struct t2x_jit *jit, const unsigned char *bytes, size_t n)
{
	size_t at, size;

	if (n < DUMP_HEAD || load_u32(bytes) != DUMP_MAGIC)
		return;
	for (at = load_u32(bytes + 8); at < n && n - at >= RECORD_HEAD; at += size) {
		const unsigned char *record = bytes + at;

		size = load_u32(record + 4);
		if (size < RECORD_HEAD || size > n - at)
			return;
		if (load_u32(record) == DUMP_LOAD)
			add_load(jit, record, size);
		if (load_u32(record) == DUMP_MOVE)
			add_move(jit, record, size);
	}
}

/* ---- finding ------------------------------------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
	const struct t2x_jit_entry *one = a, *two = b;

	if (one->start != two->start)
		return one->start < two->start ? -1 : 1;
	return one->number < two->number ? -1 : one->number > two->number;
}

static void sort(struct t2x_jit *jit)
{
	uint64_t reach = 0;

	if (jit->n)
		qsort(jit->entries, jit->n, sizeof(jit->entries[0]), compare);
	for (size_t i = 0; i < jit->n; i++) {
		reach = jit->entries[i].end > reach ? jit->entries[i].end : reach;
		jit->entries[i].reach = reach;
	}
	jit->is_sorted = 1;
}

const char *t2x_jit_find(struct t2x_jit *jit, uint64_t address)
{
	const struct t2x_jit_entry *found = NULL;
	size_t low = 0, high = jit->n;

	if (!jit->is_sorted)
		sort(jit);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (jit->entries[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	high = low;
	for (; low && high - low < LOOK_BACK && jit->entries[low - 1].reach > address; low--) {
		const struct t2x_jit_entry *entry = &jit->entries[low - 1];
		if (entry->end > address && (!found || entry->number > found->number))
			found = entry;
	}
	return found ? jit->texts + found->name : NULL;
}
