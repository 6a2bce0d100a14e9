/* SPDX-License-Identifier: MIT */
/* trace2_region.c - the public calls for regions, steps, data and messages. */
#include <stdarg.h>

#include "record/tr2_chain.h"
#include "record/tr2_emit.h"
#include "record/tr2_message.h"
#include "record/tr2_reserve.h"
#include "record/tr2_site.h"

#include "trace2.h"

/* 0 is no repository; one without an id, or with one that does not fit, is not nothing.  As the inline path has it. */
static uint16_t repo_id(const struct trace2_repository *repo)
{
	if (!repo)
		return 0;
	return repo->trace2_repo_id > 0 && repo->trace2_repo_id < TLG_REPO_NO_ID ? (uint16_t)repo->trace2_repo_id
										   : TLG_REPO_NO_ID;
}

static struct tr2_scope_key make_key(int style, const char *file, int line, const char *category, const char *label,
				     const struct trace2_repository *repo, const char *format)
{
	return (struct tr2_scope_key){
		.file = file, .category = category, .label = label, .format = format,
		.line = line, .repo = repo_id(repo), .style = (uint8_t)style,
	};
}

static struct tr2_scope_key key_of(const struct trace2_site *site, const struct trace2_repository *repo,
				   const char *format)
{
	return make_key(site->style, site->file, site->line, site->category, site->label, repo, format);
}

/* ---- call sites with literal names -------------------------------------------------------------- */

static __attribute__((noinline)) uint32_t learn_scope(struct trace2_site *site, const struct trace2_repository *repo)
{
	struct tr2_scope_key names = key_of(site, repo, NULL);
	uint32_t scope = tr2_self_or_new() ? tr2_scope_intern(&names) : 0;

	if (scope)
		tr2_store_rlx(&site->key, (uint64_t)names.repo << 32 | scope); /* relaxed: as below */
	return scope;
}

/* The site's scope for this repository; 0: the table is full. */
static inline uint32_t find_scope(struct trace2_site *site, const struct trace2_repository *repo)
{
	uint64_t key = tr2_load_rlx(&site->key); /* relaxed: the drain waits for the scope's own flag, [M4] */

	if (__builtin_expect((uint32_t)key && key >> 32 == repo_id(repo), 1))
		return (uint32_t)key;
	return learn_scope(site, repo);
}

/* The scope table has no room: as if the names were not literals.  has_value: else there is a text, or NULL. */
static __attribute__((noinline)) void emit_unregistered(struct trace2_site *site, const struct trace2_repository *repo,
							int has_value, intmax_t value, const char *text)
{
	struct tr2_scope_key key = key_of(site, repo, NULL);
	struct tr2_args args;

	tr2_args_init(&args);
	if (has_value)
		tr2_args_int(&args, value);
	tr2_args_last(&args, text);
	tr2_emit(&key, &args, 0, 0);
}

void tr2_hit_slow_v1(struct trace2_site *site, const struct trace2_repository *repo)
{
	uint32_t scope = find_scope(site, repo);

	if (scope)
		tr2_emit_hit(scope, site->style != TLG_STYLE_step);
	else
		emit_unregistered(site, repo, 0, 0, NULL);
}

void tr2_data_v1(struct trace2_site *site, const struct trace2_repository *repo, intmax_t value)
{
	uint32_t scope = find_scope(site, repo);

	if (__builtin_expect(scope != 0, 1))
		tr2_emit_int(scope, value);
	else
		emit_unregistered(site, repo, 1, value, NULL);
}

void tr2_text_v1(struct trace2_site *site, const struct trace2_repository *repo, const char *value)
{
	uint32_t scope = find_scope(site, repo);

	if (__builtin_expect(scope != 0, 1))
		tr2_emit_last(scope, value);
	else
		emit_unregistered(site, repo, 0, 0, value);
}

/* ---- call sites of messages --------------------------------------------------------------------- */

