/* SPDX-License-Identifier: MIT */
/* t2x_totals_values.c - see t2x_totals_values.h. */
#include "t2x_totals_values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "t2x_totals_regions.h"
#include "t2x_totals_rows.h"

static const char data_prefix[] = "data:";

static const char *find_data(const char *by)
{
	return strncmp(by, data_prefix, sizeof(data_prefix) - 1) ? NULL : by + sizeof(data_prefix) - 1;
}

int t2x_totals_are_values(const char *by)
{
	return by && (!strcmp(by, "message") || find_data(by));
}

void t2x_totals_keep_values(struct t2x_totals *totals, const char *by)
{
	const char *data = by ? find_data(by) : NULL, *slash = data ? strchr(data, '/') : NULL;

	if (slash) {
		totals->value = T2X_VALUE_DATA;
		totals->value_category = data;
		totals->value_category_length = (size_t)(slash - data);
		totals->value_key = slash + 1;
	} else if (t2x_totals_are_values(by)) {
		totals->value = T2X_VALUE_MESSAGE;
	}
}

/* Copy the beginning of a text, whole characters of it. */
static void copy(char value[T2X_VALUE_MAX + 1], const char *text, size_t length)
{
	size_t n = length;

	if (n > T2X_VALUE_MAX)
		for (n = T2X_VALUE_MAX; n && ((unsigned char)text[n] & 0xc0) == 0x80;)
			n--;
	if (n)
		memcpy(value, text, n);
	value[n] = '\0';
}

static struct t2x_row *find_row(struct t2x_totals *totals, const char *category, const char *label, const char *value)
{
	struct t2x_row *row = t2x_totals_row(totals, &(struct t2x_row_key){
		.kind = T2X_ROW_REGION, .thread = "", .category = category, .label = label, .value = value,
	});

	totals->others += !row;
	return row;
}

struct t2x_row *t2x_totals_value_enter(struct t2x_totals *totals, const struct t2x_event *ev)
{
	char value[T2X_VALUE_MAX + 1] = "";

	if (totals->value == T2X_VALUE_MESSAGE && ev->message)
		copy(value, ev->message, ev->message_length);
	return find_row(totals, t2x_totals_text(ev->scope->category), t2x_totals_text(ev->scope->label), value);
}

struct t2x_row *t2x_totals_value_leave(struct t2x_totals *totals, const struct t2x_event *ev)
{
	const char *category = t2x_totals_text(ev->scope->category), *label = t2x_totals_text(ev->scope->label);
	const struct t2x_span *span = ev->spans ? ev->spans->at : NULL;
	struct t2x_row *own = span && span->is_seen ? span->own : NULL;

	if (own && !strcmp(own->category, category) && !strcmp(own->label, label))
		return own;
	if (span && span->is_seen && !span->is_thread && !own) {
		totals->others++;             /* there was no room for it */
		return NULL;
	}
	return find_row(totals, category, label, "");
}

static int is_asked_for(const struct t2x_totals *totals, const struct t2x_scope *scope)
{
	const char *category = t2x_totals_text(scope->category);

	return !strcmp(totals->value_key, t2x_totals_text(scope->label)) &&
	       strlen(category) == totals->value_category_length &&
	       !memcmp(category, totals->value_category, totals->value_category_length);
}

void t2x_totals_value_data(struct t2x_totals *totals, const struct t2x_event *ev)
{
	struct t2x_span *span = ev->spans ? ev->spans->at : NULL;
	struct t2x_row *row, *old = span && span->is_seen && !span->is_thread ? span->own : NULL;
	const struct t2x_arg *arg = &ev->args[0];
	char value[T2X_VALUE_MAX + 1] = "";

	if (totals->value != T2X_VALUE_DATA || !old || !is_asked_for(totals, ev->scope))
		return;
	if (ev->style != TLG_STYLE_data_intmax)
		copy(value, arg->text, arg->text ? arg->length : 0);
	else if (arg->type == TLG_ARG_UINT)
		snprintf(value, sizeof(value), "%" PRIu64, (uint64_t)arg->value);
	else
		snprintf(value, sizeof(value), "%" PRId64, arg->value);
	row = find_row(totals, old->category, old->label, value);
	if (!row)
		return;
	t2x_totals_unnest(ev->spans, span);
	old->moved++;
	row->entered++;
	span->own = row;
	if (span > ev->spans->spans)
		span->node = span[-1].node | row->bit;
}
