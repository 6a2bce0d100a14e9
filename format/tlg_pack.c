/* SPDX-License-Identifier: MIT */
/* tlg_pack.c - see tlg_pack.h. */
#include "tlg_pack.h"

#include <string.h>

/*
 * The low three bits of a tag.  The other five, from the low ones up:
 *   HIT...     3 bits: size of the difference of `when`, 0: a step; 2 bits: size of scopeIndex, 0: the same as before
 *   VALUE...   3 bits: size of value; 2 bits: argtype - 1
 *   INFO...    bytes of text, 0 to 16
 *   OTHER      bit 0: the sequence follows; bit 1: the pid follows
 */
enum tag { HIT, HIT_INFO, HIT_RENDERED, VALUE, VALUE_END, INFO, INFO_END, OTHER };
enum { OTHER_SEQUENCE = 1 << 3, OTHER_PID = 2 << 3, OTHER_TAGS = OTHER | OTHER_SEQUENCE | OTHER_PID };

enum { LONGEST = 32 };   /* bytes of a packed event at most, with those that one load or store covers behind it */

/* The prediction of the next event from those before it. */
struct state {
	const struct tlg_pack_key *key;
	uint64_t argument;        /* header of an argument, without the flags that its tag has ... */
	uint64_t next;            /* ... and of any other event */
	uint32_t is_counted;      /* 1: arguments that follow belong to a checkpoint, and advance the sequence */
	uint32_t scope;           /* of the last HIT or MORE */
	uint64_t when;            /* of the last HIT or MORE that has read the clock */
};

/* ---- expectation ------------------------------------------------------------------------------- */

static inline struct state begin(const struct tlg_pack_key *key)
{
	uint64_t head = tlg_head(0, key->pid, 0);

	return (struct state){ .key = key, .argument = head, .next = head };
}

/* The predicted sequence number of an event of this type. */
static inline uint32_t expected_sequence(const struct state *state, unsigned type)
{
	return tlg_head_sequence(tlg_is_argument(type) ? state->argument : state->next);
}

/* Follow an event whose header was not predicted. */
static inline void follow_head(struct state *state, unsigned flags, uint32_t sequence)
{
	unsigned type = flags & TLG_TYPE_MASK, cycle = flags & TLG_CYCLE_MASK;
	uint32_t next = sequence;

	if (tlg_is_argument(type))
		next = tlg_head_sequence(state->next);
	else
		state->is_counted = type == TLG_HIT || type == TLG_MORE;
	state->argument = tlg_head(cycle, state->key->pid, sequence);
	state->next = tlg_head(cycle, state->key->pid, next + state->is_counted);
}

static inline void follow_hit(struct state *state, uint64_t when, uint32_t scope)
{
	if (when)
		state->when = when;
	state->scope = scope;
}

/* ---- numbers: the low bytes first ---------------------------------------------------------------- */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static inline uint64_t le64(uint64_t v) { return v; }
#else
static inline uint64_t le64(uint64_t v) { return __builtin_bswap64(v); }
#endif

static inline void store(unsigned char *to, uint64_t value)
{
	value = le64(value);
	memcpy(to, &value, 8);
}

static inline uint64_t load(const unsigned char *from)
{
	uint64_t value;

	memcpy(&value, from, 8);
	return le64(value);
}

/* Load the low bytes of a number, 0 to 8 of them. */
static inline uint64_t load_low(const unsigned char *from, unsigned bytes)
{
	static const uint64_t masks[] = {
		0, 0xff, 0xffff, 0xffffff, 0xffffffff, UINT64_C(0xffffffffff), UINT64_C(0xffffffffffff),
		UINT64_C(0xffffffffffffff), UINT64_C(0xffffffffffffffff),
	};

	return load(from) & masks[bytes];
}

static inline unsigned bytes_of(uint64_t value)
{
	return value ? (71u - (unsigned)__builtin_clzll(value)) / 8 : 0;
}

/* The size of a value in three bits: 0 to 6 stand for themselves, 7 for 8. */
static inline unsigned size_code(uint64_t value)
{
	unsigned bytes = bytes_of(value);

	return bytes < 7 ? bytes : 7;
}