/* The site's format is parsed, its scope for this repository looked up.  Return  0: the table is full */
static __attribute__((noinline)) uint32_t learn_message(struct trace2_message_site *site,
							 const struct trace2_repository *repo)
{
	struct tr2_scope_key key = key_of(&site->at, repo, site->format);
	struct tr2_format format = tr2_format_parse(site->format ? site->format : "");
	uint32_t scope = tr2_self_or_new() ? tr2_scope_intern(&key) : 0;

	for (unsigned i = 0; i < sizeof(format.take); i++)
		tr2_store_rlx(&site->takes[i], format.take[i]); /* relaxed: published by the key */
	if (scope)
		tr2_store_rel(&site->at.key, (uint64_t)key.repo << 32 | scope); /* [M7] release: takes */
	return scope;
}

void tr2_message_v1(struct trace2_message_site *site, const struct trace2_repository *repo, const char *fmt, ...)
{
	uint64_t known = tr2_load_acq(&site->at.key); /* [M7] acquire: takes.  Pairs with learn_message() */
	uint32_t scope = (uint32_t)known;
	struct tr2_scope_key key;
	struct tr2_va va, again;
	struct tr2_room room;
	struct tr2_body body = tr2_body_in(&room);
	int is_taken;

	if (__builtin_expect(!scope || known >> 32 != repo_id(repo), 0))
		scope = learn_message(site, repo);
	va_start(va.ap, fmt);
	is_taken = tr2_capture(&body, site->takes, &va, &room);
	va_end(va.ap);
	if (__builtin_expect(scope && is_taken && tr2_chain_is_short(&body), 1)) {
		tr2_chain_record(scope, &body, 0, 0);
		return;
	}
	key = key_of(&site->at, repo, site->format);
	va_start(again.ap, fmt);   /* not va, which would then be in memory all the time */
	tr2_emit_message(&key, &again);
	va_end(again.ap);
}

/* ---- regions ------------------------------------------------------------------------------------ */

static inline void emit_region(int style, const char *file, int line, const char *category, const char *label,
			       const struct trace2_repository *repo)
{
	struct tr2_scope_key key = make_key(style, file, line, category, label, repo, NULL);
	struct tr2_site room;
	const struct tr2_site *site = tr2_site_of(&key, &room);

	if (__builtin_expect(site->scope != 0, 1))
		tr2_emit_hit(site->scope, style != TLG_STYLE_step);
	else
		tr2_emit_at(site, &key, NULL, 0, 0);
}

void trace2_region_enter_fl(const char *file, int line, const char *category, const char *label,
			    const struct trace2_repository *repo, ...)
{
	if (tr2_is_enabled())
		emit_region(TLG_STYLE_region_enter, file, line, category, label, repo);
}

void trace2_region_leave_fl(const char *file, int line, const char *category, const char *label,
			    const struct trace2_repository *repo, ...)
{
	if (tr2_is_enabled())
		emit_region(TLG_STYLE_region_leave, file, line, category, label, repo);
}

void trace2_region_enter_printf_va_fl(const char *file, int line, const char *category, const char *label,
				      const struct trace2_repository *repo, const char *fmt, va_list ap)
{
	struct tr2_scope_key key = make_key(TLG_STYLE_region_enter, file, line, category, label, repo, fmt);

	if (tr2_is_enabled())
		tr2_emit_message_va(&key, ap);
}

void trace2_region_leave_printf_va_fl(const char *file, int line, const char *category, const char *label,
				      const struct trace2_repository *repo, const char *fmt, va_list ap)
{
	struct tr2_scope_key key = make_key(TLG_STYLE_region_leave, file, line, category, label, repo, fmt);

	if (tr2_is_enabled())
		tr2_emit_message_va(&key, ap);
}

void trace2_region_enter_printf_fl(const char *file, int line, const char *category, const char *label,
				   const struct trace2_repository *repo, const char *fmt, ...)
{
	struct tr2_scope_key key = make_key(TLG_STYLE_region_enter, file, line, category, label, repo, fmt);
	struct tr2_va va;

	if (!tr2_is_enabled())
		return;
	va_start(va.ap, fmt);
	tr2_emit_message(&key, &va);
	va_end(va.ap);
}

