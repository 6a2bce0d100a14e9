/* SPDX-License-Identifier: MIT */
/* t2x_backtrace.c - see t2x_backtrace.h. */
#include "t2x_backtrace.h"

#include <stdlib.h>
#include <string.h>

/* A hexadecimal number and the character behind it, which is one of these.  Return  0: it is not there */
static int take_hex(const char **text, uint64_t *value, const char *behind)
{
	const char *p = *text;

	for (*value = 0;; p++) {
		unsigned c = (unsigned char)*p, letter = c | 0x20;
		if (c >= '0' && c <= '9')
			*value = *value << 4 | (c - '0');
		else if (letter >= 'a' && letter <= 'f')
			*value = *value << 4 | (letter - 'a' + 10);
		else
			break;
	}
	if (p == *text || !strchr(behind, *p))
		return 0;
	*text = p + (*p != '\0');
	return 1;
}

/* How many of them a text can have at most. */
static unsigned count_parts(const char *text, char between, unsigned max)
{
	unsigned n = text && *text ? 1 : 0;

	while (n && n < max && (text = strchr(text, between))) {
		text++;
		n++;
	}
	return n;
}

/* A line of the modules, which is cut into strings.  Return  behind it; NULL: it is none */
static char *take_module(struct t2x_module *module, char *line)
{
	const char *p = line;
	char *build_id, *file, *end;

	if (!take_hex(&p, &module->start, "-") || !take_hex(&p, &module->limit, " ") ||
	    !take_hex(&p, &module->offset, " "))
		return NULL;
	build_id = line + (p - line);
	file = strchr(build_id, ' ');
	if (!file)
		return NULL;
	*file++ = '\0';
	module->build_id = strcmp(build_id, "-") ? build_id : "";
	module->file = file;
	end = strchr(file, '\n');
	if (!end)
		return file + strlen(file);
	*end = '\0';
	return end + 1;
}

static void take_modules(struct t2x_backtrace *backtrace, char *text, unsigned max)
{
	while (text && *text && backtrace->nmodules < max) {
		text = take_module(&backtrace->modules[backtrace->nmodules], text);
		if (text)
			backtrace->nmodules++;
	}
}

static const struct t2x_module *find_module(const struct t2x_backtrace *backtrace, uint64_t address)
{
	for (unsigned i = 0; i < backtrace->nmodules; i++) {
		const struct t2x_module *module = &backtrace->modules[i];
		if (address >= module->start && address < module->limit)
			return module;
	}
	return NULL;
}

/* All in one piece of memory: the addresses, the modules, their text. */
struct t2x_backtrace *t2x_backtrace_new(const struct t2x_scope *scope)
{
	const char *stack = scope->format, *modules = scope->file ? scope->file : "";
	unsigned depth = count_parts(stack, ' ', T2X_BACKTRACE_DEPTH);
	unsigned nmodules = count_parts(modules, '\n', T2X_BACKTRACE_MODULES);
	size_t bytes = sizeof(struct t2x_backtrace) + depth * sizeof(struct t2x_address);
	size_t length = strlen(modules) + 1;
	struct t2x_backtrace *backtrace = malloc(bytes + nmodules * sizeof(struct t2x_module) + length);
	char *text;

	if (!backtrace)
		return NULL;
	backtrace->depth = backtrace->nmodules = 0;
	backtrace->modules = (struct t2x_module *)((char *)backtrace + bytes);
	text = memcpy(backtrace->modules + nmodules, modules, length);
	take_modules(backtrace, text, nmodules);
	while (backtrace->depth < depth) {
		struct t2x_address *at = &backtrace->at[backtrace->depth];
		if (!take_hex(&stack, &at->address, " "))
			break;
		at->module = find_module(backtrace, at->address);
		backtrace->depth++;
	}
	return backtrace;
}

const struct t2x_backtrace *t2x_backtraces_get(struct t2x_backtraces *backtraces, const struct t2x_scope *scope)
{
	unsigned i = scope->number % T2X_BACKTRACES;

	if (scope->number && backtraces->cache[i].scope == scope->number)
		return backtraces->cache[i].backtrace;
	free(backtraces->cache[i].backtrace);
	backtraces->cache[i].backtrace = t2x_backtrace_new(scope);
	backtraces->cache[i].scope = backtraces->cache[i].backtrace ? scope->number : 0;
	return backtraces->cache[i].backtrace;
}

void t2x_backtraces_free(struct t2x_backtraces *backtraces)
{
	for (unsigned i = 0; i < T2X_BACKTRACES; i++)
		free(backtraces->cache[i].backtrace);
	*backtraces = (struct t2x_backtraces){ 0 };
}
