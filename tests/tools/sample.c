/* SPDX-License-Identifier: MIT */
/* sample.c - see sample.h. */
#include "sample.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 4, STREAM = 0x5eed1234, PID = 4711, FIRST_US = 1000, TEXT_BYTES = 128 };

static const char sid[] = "20261121T000000.000000Z-Hsample-P00001267";
static const char *const names[SAMPLE_THREADS] = { "main", "th01:one", "th02:two", "th03:three" };
static const char *const files[2] = { "src/a.c", "src/a/longer/name/of/a/file.c" };

static void must(int good)
{
	if (!good)
		abort();
}

/* ---- what the scopes are ------------------------------------------------------------------------ */

enum kind { KIND_ENTER, KIND_LEAVE, KIND_DATA };

static enum kind kind_of(unsigned scope)
{
	return scope <= 2 ? KIND_ENTER : scope <= 4 ? KIND_LEAVE : KIND_DATA;
}

static unsigned style_of(unsigned scope)
{
	static const uint8_t styles[] = { TLG_STYLE_region_enter, TLG_STYLE_region_leave, TLG_STYLE_data };

	return styles[kind_of(scope)];
}

static void put_category(char *to, unsigned scope)
{
	snprintf(to, TEXT_BYTES, "category-%u", scope / 3);
}

static void put_label(char *to, unsigned scope)
{
	snprintf(to, TEXT_BYTES, "label of scope %u", scope);
}

/* The value of a data event, of different lengths; a region's message. */
static void put_text(char *to, unsigned scope, unsigned hit)
{
	int more = kind_of(scope) == KIND_DATA ? (int)(hit % 37) : 0;

	snprintf(to, TEXT_BYTES, "checkpoint %u%.*s", hit, more, " and more of it, which makes it longer");
}

/* ---- making ------------------------------------------------------------------------------------- */

/* The state of making the stream. */
struct maker {
	struct sample *sample;
	size_t plain;                           /* bytes, if all blocks were plain */
	unsigned max_hits, max_blocks;
	unsigned depth[SAMPLE_THREADS];
	uint64_t enter_us[SAMPLE_THREADS][MAX_DEPTH];
	uint32_t enter_scope[SAMPLE_THREADS][MAX_DEPTH];
	unsigned turn[SAMPLE_THREADS];          /* decides the next scope */
	int has_file[2], has_thread[SAMPLE_THREADS], has_scope[SAMPLE_SCOPES + 1];
};

static uint32_t next_number(const struct tlgmake *make)
{
	return make->next[make->tid] + 1;
}

static void end_block(struct maker *maker, size_t from, unsigned hits, unsigned events)
{
	struct sample *sample = maker->sample;

	if (sample->nblocks == maker->max_blocks) {
		maker->max_blocks = 2 * maker->max_blocks + 64;
		sample->blocks = realloc(sample->blocks, maker->max_blocks * sizeof(*sample->blocks));
		must(sample->blocks != NULL);
	}
	sample->blocks[sample->nblocks++] = (struct sample_block){
		from, sample->make.n - from, sample->make.tid, sample->make.cycle, hits, events
	};
}

static void post_scope(struct maker *maker, unsigned scope)
{
	struct tlgmake *make = &maker->sample->make;
	unsigned file = scope % 2;
	char text[3 * TEXT_BYTES];
	size_t n;

	if (!maker->has_file[file]++)
		tlgmake_file(make, (uint16_t)(1 + file), files[file]);
	if (maker->has_scope[scope]++)
		return;
	tlgmake_add(make, TLG_SLOC | TLG_HAS_INFO, next_number(make))->u.sourceloc = (struct tlg_sourceloc){
		.scopeIndex = scope, .linenum = (int32_t)(100 * scope), .filenum = (uint16_t)(1 + file),
		.writeCount = (uint16_t)make->cycle, .style = (uint8_t)style_of(scope),
		.names = TLG_NAME_CATEGORY | TLG_NAME_LABEL | (kind_of(scope) == KIND_DATA ? 0 : TLG_NAME_FORMAT),
	};
	put_category(text, scope);
	n = strlen(text) + 1;
	put_label(text + n, scope);
	n += strlen(text + n) + 1;
	if (kind_of(scope) != KIND_DATA) {
		strcpy(text + n, "checkpoint %d");
		n += strlen(text + n) + 1;
	}
	tlgmake_text(make, next_number(make), text, n);
}

