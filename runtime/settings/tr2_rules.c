/* SPDX-License-Identifier: MIT */
/* tr2_rules.c - see tr2_rules.h. */
#include "tr2_rules.h"

#include <string.h>

#include "tr2_config_parse.h"
#include "base/tr2_text.h"

static const char no_memory[] = "the list has too many triggers";

void tr2_rules_begin(struct tr2_rules *rules)
{
	memset(rules, 0, sizeof(*rules));
	rules->max = TR2_RULES_MAX;
}

/* ---- words -------------------------------------------------------------------------------------- */

static int is_separator(char c)
{
	return c == ',' || c == ' ' || (c >= '\t' && c <= '\r');
}

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int tr2_rules_next_word(const char **list, char word[TR2_RULE_WORD])
{
	const char *at = *list;
	int is_window;
	size_t n = 0;

	while (is_separator(*at))
		at++;
	is_window = tr2_text_begins(at, "window:");
	for (; *at && !(is_separator(*at) && !(is_window && *at == ',' && is_digit(at[1]))); at++) {
		is_window &= *at != ',';   /* one comma is its own */
		if (n < TR2_RULE_WORD - 1)
			word[n++] = *at;
	}
	word[n] = '\0';
	*list = at;
	return n != 0;
}

/* ---- numbers ------------------------------------------------------------------------------------ */

/* A decimal number, with up to three digits behind a point.  Return  behind it; NULL: there is none, or it is huge */
static const char *read_thousandths(const char *at, int64_t *thousandths)
{
	int64_t number = 0, unit = 1000;

	if (!is_digit(*at))
		return NULL;
	for (; is_digit(*at); at++)
		if (__builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, *at - '0', &number))
			return NULL;
	if (__builtin_mul_overflow(number, unit, &number))
		return NULL;
	if (*at == '.' && is_digit(at[1]))
		for (at++; is_digit(*at); at++) {
			unit /= 10;
			if (__builtin_add_overflow(number, (*at - '0') * unit, &number))
				return NULL;
		}
	*thousandths = number;
	return at;
}

struct unit { char name[4]; int64_t factor; };

/* A number and one of the units, the last of which has no name.  Return  0: it is none, or does not fit */
static int read_number(const char *text, const struct unit *units, int64_t *number)
{
	int64_t thousandths, whole, part;
	const char *unit = read_thousandths(text, &thousandths);

	if (!unit)
		return 0;
	for (;; units++) {
		if (tr2_text_is(unit, units->name))
			break;
		if (!*units->name)
			return 0;
	}
	if (!units->factor || __builtin_mul_overflow(thousandths / 1000, units->factor, &whole) ||
	    __builtin_mul_overflow(thousandths % 1000, units->factor, &part) ||
	    __builtin_add_overflow(whole, part / 1000, number))
		return 0;
	return 1;
}

/* A time has a unit, but for 0. */
static int read_time(const char *text, int64_t *ns)
{
	static const struct unit units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 }, { "min", INT64_C(60000000000) },
		{ "h", INT64_C(3600000000000) }, { "", 0 },
	};

	if (tr2_text_is(text, "0")) {
		*ns = 0;
		return 1;
	}
	return read_number(text, units, ns);
}

static int read_size(const char *text, int64_t *bytes)
{
	static const struct unit units[] = { { "k", 1 << 10 }, { "m", 1 << 20 }, { "g", 1 << 30 }, { "", 1 } };

	return read_number(text, units, bytes);
}

static int read_rate(const char *text, int64_t *rate)
{
	static const struct unit units[] = { { "/s", 1 }, { "", 0 } };

	return read_number(text, units, rate);
}

static int read_factor(const char *text, int64_t *thousandths)
{
	static const struct unit units[] = { { "x", 1000 }, { "", 0 } };

	return read_number(text, units, thousandths) && *thousandths;
}

/* A value may be below 0. */
static int read_value(const char *text, int64_t *value)
{
	static const struct unit units[] = { { "k", 1 << 10 }, { "m", 1 << 20 }, { "g", 1 << 30 }, { "", 1 } };
	int is_negative = *text == '-';

	if (!read_number(text + is_negative, units, value))
		return 0;
	*value = is_negative ? -*value : *value;
	return 1;
}

static int read_interval(const char *text, int64_t *ns)
{
	return read_time(text, ns) && *ns >= 1000000;
}

static int read_nothing(const char *text, int64_t *unused)
{
	*unused = 0;
	return !*text;
}

/* ---- rules -------------------------------------------------------------------------------------- */

/* has_names: between the name and ">" there are patterns. */
static const struct form {
	char name[10];
	int has_names;
	enum tr2_rule_kind kind;
	int (*read)(const char *text, int64_t *bound);
	char why[80];
} forms[] = {
	{ "slow:", 1, TR2_RULE_SLOW, read_time, "a trigger slow: is slow:CATEGORY/LABEL>TIME, such as >500ms" },
	{ "p99:", 1, TR2_RULE_P99, read_factor, "a trigger p99: is p99:CATEGORY/LABEL>FACTOR, such as >3x" },
	{ "rate:", 1, TR2_RULE_RATE, read_rate, "a trigger rate: is rate:CATEGORY/LABEL>RATE, such as >1000/s" },
	{ "value:", 1, TR2_RULE_VALUE, read_value, "a trigger value: is value:CATEGORY/KEY>NUMBER" },
	{ "memory>", 0, TR2_RULE_MEMORY, read_size, "a trigger memory> needs a size, such as memory>2g" },
	{ "every:", 0, TR2_RULE_EVERY, read_interval, "a trigger every: needs a time from 1ms on, such as every:60s" },
	{ "exit!=0", 0, TR2_RULE_EXIT_CODE, read_nothing, "a trigger is exit or exit!=0" },
	{ "exit", 0, TR2_RULE_EXIT, read_nothing, "a trigger is exit or exit!=0" },
	{ "error", 0, TR2_RULE_ERROR, read_nothing, "a trigger error has nothing behind it" },
	{ "lost", 0, TR2_RULE_LOST, read_nothing, "a trigger lost has nothing behind it" },
};