void trace2_region_leave_printf_fl(const char *file, int line, const char *category, const char *label,
				   const struct trace2_repository *repo, const char *fmt, ...)
{
	struct tr2_scope_key key = make_key(TLG_STYLE_region_leave, file, line, category, label, repo, fmt);
	struct tr2_va va;

	if (!tr2_is_enabled())
		return;
	va_start(va.ap, fmt);
	tr2_emit_message(&key, &va);
	va_end(va.ap);
}

/*
 * The mark is the clock's next reading: what was entered before has an earlier one, what is entered later has not an
 * earlier one.  A clock that stands still does not keep anybody here.
 */
uint64_t trace2_region_depth(void)
{
	enum { MAX_READINGS = 1000 };
	uint64_t before, now;

	if (!tr2_is_enabled())
		return 0;
	before = now = tr2_chain_clock();
	for (unsigned i = 0; i < MAX_READINGS && now == before; i++)
		now = tr2_chain_clock();
	return now;
}

void trace2_region_unwind_fl(const char *file, int line, uint64_t depth)
{
	if (tr2_is_enabled())
		tr2_emit_one_int(TLG_STYLE_region_unwind, file, line, (int64_t)depth, 0);
}

void trace2_step_fl(const char *file, int line, const char *category, const char *label)
{
	if (tr2_is_enabled())
		emit_region(TLG_STYLE_step, file, line, category, label, NULL);
}

/* ---- data --------------------------------------------------------------------------------------- */

static void emit_data(int style, const char *file, int line, const char *category,
		      const struct trace2_repository *repo, const char *key, const char *text)
{
	struct tr2_scope_key names = make_key(style, file, line, category, key, repo, NULL);
	struct tr2_args args;

	tr2_args_init(&args);
	tr2_args_last(&args, text);
	tr2_emit(&names, &args, 0, 0);
}

void trace2_data_string_fl(const char *file, int line, const char *category, const struct trace2_repository *repo,
			   const char *key, const char *value)
{
	if (tr2_is_enabled())
		emit_data(TLG_STYLE_data, file, line, category, repo, key, value);
}

void trace2_data_json_fl(const char *file, int line, const char *category, const struct trace2_repository *repo,
			 const char *key, const char *json)
{
	if (tr2_is_enabled())
		emit_data(TLG_STYLE_data_json, file, line, category, repo, key, json);
}

void trace2_data_intmax_fl(const char *file, int line, const char *category, const struct trace2_repository *repo,
			   const char *key, intmax_t value)
{
	struct tr2_scope_key names = make_key(TLG_STYLE_data_intmax, file, line, category, key, repo, NULL);
	const struct tr2_site *site;
	struct tr2_site room;
	struct tr2_args args;

	if (!tr2_is_enabled())
		return;
	site = tr2_site_of(&names, &room);
	if (__builtin_expect(site->scope != 0, 1)) {
		tr2_emit_int(site->scope, value);
		return;
	}
	tr2_args_init(&args);
	tr2_args_int(&args, value);
	tr2_emit_at(site, &names, &args, 0, 0);
}

/* ---- messages ----------------------------------------------------------------------------------- */

void trace2_printf_va_fl(const char *file, int line, const char *fmt, va_list ap)
{
	struct tr2_scope_key key = make_key(TLG_STYLE_printf, file, line, NULL, NULL, NULL, fmt);

	if (tr2_is_enabled())
		tr2_emit_message_va(&key, ap);
}

void trace2_printf_fl(const char *file, int line, const char *fmt, ...)
{
	struct tr2_scope_key key = make_key(TLG_STYLE_printf, file, line, NULL, NULL, NULL, fmt);
	struct tr2_va va;

	if (!tr2_is_enabled())
		return;
	va_start(va.ap, fmt);
	tr2_emit_message(&key, &va);
	va_end(va.ap);
}