static inline unsigned size_of_code(unsigned code)
{
	return code + (code == 7);
}

/* Make small unsigned numbers of small numbers of either sign. */
static inline uint64_t fold(uint64_t value)
{
	return value << 1 ^ (0 - (value >> 63));
}

static inline uint64_t unfold(uint64_t folded)
{
	return folded >> 1 ^ (0 - (folded & 1));
}

/* Bring the significant bytes of a VALUE to the low end: a double has most of its zeros there. */
static inline uint64_t turn_value(uint64_t value, unsigned argtype)
{
	return argtype == TLG_ARG_INT ? fold(value) : argtype == TLG_ARG_DOUBLE ? __builtin_bswap64(value) : value;
}

static inline uint64_t turn_value_back(uint64_t turned, unsigned argtype)
{
	return argtype == TLG_ARG_INT ? unfold(turned) : argtype == TLG_ARG_DOUBLE ? __builtin_bswap64(turned) : turned;
}

/* ---- packing ------------------------------------------------------------------------------------- */

static inline unsigned char *pack_hit(struct state *state, enum tag tag, const struct tlg_hit *hit, unsigned char *to)
{
	uint64_t ahead = fold(hit->when - state->when);
	unsigned when_code = hit->when ? size_code(ahead | 1) : 0;
	unsigned scope_code = hit->scopeIndex == state->scope ? 0 : hit->scopeIndex < 256 ? 1 :
			      hit->scopeIndex < 65536 ? 2 : 3;

	/* A difference takes at least one byte: size 0 is that of a step. */
	*to++ = (unsigned char)(tag | when_code << 3 | scope_code << 6);
	store(to, ahead);
	to += size_of_code(when_code);
	store(to, hit->scopeIndex);
	follow_hit(state, hit->when, hit->scopeIndex);
	return to + scope_code + (scope_code == 3);
}

static inline unsigned char *pack_value(enum tag tag, const struct tlg_value *value, unsigned char *to)
{
	uint64_t turned = turn_value((uint64_t)value->value, value->argtype);
	unsigned code = size_code(turned);

	*to++ = (unsigned char)(tag | code << 3 | (value->argtype - 1) << 6);
	store(to, turned);
	return to + size_of_code(code);
}

static inline unsigned char *pack_info(enum tag tag, const unsigned char *text, unsigned char *to)
{
	uint64_t high = load(text + 8);
	unsigned bytes = high ? 8 + bytes_of(high) : bytes_of(load(text));

	*to++ = (unsigned char)(tag | bytes << 3);
	memcpy(to, text, TLG_TEXT_SIZE);
	return to + bytes;
}

/* Pack any event: its flags, a bit for each byte of the payload that is not 0, and these bytes. */
static unsigned char *pack_other(struct state *state, const struct tlg_event *event, unsigned char *to)
{
	unsigned type = tlg_event_type(event);
	unsigned char *tag = to;
	uint64_t mask = 0;

	*tag = OTHER;
	store(to + 1, event->flags);
	to += 5;
	if (event->sequence != expected_sequence(state, type)) {
		*tag |= OTHER_SEQUENCE;
		store(to, event->sequence);
		to += 4;
	}
	if (event->pid != state->key->pid) {
		*tag |= OTHER_PID;
		store(to, event->pid);
		to += 2;
	}
	for (unsigned i = 0; i < TLG_PAYLOAD_SIZE; i++) {
		if (!event->u.payload[i])
			continue;
		mask |= UINT64_C(1) << i;
		*to++ = event->u.payload[i];
	}
	tag[3] = (unsigned char)mask;
	tag[4] = (unsigned char)(mask >> 8);
	if (type == TLG_HIT || type == TLG_MORE)
		follow_hit(state, event->u.hit.when, event->u.hit.scopeIndex);
	return to;
}

/*
 * The tag of an event, from its header as one word; OTHER if the header was not predicted.  The predicted header of a
 * HIT or of an argument differs from the real one only in the flags that the tag has.
 */
