/* SPDX-License-Identifier: MIT */
/*
 * fuzz_text - the input is a script.  The target makes an undamaged file, with texts, numbers and kinds of events from
 * the script.  The writers must print it well-formed.
 *
 * A step of the script is a byte, the kind of event, and then its place, names and arguments, each text as a length and
 * its bytes.  Behind its end a script has zeros.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "tlg_desc.h"
#include "tlgmake.h"

enum { MAX_STEPS = 64, MAX_TEXTS = 8192, BLOCK_FULL = 1024, MAX_LIST = 4 };

struct script {
	const uint8_t *at, *end;
};

/* The texts of a checkpoint, one behind the other. */
struct texts {
	char at[MAX_TEXTS];
	size_t n;
};

static unsigned next_byte(struct script *script)
{
	return script->at < script->end ? *script->at++ : 0;
}

static int64_t next_number(struct script *script)
{
	unsigned bytes = next_byte(script) % 9;
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | next_byte(script);
	return (int64_t)value;
}

/* Return  the length of the text that was appended */
static size_t next_text(struct script *script, struct texts *texts)
{
	size_t n = next_byte(script), left = (size_t)(script->end - script->at);

	if (n > left)
		n = left;
	if (n > MAX_TEXTS - texts->n)
		n = MAX_TEXTS - texts->n;
	memcpy(texts->at + texts->n, script->at, n);
	texts->n += n;
	script->at += n;
	return n;
}

static uint32_t number_of(const struct tlgmake *make)
{
	return make->next[make->tid] + 1;
}

static void add_scope(struct tlgmake *make, struct script *script, uint32_t index, unsigned style)
{
	unsigned names = next_byte(script) % 8;
	struct texts texts = { .n = 0 };

	tlgmake_add(make, TLG_SLOC | TLG_HAS_INFO, number_of(make))->u.sourceloc = (struct tlg_sourceloc){
		.scopeIndex = index, .linenum = (int32_t)next_number(script),
		.filenum = (uint16_t)(next_byte(script) % 2),
		.repo = (uint16_t)next_number(script), .style = (uint8_t)style, .names = (uint8_t)names,
	};
	for (unsigned i = 0; i < 3; i++) {
		if (!(names & 1U << i) || texts.n == MAX_TEXTS)
			continue;
		next_text(script, &texts);
		if (texts.n < MAX_TEXTS)
			texts.at[texts.n++] = '\0';
	}
	tlgmake_text(make, number_of(make), texts.at, texts.n);
}

static void add_value(struct tlgmake *make, unsigned type, int64_t value)
{
	tlgmake_add(make, TLG_VALUE, number_of(make))->u.value = (struct tlg_value){ value, type, 0 };
}

static void add_text(struct tlgmake *make, struct script *script, struct texts *texts)
{
	if (next_byte(script) % 16 == 1)
		add_value(make, TLG_ARG_NULL, 0);
	else
		add_value(make, TLG_ARG_TEXT, (int64_t)next_text(script, texts));
}

/* Arguments of a format, of any type. */
static void add_any(struct tlgmake *make, struct script *script, struct texts *texts)
{
	for (unsigned n = next_byte(script) % (MAX_LIST + 1); n; n--) {
		unsigned type = 1 + next_byte(script) % 7;

		if (type == TLG_ARG_TEXT)
			add_text(make, script, texts);
		else
			add_value(make, type, next_number(script));
	}
}

static void add_argument(struct tlgmake *make, struct script *script, struct texts *texts, char letter)
{
	switch (letter) {
	case 's':
		add_text(make, script, texts);
		break;
	case '*':
		for (unsigned n = next_byte(script) % (MAX_LIST + 1); n; n--)
			add_text(make, script, texts);
		break;
	case 'S':
		next_text(script, texts);
		break;
	case 'M':
		add_any(make, script, texts);
		next_text(script, texts);
		break;
	default:
		add_value(make, letter == 'u' ? TLG_ARG_UINT : TLG_ARG_INT, next_number(script));
		break;
	}
}

static void add_hit(struct tlgmake *make, struct script *script, uint32_t index, unsigned style, uint64_t ns)
{
	const struct tlg_style_desc *desc = tlg_style_by_id(style);
	unsigned at = make->count, how = next_byte(script);
	struct tlg_event *hit = tlgmake_add(make, TLG_HIT | (how % 2 ? TLG_RENDERED : 0), number_of(make));
	struct texts texts = { .n = 0 };

	hit->u.hit = (struct tlg_hit){ how % 16 == 2 ? 0 : TLGMAKE_RAW + ns, index, make->tid };
	for (const char *letter = desc ? desc->args : "M"; *letter; letter++)
		add_argument(make, script, &texts, *letter);
	if (how % 16 == 4)
		add_any(make, script, &texts);
	tlgmake_text(make, number_of(make), texts.at, texts.n);
	if (make->count > at + 1) {
		hit->flags |= TLG_HAS_INFO;
		make->block[make->count].flags |= TLG_INFO_END;
	}
	tlgmake_lose(make, make->tid, make->count - at);
}

static void begin_block(struct tlgmake *make, struct script *script, uint32_t tid)
{
	char name[25] = "";
	struct texts texts = { .n = 0 };
	size_t n = next_text(script, &texts);

	memcpy(name, texts.at, n < sizeof(name) - 1 ? n : sizeof(name) - 1);
	tlgmake_begin(make, tid);
	tlgmake_thread(make, name, 0);
	texts.n = 0;
	n = next_text(script, &texts);
	tlgmake_add(make, TLG_FLOC | TLG_HAS_INFO, number_of(make))->u.fileloc = (struct tlg_fileloc){ 1, 1, 0 };
	tlgmake_text(make, number_of(make), texts.at, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct script script = { bytes, bytes + n };
	struct tlgmake make;
	char sid[256] = "";

	fuzz_begin();
	tlgmake_init(&make, 7, 42);
	for (unsigned i = 0, length = next_byte(&script) % sizeof(sid); i < length; i++)
		sid[i] = (char)next_byte(&script);
	sid[sizeof(sid) - 1] = '\0';
	make.sid = sid;
	make.is_packed = (int)(next_byte(&script) % 2);
	tlgmake_cycle(&make);
	begin_block(&make, &script, 0);
	for (uint32_t step = 1; step <= MAX_STEPS && script.at < script.end; step++) {
		unsigned style = next_byte(&script) % (TLG_STYLE_COUNT + 1);

		add_scope(&make, &script, step, style);
		add_hit(&make, &script, step, style, step * UINT64_C(1000));
		if (make.count < BLOCK_FULL && style)
			continue;
		tlgmake_seal(&make);
		begin_block(&make, &script, step % 4);
	}
	tlgmake_seal(&make);
	tlgmake_end(&make);
	fuzz_expand(make.bytes, make.n, NULL);
	tlgmake_free(&make);
	return 0;
}
