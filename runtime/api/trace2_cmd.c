/* SPDX-License-Identifier: MIT */
/* trace2_cmd.c - the public calls for commands, parameters and repositories. */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/tr2_atomic.h"
#include "record/tr2_emit.h"
#include "record/tr2_flight.h"
#include "record/tr2_message.h"
#include "ring/tr2_thread.h"
#include "settings/tr2_config.h"
#include "settings/tr2_config_parse.h"
#include "settings/tr2_env.h"
#include "settings/tr2_sid.h"

#include "trace2.h"

/* An event with a list of texts. */
static void emit_list(int style, const char *file, int line, const char *const *list, int redact)
{
	struct tr2_scope_key key = tr2_scope_key_at(style, file, line);
	struct tr2_args args;

	tr2_args_init(&args);
	tr2_args_list(&args, list, redact);
	tr2_emit(&key, &args, 0, 0);
}

void trace2_cmd_start_fl(const char *file, int line, const char *const *argv)
{
	if (tr2_is_enabled())
		emit_list(TLG_STYLE_start, file, line, argv, 1);
}

void trace2_cmd_error_va_fl(const char *file, int line, const char *fmt, va_list ap)
{
	struct tr2_scope_key key = tr2_scope_key_at(TLG_STYLE_error, file, line);

	key.format = fmt;
	if (!tr2_is_enabled())
		return;
	tr2_emit_message_va(&key, ap);
	tr2_flight_error();
}

void trace2_cmd_path_fl(const char *file, int line, const char *pathname)
{
	if (tr2_is_enabled())
		tr2_emit_one_text(TLG_STYLE_cmd_path, file, line, pathname);
}

void trace2_cmd_ancestry_fl(const char *file, int line, const char *const *names)
{
	if (tr2_is_enabled())
		emit_list(TLG_STYLE_cmd_ancestry, file, line, names, 0);
}

void trace2_cmd_name_fl(const char *file, int line, const char *name)
{
	struct tr2_scope_key key = tr2_scope_key_at(TLG_STYLE_cmd_name, file, line);
	const char *hierarchy;
	struct tr2_args args;

	if (!tr2_is_enabled())
		return;
	hierarchy = tr2_sid_add_name(name);
	tr2_args_init(&args);
	tr2_args_text(&args, *hierarchy ? hierarchy : NULL);
	tr2_args_last(&args, name);
	tr2_emit(&key, &args, 0, 0);
	/* where git's own calls of these two stand, so that the texts are git's */
	trace2_cmd_list_config_fl("trace2.c", 439);
	trace2_cmd_list_env_vars_fl("trace2.c", 440);
}

void trace2_cmd_mode_fl(const char *file, int line, const char *mode)
{
	if (tr2_is_enabled())
		tr2_emit_one_text(TLG_STYLE_cmd_mode, file, line, mode);
}

void trace2_cmd_alias_fl(const char *file, int line, const char *alias, const char *const *argv)
{
	struct tr2_scope_key key = tr2_scope_key_at(TLG_STYLE_alias, file, line);
	struct tr2_args args;

	tr2_args_init(&args);
	if (!tr2_is_enabled())
		return;
	tr2_args_text(&args, alias);
	tr2_args_list(&args, argv, 0);
	tr2_emit(&key, &args, 0, 0);
}

/* ---- parameters --------------------------------------------------------------------------------- */

static void emit_param(const char *file, int line, const char *param, const char *value, int scope)
{
	struct tr2_scope_key key = tr2_scope_key_at(TLG_STYLE_def_param, file, line);
	struct tr2_args args;

	tr2_args_init(&args);
	tr2_args_int(&args, scope);
	tr2_args_text(&args, param);
	tr2_args_redacted(&args, value);
	tr2_emit(&key, &args, 0, 0);
}

void trace2_def_param_fl(const char *file, int line, const char *param, const char *value,
			 const struct trace2_key_value_info *kvi)
{
	if (tr2_is_enabled())
		emit_param(file, line, param, value, kvi ? (int)kvi->scope : TRACE2_SCOPE_UNKNOWN);
}

/*
 * The next item of a comma-separated list, trimmed, into item; the rest of the list, NULL at its end.
 * Items that are too long for item come out empty.
 */
static const char *next_item(const char *list, char *item, size_t size)
{
	size_t length = strcspn(list, ",");
	const char *rest = list[length] ? list + length + 1 : NULL;

	while (length && isspace((unsigned char)*list)) {
		list++;
		length--;
	}
	while (length && isspace((unsigned char)list[length - 1]))
		length--;
	if (length >= size)
		length = 0;
	memcpy(item, list, length);
	item[length] = '\0';
	return rest;
}

void trace2_cmd_list_env_vars_fl(const char *file, int line)
{
	static int done;
	const char *list = tr2_is_enabled() && !done ? tr2_env_get("ENV_VARS") : NULL;
	char name[256];

	done |= tr2_is_enabled();
	while (list) {
		const char *value;
		list = next_item(list, name, sizeof(name));
		value = *name ? getenv(name) : NULL;
		if (value && *value)
			emit_param(file, line, name, value, TRACE2_SCOPE_COMMAND);
	}
}

/* Does a pattern of CONFIG_PARAMS match this key? */
static int is_wanted(const char *key)
{
	const char *list = tr2_g_settings.config_params;
	char pattern[256];

	while (list) {
		list = next_item(list, pattern, sizeof(pattern));
		if (*pattern && tr2_wildmatch(pattern, key))
			return 1;
	}
	return 0;
}

static trace2_config_lister g_lister;

void trace2_set_config_lister(trace2_config_lister list)
{
	g_lister = list;
}

void trace2_cmd_list_config_fl(const char *file, int line)
{
	trace2_config_lister list = g_lister;
	struct tr2_config_item item;
	size_t at = 0;

	if (!tr2_is_enabled())
		return;
	while (tr2_config_next(&at, &item))
		if (is_wanted(item.key))
			emit_param(file, line, item.key, item.value, (int)item.scope);
	tr2_config_forget();   /* so that they are listed once */
	g_lister = NULL;
	if (list && tr2_g_settings.config_params)
		list(file, line);
}

void trace2_cmd_config_param_fl(const char *file, int line, const char *key, const char *value,
				const struct trace2_key_value_info *kvi)
{
	if (tr2_is_enabled() && key && is_wanted(key))
		trace2_def_param_fl(file, line, key, value, kvi);
}

void trace2_cmd_set_config_fl(const char *file, int line, const char *key, const char *value)
{
	trace2_cmd_config_param_fl(file, line, key, value, NULL);
}

/* ---- repositories ------------------------------------------------------------------------------- */

void trace2_def_repo_fl(const char *file, int line, struct trace2_repository *repo)
{
	static int next_id;
	struct tr2_scope_key key = tr2_scope_key_at(TLG_STYLE_def_repo, file, line);
	struct tr2_args args;

	tr2_args_init(&args);
	if (!tr2_is_enabled() || !repo || repo->trace2_repo_id)
		return;
	repo->trace2_repo_id = tr2_add_rlx(&next_id, 1) + 1; /* relaxed: only the number matters */
	key.repo = repo->trace2_repo_id < TLG_REPO_NO_ID ? (uint16_t)repo->trace2_repo_id : TLG_REPO_NO_ID;
	tr2_args_last(&args, repo->worktree);
	tr2_emit(&key, &args, 0, 0);
}
