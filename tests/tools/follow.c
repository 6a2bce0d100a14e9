/* SPDX-License-Identifier: MIT */
/* follow.c - see follow.h. */
#include "follow.h"

#include <string.h>

#include "trace2.h"

enum { FAR = 100000 };                    /* calls that may be missing at one place */

/* ---- making the calls --------------------------------------------------------------------------- */

/* The text of call n: n as 16 digits, and letters that n chooses.  It takes three events, the last not full. */
enum { TEXT_DIGITS = 16, TEXT_BYTES = 40 };

static void make_text(char text[TEXT_BYTES + 1], uint64_t n)
{
	memset(text, 'a' + (int)(n % 26), TEXT_BYTES);
	text[TEXT_BYTES] = '\0';
	for (int i = TEXT_DIGITS; i-- > 0; n >>= 4)
		text[i] = "0123456789abcdef"[n & 15];
}

void follow_call(uint64_t slot, uint64_t n)
{
	char text[TEXT_BYTES + 1];

	switch (n % FOLLOW_CALLS) {
	case FOLLOW_ENTER:
		trace2_region_enter("follow", "round", NULL);
		break;
	case FOLLOW_NUMBER:
		trace2_data_intmax("follow", NULL, "number", (intmax_t)(slot << 32 | n));
		break;
	case FOLLOW_MESSAGE:
		trace2_printf("call %d", (int)n);
		break;
	case FOLLOW_TEXT:
		make_text(text, n);
		trace2_data_string("follow", NULL, "text", text);
		break;
	default:
		trace2_region_leave_fl(__FILE__, __LINE__, "follow", "round", NULL);
		break;
	}
}

/* ---- finding them ------------------------------------------------------------------------------- */

/* Return  1: a text as long as make_text() makes it lies behind the event */
static int is_text(const struct tlg_event *event)
{
	const unsigned infos = (TEXT_BYTES + TLG_TEXT_SIZE - 1) / TLG_TEXT_SIZE;
	unsigned n = 0;

	if (!(event->flags & TLG_HAS_INFO))
		return 0;
	while (n < infos && tlg_event_type(&event[n + 1]) == TLG_INFO && !(event[++n].flags & TLG_INFO_END))
		;
	return n == infos && event[n].flags & TLG_INFO_END;
}

/* Return  byte i of this text */
static char text_byte(const struct tlg_event *event, unsigned i)
{
	return event[1 + i / TLG_TEXT_SIZE].u.info.text.c[i % TLG_TEXT_SIZE];
}