static inline enum tag tag_for(const struct state *state, uint64_t word)
{
	uint64_t hit = word ^ state->next, argument = word ^ state->argument;

	if (hit == tlg_head(TLG_HIT, 0, 0))
		return HIT;
	if (argument == tlg_head(TLG_VALUE | TLG_INFO_END, 0, 0))
		return VALUE_END;
	if (argument == tlg_head(TLG_VALUE, 0, 0))
		return VALUE;
	if (argument == tlg_head(TLG_INFO | TLG_INFO_END, 0, 0))
		return INFO_END;
	if (argument == tlg_head(TLG_INFO, 0, 0))
		return INFO;
	if (hit == tlg_head(TLG_HIT | TLG_HAS_INFO, 0, 0))
		return HIT_INFO;
	return hit == tlg_head(TLG_HIT | TLG_HAS_INFO | TLG_RENDERED, 0, 0) ? HIT_RENDERED : OTHER;
}

/* Follow an event whose header was predicted, as its tag says. */
static inline void follow_tag(struct state *state, enum tag tag)
{
	if (tag <= HIT_RENDERED) {
		state->argument = state->next;
		state->is_counted = 1;
	}
	state->next = tlg_head_later(state->next, state->is_counted);
}

static inline unsigned char *pack_event(struct state *state, const struct tlg_event *event, unsigned char *to)
{
	enum tag tag;
	uint64_t word;

	memcpy(&word, event, sizeof(word));
	tag = tag_for(state, word);
	if (tag <= HIT_RENDERED && event->u.hit.tid == state->key->tid)
		to = pack_hit(state, tag, &event->u.hit, to);
	else if ((tag == VALUE || tag == VALUE_END) && event->u.value.argtype - 1 < 4 && !event->u.value.reserved)
		to = pack_value(tag, &event->u.value, to);
	else if (tag == INFO || tag == INFO_END)
		to = pack_info(tag, event->u.payload, to);
	else {
		to = pack_other(state, event, to);
		follow_head(state, event->flags, event->sequence);
		return to;
	}
	follow_tag(state, tag);
	return to;
}

size_t tlg_pack(const struct tlg_pack_key *key, const struct tlg_event *events, unsigned count, void *to,
		size_t size)
{
	const struct tlg_pack_key own = *key;   /* a copy: the compiler knows that no store to `to` changes it */
	struct state state = begin(&own);
	unsigned char *at = to, *end = at + size;
	size_t bytes, padding;

	for (unsigned i = 0; i < count; i++) {
		if (end - at < LONGEST)
			return 0;
		at = pack_event(&state, &events[i], at);
	}
	bytes = (size_t)(at - (unsigned char *)to);
	padding = (TLG_EVENT_SIZE - bytes % TLG_EVENT_SIZE) % TLG_EVENT_SIZE;
	if ((size_t)(end - at) < padding)
		return 0;
	memset(at, 0, padding);
	return bytes + padding;
}

/* ---- unpacking ----------------------------------------------------------------------------------- */

/*
 * The work for each event has no function calls and no branches that a table can replace: 51 instructions an event of a
 * usual mix.  The critical path leads from one tag to the next, because a tag says how far behind it the next one lies.
 */
static const uint16_t flags_of[] = {
	[HIT] = TLG_HIT, [HIT_INFO] = TLG_HIT | TLG_HAS_INFO, [HIT_RENDERED] = TLG_HIT | TLG_HAS_INFO | TLG_RENDERED,
	[VALUE] = TLG_VALUE, [VALUE_END] = TLG_VALUE | TLG_INFO_END,
	[INFO] = TLG_INFO, [INFO_END] = TLG_INFO | TLG_INFO_END,
};

/*
 * By a whole tag: how far behind it the next tag lies.  So the critical path from one tag to the next is one load from
 * this table.  0: for OTHER, whose bytes say it, and for an INFO that would be too long.
 */
