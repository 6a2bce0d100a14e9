/* SPDX-License-Identifier: MIT */
/* tr2p_chains.c - see tr2p_chains.h. */
#include "tr2p_chains.h"

#include <linux/perf_event.h>
#include <string.h>

#include "base/tr2_atomic.h"

/* Behind the addresses: which registers there are, and these two. */
enum { WORD = 8, TAIL = 3, RECORDS = 1024 };

struct record {
	uint64_t at;                          /* of its addresses */
	uint64_t n;                           /* how many */
	uint64_t sp, pc;
};

static uint64_t word_at(const struct tr2p_chains *chains, uint64_t at)
{
	uint64_t word;

	memcpy(&word, chains->data + (at & (chains->size - 1)), sizeof(word));
	return word;
}

uint64_t tr2p_chains_head(const struct tr2p_chains *chains)
{
	/* [P17] acquire: the records in front of it.  Pairs with the kernel's write */
	return tr2_load_acq(&chains->page->data_head);
}

/* Nothing from here on is there any more: the kernel has written there since then. */
static uint64_t end_of(const struct tr2p_chains *chains, uint64_t head)
{
	const uint64_t oldest = head + chains->size;

	/* heads go down, from 0; as differences they are in order */
	return oldest - head < chains->seen - head ? oldest : chains->seen;
}

/*
 * The next record with addresses, at *at or behind.
 * at      goes on behind it    Return  0: there is none
 */
static int next_record(const struct tr2p_chains *chains, uint64_t *at, uint64_t end, struct record *record)
{
	struct perf_event_header header;
	uint64_t word, begin;

	while (end - *at >= WORD && end - *at <= chains->size) {
		begin = *at;
		word = word_at(chains, begin);
		memcpy(&header, &word, sizeof(header));
		if (header.size < WORD || header.size % WORD || header.size > end - begin)
			return 0;
		*at += header.size;
		if (header.type != PERF_RECORD_SAMPLE || header.size < 2 * WORD)
			continue;
		record->n = word_at(chains, begin + WORD);
		record->at = begin + 2 * WORD;
		if (record->n > header.size / WORD || header.size < (2 + record->n + TAIL) * WORD)
			continue;             /* a thread of the kernel has no registers of a program */
		record->sp = word_at(chains, record->at + (record->n + 1) * WORD);
		record->pc = word_at(chains, record->at + (record->n + 2) * WORD);
		return 1;
	}
	return 0;
}

static int is_of(const struct record *record, const struct tr2p_chains_place *place)
{
	return record->pc == place->pc && record->sp == place->sp;
}

unsigned tr2p_chains_count(const struct tr2p_chains *chains, uint64_t head, const struct tr2p_chains_place *place,
			   unsigned *all)
{
	const uint64_t end = end_of(chains, head);
	struct record record;
	unsigned n = 0;

	*all = 0;
	for (uint64_t at = head; *all < RECORDS && next_record(chains, &at, end, &record); ++*all)
		n += (unsigned)is_of(&record, place);
	return n;
}

/* Between the addresses are words that say whose those behind them are: all the kernel's here. */
static unsigned copy(const struct tr2p_chains *chains, const struct record *record, uintptr_t *to, unsigned max)
{
	unsigned n = 0;

	for (uint64_t i = 0; i < record->n && n < max; i++) {
		const uint64_t address = word_at(chains, record->at + i * WORD);

		if (address >= (uint64_t)PERF_CONTEXT_MAX)
			continue;
		to[n] = (uintptr_t)address - (n != 0);
		n++;
	}
	return n;
}

unsigned tr2p_chains_copy(const struct tr2p_chains *chains, uint64_t head, const struct tr2p_chains_place *place,
			  unsigned nth, uintptr_t *to, unsigned max)
{
	const uint64_t end = end_of(chains, head);
	struct record record;
	uint64_t at = head;
	unsigned n, i = 0;

	for (unsigned left = RECORDS; left && next_record(chains, &at, end, &record); left--) {
		if (!is_of(&record, place) || i++ < nth)
			continue;
		n = copy(chains, &record, to, max);
		/* what was copied is still there, if the kernel has not come around since */
		return at - tr2p_chains_head(chains) <= chains->size ? n : 0;
	}
	return 0;
}
