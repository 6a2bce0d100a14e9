/* SPDX-License-Identifier: MIT */
/* t2x_dropped.c - a hash table with open addressing, at most half full; how the model updates and shows it. */
#include "t2x_dropped.h"

#include <stdio.h>

#include "t2x_model_private.h"
#include "tlg_desc.h"
#include "base/t2x_memory.h"

enum { FIRST_SLOTS = 16 };

struct entry {
	uint64_t key;                /* tid << 32 | reason; 0: free, for reasons begin at 1 */
	uint64_t total;
};

struct t2x_dropped {
	unsigned used, slots;        /* slots: a power of two */
	struct entry slot[];
};

/* The slot of key, or the free one where it belongs. */
static struct entry *find_slot(struct t2x_dropped *dropped, uint64_t key)
{
	uint64_t i = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 32;

	for (;; i++) {
		struct entry *entry = &dropped->slot[i & (dropped->slots - 1)];

		if (!entry->key || entry->key == key)
			return entry;
	}
}

static size_t table_bytes(unsigned slots)
{
	return sizeof(struct t2x_dropped) + slots * sizeof(struct entry);
}

static struct t2x_dropped *new_table(unsigned slots, size_t *budget)
{
	struct t2x_dropped *dropped = table_bytes(slots) <= *budget ? t2x_calloc(1, table_bytes(slots)) : NULL;

	if (dropped) {
		dropped->slots = slots;
		*budget -= table_bytes(slots);
	}
	return dropped;
}

/* A table with room for one more.  Return  0: there is none */
static int make_room(struct t2x_dropped **dropped, size_t *budget)
{
	struct t2x_dropped *old = *dropped, *more;

	if (old && 2 * (old->used + 1) <= old->slots)
		return 1;
	if (old && old->used >= T2X_DROPPED_MAX)
		return 0;
	more = new_table(old ? 2 * old->slots : FIRST_SLOTS, budget);
	if (!more)
		return 0;
	for (unsigned i = 0; old && i < old->slots; i++) {
		if (old->slot[i].key)
			*find_slot(more, old->slot[i].key) = old->slot[i];
	}
	more->used = old ? old->used : 0;
	t2x_dropped_free(old, budget);
	*dropped = more;
	return 1;
}

uint64_t t2x_dropped_update(struct t2x_dropped **dropped, size_t *budget, uint32_t tid, unsigned reason,
			   uint64_t total)
{
	uint64_t key = (uint64_t)tid << 32 | reason, added;
	struct entry *entry = *dropped ? find_slot(*dropped, key) : NULL;

	if (!entry || !entry->key) {
		if (!make_room(dropped, budget))
			return 0;
		entry = find_slot(*dropped, key);
		entry->key = key;
		(*dropped)->used++;
	}
	if (total <= entry->total)
		return 0;
	added = total - entry->total;
	entry->total = total;
	return added;
}

uint64_t t2x_dropped_total(const struct t2x_dropped *dropped, unsigned reason)
{
	uint64_t total = 0;

	for (unsigned i = 0; dropped && i < dropped->slots; i++)
		if (dropped->slot[i].key && (uint32_t)dropped->slot[i].key == reason)
			total += dropped->slot[i].total;
	return total;
}

void t2x_dropped_free(struct t2x_dropped *dropped, size_t *budget)
{
	if (dropped)
		*budget += table_bytes(dropped->slots);
	t2x_free(dropped);
}

/* ---- updates ------------------------------------------------------------------------------------ */

void t2x_model_drop(struct t2x_model *m, struct t2x_process *process, const struct t2x_drop *drop)
{
	struct t2x_dropped *dropped = process->model;

	if (drop->reason == 0 || drop->reason >= TLG_LOSS_REASONS)
		return;
	m->summary.dropped[drop->reason] +=
		t2x_dropped_update(&dropped, &m->dropped_budget, drop->tid, drop->reason, drop->total);
	process->model = dropped;
}

/* "ring full" as the name of a counter. */
static void name_drop(char *name, size_t size, unsigned reason)
{
	snprintf(name, size, "lost-%s", tlg_loss_name(reason));
	for (; *name; name++)
		if (*name == ' ')
			*name = '-';
}

static void print_drop(struct t2x_model *m, struct t2x_process *process, unsigned reason, uint64_t ns)
{
	char name[32];
	struct t2x_thread thread = { .process = process, .name = "main" };
	struct t2x_scope scope = { .style = TLG_STYLE_counter, .category = "trace2", .label = name };
	const struct t2x_arg count = {
		.type = TLG_ARG_UINT, .value = (int64_t)t2x_dropped_total(process->model, reason),
	};
	struct t2x_event ev = {
		.thread = &thread, .scope = &scope, .style = TLG_STYLE_counter,
		.ns = ns, .open = 1, .nargs = 1, .args = &count,
	};

	if (!count.value)
		return;
	name_drop(name, sizeof(name), reason);
	t2x_model_print(m, &ev);
}

/* Totals are shown as git shows them at the end of a process: a counter "lost-ring-full" of category "trace2". */
void t2x_model_show_drops(struct t2x_model *m, struct t2x_process *process, uint64_t ns)
{
	for (unsigned reason = 1; reason < TLG_LOSS_REASONS; reason++)
		print_drop(m, process, reason, ns);
}

void t2x_model_forget_drops(struct t2x_model *m, struct t2x_process *process)
{
	t2x_dropped_free(process->model, &m->dropped_budget);
	process->model = NULL;
}