static void post_thread(struct maker *maker, unsigned tid)
{
	struct tlgmake *make = &maker->sample->make;

	if (maker->has_thread[tid]++)
		return;
	tlgmake_thread(make, names[tid], tid * 1000);
	for (unsigned i = 0; i < maker->depth[tid]; i++)
		tlgmake_open_region(make, maker->enter_us[tid][i] * 1000, maker->enter_scope[tid][i]);
}

/* Regions open and close, with data in between. */
static unsigned pick_scope(const struct maker *maker, unsigned tid)
{
	unsigned turn = maker->turn[tid], depth = maker->depth[tid];

	if (turn % 5 == 0 && depth < MAX_DEPTH)
		return 1 + turn % 2;
	if (turn % 5 == 3 && depth && turn % 3)
		return 3 + turn % 2;
	return 5 + (turn * 7 + tid) % (SAMPLE_SCOPES - 4);
}

/* Note what the checkpoint must show, and follow the regions that it enters or leaves. */
static void note_hit(struct maker *maker, unsigned n, unsigned tid, unsigned scope)
{
	struct sample_hit *hit = &maker->sample->hits[n];
	uint64_t us = FIRST_US + n, start_us = maker->depth[tid] ? maker->enter_us[tid][maker->depth[tid] - 1] : tid;

	*hit = (struct sample_hit){
		.block = maker->sample->nblocks, .cycle = maker->sample->make.cycle, .tid = (uint8_t)tid,
		.scope = (uint8_t)scope,
	};
	if (kind_of(scope) != KIND_ENTER)
		hit->rel_us = (uint32_t)(us - start_us);
	if (kind_of(scope) == KIND_LEAVE)
		maker->depth[tid]--;
	hit->open = (uint16_t)(1 + maker->depth[tid]);
	if (kind_of(scope) == KIND_ENTER) {
		maker->enter_scope[tid][maker->depth[tid]] = scope;
		maker->enter_us[tid][maker->depth[tid]++] = us;
	}
	maker->turn[tid]++;
}

static void hit_text(struct sample *sample, unsigned n, const char *text)
{
	sample->hits[n].text = strdup(text);
	must(sample->hits[n].text != NULL);
}

/* One block of a thread: every SAMPLE_THREADS-th checkpoint from first on. */
static void make_block(struct maker *maker, unsigned tid, unsigned first, unsigned hits)
{
	struct tlgmake *make = &maker->sample->make;
	uint32_t number = make->next[tid];
	size_t from = make->n;
	char value[TEXT_BYTES];

	tlgmake_begin(make, tid);
	for (unsigned i = 0; i < hits; i++) {
		unsigned n = first + i * SAMPLE_THREADS, scope = pick_scope(maker, tid);

		post_thread(maker, tid);
		post_scope(maker, scope);
		note_hit(maker, n, tid, scope);
		put_text(value, scope, n);
		hit_text(maker->sample, n, value);
		if (kind_of(scope) == KIND_DATA)
			tlgmake_hit_with(make, (FIRST_US + n) * UINT64_C(1000), scope, "S", value);
		else
			tlgmake_hit_with(make, (FIRST_US + n) * UINT64_C(1000), scope, "i", (int64_t)n);
	}
	maker->plain += (make->count + 1u) * sizeof(struct tlg_event);
	tlgmake_seal(make);
	end_block(maker, from, hits, make->next[tid] - number);
}

static void make_cycle(struct maker *maker)
{
	struct sample *sample = maker->sample;
	size_t from = sample->make.n;

	memset(maker->has_file, 0, sizeof(maker->has_file));
	memset(maker->has_thread, 0, sizeof(maker->has_thread));
	memset(maker->has_scope, 0, sizeof(maker->has_scope));
	tlgmake_cycle(&sample->make);
	end_block(maker, from, 0, 0);
}