static const unsigned char step_of[UINT8_MAX + 1] = {
#define STEPS(other_bits, when_bytes, scope_bytes) \
	[(other_bits) << 3 | HIT] = 1 + (when_bytes) + (scope_bytes), \
	[(other_bits) << 3 | HIT_INFO] = 1 + (when_bytes) + (scope_bytes), \
	[(other_bits) << 3 | HIT_RENDERED] = 1 + (when_bytes) + (scope_bytes), \
	[(other_bits) << 3 | VALUE] = 1 + (when_bytes), [(other_bits) << 3 | VALUE_END] = 1 + (when_bytes), \
	[(other_bits) << 3 | INFO] = (other_bits) <= TLG_TEXT_SIZE ? 1 + (other_bits) : 0, \
	[(other_bits) << 3 | INFO_END] = (other_bits) <= TLG_TEXT_SIZE ? 1 + (other_bits) : 0
#define SIZES(scope, bytes) \
	STEPS((scope) << 3 | 0, 0, bytes), STEPS((scope) << 3 | 1, 1, bytes), STEPS((scope) << 3 | 2, 2, bytes), \
	STEPS((scope) << 3 | 3, 3, bytes), STEPS((scope) << 3 | 4, 4, bytes), STEPS((scope) << 3 | 5, 5, bytes), \
	STEPS((scope) << 3 | 6, 6, bytes), STEPS((scope) << 3 | 7, 8, bytes)
	SIZES(0, 0), SIZES(1, 1), SIZES(2, 2), SIZES(3, 4),
#undef SIZES
#undef STEPS
};

/*
 * By the five bits of a HIT's sizes: masks of the significant bits of `when` and of scopeIndex, and the bytes of the
 * first.  By the three bits of a VALUE's size: only the first mask.
 */
static const struct size {
	uint64_t when;
	uint32_t scope;
	unsigned char when_bytes;
} sizes_of[32] = {
#define SIZES(scope) \
	{ 0, scope, 0 }, { 0xff, scope, 1 }, { 0xffff, scope, 2 }, { 0xffffff, scope, 3 }, { 0xffffffff, scope, 4 }, \
	{ UINT64_C(0xffffffffff), scope, 5 }, { UINT64_C(0xffffffffffff), scope, 6 }, \
	{ UINT64_C(0xffffffffffffffff), scope, 8 }
	SIZES(0), SIZES(0xff), SIZES(0xffff), SIZES(0xffffffff),
#undef SIZES
};

static inline void unpack_hit(struct state *state, unsigned sizes, const unsigned char *from, struct tlg_hit *hit)
{
	const struct size *size = &sizes_of[sizes];
	uint64_t when = state->when + unfold(load(from) & size->when);
	uint32_t scope = (uint32_t)load(from + size->when_bytes) & size->scope;

	hit->when = size->when ? when : 0;
	hit->scopeIndex = size->scope ? scope : state->scope;
	hit->tid = state->key->tid;
	follow_hit(state, hit->when, hit->scopeIndex);
}

static inline void unpack_value(unsigned sizes, const unsigned char *from, struct tlg_value *value)
{
	value->argtype = (sizes >> 3) + 1;
	value->reserved = 0;
	value->value = (int64_t)turn_value_back(load(from) & sizes_of[sizes & 7].when, value->argtype);
}

static inline void unpack_info(unsigned bytes, const unsigned char *from, unsigned char *text)
{
	/* A mask of 16 bytes that begins n bytes before the middle keeps the first n bytes. */
	static const unsigned char window[2 * TLG_TEXT_SIZE] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	};
	const unsigned char *mask = window + TLG_TEXT_SIZE - bytes;

	store(text, load(from) & load(mask));
	store(text + 8, load(from + 8) & load(mask + 8));
}

/* Unpack an OTHER.  Its payload is bytes in the writer's order; head and state are in this machine's order. */
static __attribute__((noinline)) const unsigned char *
unpack_other(struct state *state, unsigned tag, const unsigned char *from, int is_swapped, struct tlg_event *to)
{
	unsigned mask = (unsigned)load_low(from + 2, 2), type;

	if (tag & ~(unsigned)OTHER_TAGS)
		return NULL;
	to->flags = (uint16_t)load_low(from, 2);
	type = tlg_event_type(to);
	to->sequence = expected_sequence(state, type);
	to->pid = (uint16_t)state->key->pid;
	from += 4;
	if (tag & OTHER_SEQUENCE) {
		to->sequence = (uint32_t)load_low(from, 4);
		from += 4;
	}
	if (tag & OTHER_PID) {
		to->pid = (uint16_t)load_low(from, 2);
		from += 2;
	}
	for (unsigned i = 0; i < TLG_PAYLOAD_SIZE; i++)
		to->u.payload[i] = mask >> i & 1 ? *from++ : 0;
	if (type == TLG_HIT || type == TLG_MORE)
		follow_hit(state, is_swapped ? __builtin_bswap64(to->u.hit.when) : to->u.hit.when,
			   is_swapped ? __builtin_bswap32(to->u.hit.scopeIndex) : to->u.hit.scopeIndex);
	return from;
}