static const struct form *find_form(const char *word)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (tr2_text_begins(word, forms[i].name))
			return &forms[i];
	return NULL;
}

/* "CATEGORY/LABEL>": the last ">" is the operator.  Return  behind it; NULL: it is not so */
static const char *read_names(struct tr2_rule *rule, const char *at)
{
	const char *end = strrchr(at, '>'), *slash = end ? memchr(at, '/', (size_t)(end - at)) : NULL;

	if (!slash || slash == at || slash + 1 == end)
		return NULL;
	memcpy(rule->category, at, (size_t)(slash - at));
	memcpy(rule->label, slash + 1, (size_t)(end - slash - 1));
	return end + 1;
}

static int read_rule(struct tr2_rule *rule, const struct form *form, const char *word)
{
	const char *at = word + strlen(form->name);

	*rule = (struct tr2_rule){ .kind = form->kind };
	strcpy(rule->text, word);
	if (form->has_names)
		at = read_names(rule, at);
	return at && form->read(at, &rule->bound);
}

/* ---- modifiers ---------------------------------------------------------------------------------- */

static int read_ns(const char *text, uint64_t *ns)
{
	int64_t number;

	if (!read_time(text, &number))
		return 0;
	*ns = (uint64_t)number;
	return 1;
}

static int read_max(struct tr2_rules *rules, const char *text)
{
	static const struct unit units[] = { { "", 1 } };
	int64_t number;

	if (!read_number(text, units, &number) || !number)
		return 0;
	rules->max = (uint64_t)number;
	return 1;
}

static int read_quiet(struct tr2_rules *rules, const char *text)
{
	return read_ns(text, &rules->quiet_ns);
}

static int read_window(struct tr2_rules *rules, const char *text)
{
	const char *comma = strchr(text, ',');
	size_t n = comma ? (size_t)(comma - text) : strlen(text);
	char before[TR2_RULE_WORD];
	uint64_t before_ns, after_ns = 0;

	memcpy(before, text, n);
	before[n] = '\0';
	if (!read_ns(before, &before_ns) || (comma && !read_ns(comma + 1, &after_ns)))
		return 0;
	rules->before_ns = before_ns;
	rules->after_ns = after_ns;
	rules->has_window = 1;
	return 1;
}

static const struct modifier {
	char name[10];
	int (*read)(struct tr2_rules *rules, const char *text);
	char why[80];
} modifiers[] = {
	{ "max:", read_max, "max: needs a number of snapshots above 0, such as max:20" },
	{ "quiet:", read_quiet, "quiet: needs a time, such as quiet:10s" },
	{ "window:", read_window, "window: needs one or two times, before and after: window:2s,200ms" },
};

/* ---- the list ----------------------------------------------------------------------------------- */

static enum tr2_word add_modifier(struct tr2_rules *rules, const char *word, const char **why)
{
	for (size_t i = 0; i < sizeof(modifiers) / sizeof(modifiers[0]); i++) {
		const struct modifier *modifier = &modifiers[i];
		if (!tr2_text_begins(word, modifier->name))
			continue;
		*why = modifier->why;
		if (!modifier->read(rules, word + strlen(modifier->name)))
			return TR2_WORD_BAD;
		rules->is_modified = 1;
		return TR2_WORD_ADDED;
	}
	return TR2_WORD_OTHER;
}

enum tr2_word tr2_rules_add(struct tr2_rules *rules, const char *word, const char **why)
{
	const struct form *form = strlen(word) < TR2_RULE_WORD ? find_form(word) : NULL;
	struct tr2_rule rule;

	if (!form)
		return strlen(word) < TR2_RULE_WORD ? add_modifier(rules, word, why) : TR2_WORD_OTHER;
	*why = form->why;
	if (strlen(word) == TR2_RULE_WORD - 1 || !read_rule(&rule, form, word))
		return TR2_WORD_BAD;   /* the first: it may have been cut */
	*why = no_memory;
	if (rules->n == TR2_RULES)
		return TR2_WORD_BAD;
	rules->rule[rules->n++] = rule;
	return TR2_WORD_ADDED;
}

int tr2_rules_watch(const struct tr2_rules *rules)
{
	for (unsigned i = 0; i < rules->n; i++)
		if (rules->rule[i].kind < TR2_RULE_ERROR)
			return 1;
	return 0;
}

const struct tr2_rule *tr2_rules_find(const struct tr2_rules *rules, enum tr2_rule_kind kind)
{
	for (unsigned i = 0; i < rules->n; i++)
		if (rules->rule[i].kind == kind)
			return &rules->rule[i];
	return NULL;
}

int tr2_rule_matches(const struct tr2_rule *rule, const char *category, const char *label)
{
	return tr2_wildmatch(rule->category, category) && tr2_wildmatch(rule->label, label);
}