static uint64_t number_in_text(const struct tlg_event *event)
{
	uint64_t number = 0;

	for (unsigned i = 0; i < TEXT_DIGITS; i++) {
		char c = text_byte(event, i);
		number = number << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return number;
}

/* Return  the number in the event of a call; UINT64_MAX: it has none */
static uint64_t number_of(const struct tlg_event *event)
{
	if (event->flags & TLG_HAS_INFO && tlg_event_type(&event[1]) == TLG_VALUE)
		return (uint64_t)event[1].u.value.value;
	return is_text(event) ? number_in_text(event) : UINT64_MAX;
}

/* Return  1: the event's text is that of call n, to the last byte */
static int has_text(const struct tlg_event *event, uint64_t n)
{
	char text[TEXT_BYTES + 1];
	int same = is_text(event);

	make_text(text, n);
	for (unsigned i = 0; same && i < TEXT_BYTES; i++)
		same = text_byte(event, i) == text[i];
	return same;
}

/* Whether the event is that of call n of the thread. */
static int is_call(const struct follow_thread *thread, const struct tlg_event *event, uint64_t n)
{
	uint64_t number = number_of(event);
	uint32_t scope = thread->scopes[n % FOLLOW_CALLS];

	if (!event->u.hit.when || !event->u.hit.scopeIndex || (scope && scope != event->u.hit.scopeIndex))
		return 0;
	if (n % FOLLOW_CALLS == FOLLOW_NUMBER)
		return number == (thread->slot >= 0 ? (uint64_t)thread->slot << 32 | n : number >> 32 << 32 | n);
	if (n % FOLLOW_CALLS == FOLLOW_MESSAGE)
		return number == n;
	if (n % FOLLOW_CALLS == FOLLOW_TEXT)
		return has_text(event, n);
	return !(event->flags & TLG_HAS_INFO);
}

/* The event is not the expected call: count it as a later or an earlier one.  Without a number it may be either. */
static void explain(struct follow *follow, struct follow_thread *thread, const struct tlg_event *event)
{
	int has_number = number_of(event) != UINT64_MAX;

	for (uint64_t skipped = 1; skipped < FAR; skipped++) {
		if (is_call(thread, event, thread->next + skipped)) {
			follow->missing += skipped;
			thread->next += skipped + 1;
			return;
		}
		if (has_number && skipped <= thread->next && is_call(thread, event, thread->next - skipped)) {
			follow->twice++;
			return;
		}
	}
	follow->torn++;
	thread->next++;
}

/* Return  1: sequence and open regions of the thread's first event are those in front of call n */
static int is_in_place(const struct follow_thread *thread, uint64_t n)
{
	static const unsigned events[FOLLOW_CALLS] = { 0, 1, 3, 5, 9 };   /* of the round's calls before */

	return thread->sequence == (uint32_t)(n / FOLLOW_CALLS * FOLLOW_EVENTS + events[n % FOLLOW_CALLS] + 1) &&
	       thread->open == (n % FOLLOW_CALLS != FOLLOW_ENTER);
}

/* The first number of a thread shows which call it is; the events before it had no number. */
static void find_beginning(struct follow *follow, struct follow_thread *thread, uint64_t number)
{
	thread->next = (uint32_t)number;
	thread->has_begun = 1;
	if (thread->early > thread->next) {
		follow->torn++;
		return;
	}
	follow->missing += thread->next - thread->early;
	follow->out_of_place += !is_in_place(thread, thread->next - thread->early);
}

static void follow_hit(struct follow *follow, const struct tlg_event *event)
{
	struct follow_thread *thread = &follow->thread[event->u.hit.tid % FOLLOW_THREADS];
	uint64_t number = number_of(event);

	if (event->u.hit.tid >= FOLLOW_THREADS) {
		follow->torn++;
		return;
	}
	/* The library records the version when it is initialized. */
	if (event->flags & TLG_HAS_INFO && number == UINT64_MAX)
		return;
	if (!thread->sequence)
		thread->sequence = event->sequence;
	if (number != UINT64_MAX && (uint32_t)number >= FOLLOW_EXTRA) {
		follow->extra++;
		return;
	}
	if (!thread->has_begun && number == UINT64_MAX) {
		thread->next = ++thread->early;
		return;
	}
	if (!thread->has_begun)
		find_beginning(follow, thread, number);
	if (!is_call(thread, event, thread->next)) {
		explain(follow, thread, event);
		return;
	}
	if (thread->next % FOLLOW_CALLS == FOLLOW_NUMBER && thread->slot < 0)
		thread->slot = (int)(number >> 32);
	thread->scopes[thread->next++ % FOLLOW_CALLS] = event->u.hit.scopeIndex;
}

/* LOSS has totals: only the last one of a thread and reason counts. */
static void follow_loss(struct follow *follow, const struct tlg_loss *loss)
{
	struct tlg_loss *at = follow->losses;

	while (at < &follow->losses[FOLLOW_THREADS - 1] && at->reason &&
	       (at->tid != loss->tid || at->reason != loss->reason))
		at++;
	*at = *loss;
}

/* An OPEN counts only in front of the thread's first event. */
static void follow_open(struct follow *follow, const struct tlg_open *open)
{
	struct follow_thread *thread = &follow->thread[open->tid % FOLLOW_THREADS];

	thread->open += !thread->sequence;
}

void follow_begin(struct follow *follow)
{
	memset(follow, 0, sizeof(*follow));
	for (unsigned i = 0; i < FOLLOW_THREADS; i++)
		follow->thread[i].slot = -1;
}

void follow_block(void *data, const struct t2x_block *block)
{
	struct follow *follow = data;

	for (unsigned i = 0; i < block->count; i++) {
		const struct tlg_event *event = &block->events[i];
		follow->is_whole |= tlg_event_type(event) == TLG_END;
		if (tlg_event_type(event) == TLG_LOSS)
			follow_loss(follow, &event->u.loss);
		if (tlg_event_type(event) == TLG_OPEN)
			follow_open(follow, &event->u.open);
		if (tlg_event_type(event) == TLG_HIT && block->tid != TLG_NO_THREAD)
			follow_hit(follow, event);
	}
}

uint64_t follow_seen(const struct follow *follow, int slot)
{
	for (unsigned i = 0; i < FOLLOW_THREADS; i++)
		if (follow->thread[i].slot == slot)
			return follow->thread[i].next;
	return 0;
}

uint64_t follow_dropped(const struct follow *follow)
{
	uint64_t dropped = 0;

	for (unsigned i = 0; i < FOLLOW_THREADS; i++)
		dropped += follow->losses[i].count;
	return dropped;
}