/* Make a block of each thread, for the same range of time, and the mark behind them. */
static void make_round(struct maker *maker, unsigned round)
{
	struct sample *sample = maker->sample;
	unsigned hits = 5 + round * 5 % 11, first = sample->nhits;
	size_t from;

	if (first + hits * SAMPLE_THREADS > maker->max_hits) {
		maker->max_hits = 2 * maker->max_hits + 1024;
		sample->hits = realloc(sample->hits, maker->max_hits * sizeof(*sample->hits));
		must(sample->hits != NULL);
	}
	sample->nhits += hits * SAMPLE_THREADS;
	for (unsigned i = 0; i < SAMPLE_THREADS; i++) {
		unsigned tid = (i + round) % SAMPLE_THREADS;
		make_block(maker, tid, first + tid, hits);
	}
	from = sample->make.n;
	tlgmake_mark(&sample->make, (FIRST_US + sample->nhits - 1) * UINT64_C(1000));
	end_block(maker, from, 0, 0);
}

void sample_make(struct sample *sample, size_t bytes, unsigned cycles, int is_packed)
{
	struct maker maker = { .sample = sample };
	unsigned round = 0;

#ifdef __GLIBC__
	/* Each run allocates windows anew: keep their memory in the heap. */
	mallopt(M_MMAP_THRESHOLD, 64 << 20);
	mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
	memset(sample, 0, sizeof(*sample));
	tlgmake_init(&sample->make, STREAM, PID);
	sample->make.sid = sid;
	sample->make.is_packed = is_packed;
	sample->cycles = cycles;
	for (unsigned cycle = 1; cycle <= cycles; cycle++) {
		make_cycle(&maker);
		while (maker.plain < bytes / cycles * cycle)
			make_round(&maker, round++);
	}
	tlgmake_end(&sample->make);
	end_block(&maker, sample->blocks[sample->nblocks - 1].at + sample->blocks[sample->nblocks - 1].n, 0, 0);
}

void sample_free(struct sample *sample)
{
	for (unsigned i = 0; i < sample->nhits; i++)
		free(sample->hits[i].text);
	tlgmake_free(&sample->make);
	free(sample->hits);
	free(sample->blocks);
	memset(sample, 0, sizeof(*sample));
}