/* Swap the bytes of the head, and of a payload that was packed as numbers. */
static void swap(struct tlg_event *event, unsigned kind)
{
	event->flags = __builtin_bswap16(event->flags);
	event->pid = __builtin_bswap16(event->pid);
	event->sequence = __builtin_bswap32(event->sequence);
	if (kind <= HIT_RENDERED) {
		event->u.hit.when = __builtin_bswap64(event->u.hit.when);
		event->u.hit.scopeIndex = __builtin_bswap32(event->u.hit.scopeIndex);
		event->u.hit.tid = __builtin_bswap32(event->u.hit.tid);
	} else if (kind == VALUE || kind == VALUE_END) {
		event->u.value.value = (int64_t)__builtin_bswap64((uint64_t)event->u.value.value);
		event->u.value.argtype = __builtin_bswap32(event->u.value.argtype);
	}
}

static inline __attribute__((always_inline)) const unsigned char *
unpack_event(struct state *state, const unsigned char *from, int is_swapped, struct tlg_event *to)
{
	unsigned tag = *from, kind = tag & 7;
	const unsigned char *next = from + step_of[tag];
	uint64_t word;

	from++;
	if (kind == OTHER) {
		/* A copy whose address nobody has: the compiler can keep it in registers. */
		struct state copy = *state;
		next = unpack_other(&copy, tag, from, is_swapped, to);
		*state = copy;
		follow_head(state, to->flags, to->sequence);
	} else {
		word = tlg_head(flags_of[kind], 0, 0) | (kind <= HIT_RENDERED ? state->next : state->argument);
		memcpy(to, &word, sizeof(word));
		follow_tag(state, kind);
		if (kind <= HIT_RENDERED)
			unpack_hit(state, tag >> 3, from, &to->u.hit);
		else if (kind <= VALUE_END)
			unpack_value(tag >> 3, from, &to->u.value);
		else if (next >= from)
			unpack_info(tag >> 3, from, to->u.payload);
		else
			return NULL;
	}
	if (is_swapped)
		swap(to, kind);
	return next;
}

static int is_padding(const unsigned char *from, size_t bytes)
{
	for (size_t i = 0; i < bytes && i < TLG_EVENT_SIZE; i++)
		if (from[i])
			return 0;
	return bytes < TLG_EVENT_SIZE;
}

/* Unpack all; is_swapped is constant.  The last bytes are unpacked from a copy, because loads read beyond an event */
static inline __attribute__((always_inline)) int
unpack(const struct tlg_pack_key *key, const unsigned char *at, size_t bytes, int is_swapped, struct tlg_event *to,
       unsigned count)
{
	struct state state = begin(key);
	const unsigned char *end = at + bytes, *near_end = bytes < LONGEST ? at : end - LONGEST + 1;
	const struct tlg_event *all = to + count;
	unsigned char last[2 * LONGEST] = { 0 };

	for (; to < all && at < near_end; to++) {
		at = unpack_event(&state, at, is_swapped, to);
		if (!at)
			return 0;
	}
	if (to == all)
		return is_padding(at, (size_t)(end - at));
	memcpy(last, at, (size_t)(end - at));
	end = last + (end - at);
	for (at = last; to < all; to++) {
		at = unpack_event(&state, at, is_swapped, to);
		if (!at || at > end)
			return 0;
	}
	return is_padding(at, (size_t)(end - at));
}

int tlg_unpack(const struct tlg_pack_key *key, const void *from, size_t bytes, int is_swapped, struct tlg_event *to,
	       unsigned count)
{
	const struct tlg_pack_key own = *key;

	return is_swapped ? unpack(&own, from, bytes, 1, to, count) : unpack(&own, from, bytes, 0, to, count);
}