unsigned sample_block_at(const struct sample *sample, size_t at)
{
	unsigned low = 0, high = sample->nblocks - 1;

	while (low < high) {
		unsigned middle = (low + high + 1) / 2;

		if (sample->blocks[middle].at <= at)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* ---- judging ------------------------------------------------------------------------------------ */

/* The state of the judge: static, because a writer has no argument for it. */
static struct {
	const struct sample *sample;
	struct sample_result *result;
	int64_t last[SAMPLE_THREADS];           /* checkpoint of each thread */
	char category[SAMPLE_SCOPES + 1][TEXT_BYTES], label[SAMPLE_SCOPES + 1][TEXT_BYTES];
} g_judge;

static int is_text(const char *have, size_t n, const char *want)
{
	return have && strlen(want) == n && !memcmp(have, want, n);
}

static int is_string(const char *have, const char *want)
{
	return have && !strcmp(have, want);
}

/* Return  1: thread and process are right, or not known */
static int is_right_origin(const struct t2x_event *ev, const struct sample_hit *hit)
{
	const struct t2x_thread *thread = ev->thread;
	const struct t2x_process *process = thread->process;

	return thread->tid == hit->tid && (is_string(thread->name, names[hit->tid]) || is_string(thread->name, "?")) &&
	       process->pid == PID && (is_string(process->sid, sid) || is_string(process->sid, ""));
}

static uint32_t index_of(const struct t2x_event *ev)
{
	return ev->scope ? ev->scope->index : ev->scope_index;
}

static int is_right_scope(const struct t2x_event *ev, const struct sample_hit *hit)
{
	const struct t2x_scope *scope = ev->scope;

	return is_string(scope->category, g_judge.category[hit->scope]) &&
	       is_string(scope->label, g_judge.label[hit->scope]) &&
	       is_string(scope->file, files[hit->scope % 2]) && scope->line == 100 * hit->scope &&
	       scope->style == style_of(hit->scope) && ev->style == style_of(hit->scope);
}

static int is_right_text(const struct t2x_event *ev, const struct sample_hit *hit)
{
	if (kind_of(hit->scope) == KIND_DATA)
		return ev->nargs == 1 && is_text(ev->args[0].text, ev->args[0].length, hit->text);
	return ev->nargs == 0 && is_text(ev->message, ev->message_length, hit->text);
}

static enum sample_state state_of(const struct t2x_event *ev, const struct sample_hit *hit)
{
	if (!ev->scope)
		return SAMPLE_UNRESOLVED;
	return ev->open == hit->open &&
	       (kind_of(hit->scope) == KIND_ENTER || ev->rel_ns == hit->rel_us * UINT64_C(1000)) &&
	       t2x_event_abs_ns(ev) == ev->ns - (uint64_t)TLGMAKE_SECOND * 1000000000 && ev->thread->name[0] != '?' &&
	       ev->thread->process->sid[0] ? SAMPLE_RIGHT : SAMPLE_OFF;
}

/* Return  1: the times that the event shows are right, whatever is missing around it */
static int is_right_time(const struct t2x_event *ev, const struct sample_hit *hit)
{
	enum kind kind = kind_of(hit->scope);

	return (kind != KIND_LEAVE && kind != KIND_DATA) || ev->rel_ns == hit->rel_us * UINT64_C(1000) ||
	       ev->rel_ns == T2X_NO_TIME;
}

/* Return  1: each region that is shown as open was entered at this time and depth */
static int is_right_open(const struct t2x_event *ev, const struct sample_hit *hit)
{
	return hit && is_right_origin(ev, hit) && index_of(ev) == hit->scope && is_right_scope(ev, hit) &&
	       kind_of(hit->scope) == KIND_ENTER && ev->open == hit->open && !ev->message;
}

static void judge(struct t2x_printer *printer, const struct t2x_event *ev)
{
	const struct sample *sample = g_judge.sample;
	uint64_t n = ev->ns / 1000 - (uint64_t)TLGMAKE_SECOND * 1000000 - FIRST_US;
	const struct sample_hit *hit = n < sample->nhits ? &sample->hits[n] : NULL;
	int is_good = hit && is_right_origin(ev, hit) && index_of(ev) == hit->scope &&
		      (!ev->scope || (is_right_scope(ev, hit) && is_right_text(ev, hit) && is_right_time(ev, hit)));

	(void)printer;
	if (ev->lost)
		return;
	if (ev->is_repeated) {
		g_judge.result->wrong += !is_right_open(ev, hit);
		return;
	}
	if (!is_good || g_judge.last[hit->tid] >= (int64_t)n) {
		g_judge.result->wrong++;
		return;
	}
	g_judge.last[hit->tid] = (int64_t)n;
	g_judge.result->state[n] = (unsigned char)state_of(ev, hit);
}

static const struct t2x_writer writer = {
	.unresolved = judge,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = judge,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};

void sample_judge(const struct sample *sample, struct sample_result *result, const void *bytes, size_t n)
{
	static struct t2x_out out;
	unsigned char *state = result->state ? result->state : malloc(sample->nhits + 1);

	must(state && (out.buf || !t2x_out_init(&out, -1)));
	*result = (struct sample_result){ .state = memset(state, SAMPLE_MISSING, sample->nhits) };
	g_judge.sample = sample;
	g_judge.result = result;
	for (unsigned i = 0; i < SAMPLE_THREADS; i++)
		g_judge.last[i] = -1;
	for (unsigned i = 1; i <= SAMPLE_SCOPES && !g_judge.label[i][0]; i++) {
		put_category(g_judge.category[i], i);
		put_label(g_judge.label[i], i);
	}
	result->is = expanding_run(bytes, n, NULL, &writer, &out);
	for (unsigned i = 0; i < sample->nhits; i++)
		result->count[result->state[i]]++;
}

void sample_result_free(struct sample_result *result)
{
	free(result->state);
	result->state = NULL;
}
