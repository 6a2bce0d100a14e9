/* SPDX-License-Identifier: MIT */
/* t2x_namer.c - see t2x_namer.h. */
#include "t2x_namer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "t2x_jit_files.h"

struct named {
	uint64_t scope;
	struct t2x_stack_names *names;
};

struct t2x_namer {
	const struct t2x_symbols_places *places;
	/* Both are made when something is named first: a trace without a profile does not pay for them. */
	struct t2x_symbols *symbols;
	struct named *cache;              /* T2X_NAMER_STACKS */
	/* A stack that is being made: texts one behind the other, and how many. */
	char *text;
	size_t n, max;
	unsigned count;
};

struct t2x_namer *t2x_namer_new(const struct t2x_symbols_places *places)
{
	struct t2x_namer *namer = calloc(1, sizeof(*namer));

	if (namer)
		namer->places = places;
	return namer;
}

static const struct t2x_names *find_names(struct t2x_namer *namer, const struct t2x_module *module, uint64_t address)
{
	if (!namer->symbols)
		namer->symbols = t2x_symbols_new(namer->places);
	return t2x_symbols_find(namer->symbols, module, address);
}

void t2x_namer_forget(struct t2x_namer *namer)
{
	for (unsigned i = 0; namer && namer->cache && i < T2X_NAMER_STACKS; i++) {
		free(namer->cache[i].names);
		namer->cache[i] = (struct named){ 0 };
	}
	if (namer)
		t2x_symbols_forget(namer->symbols);
}

void t2x_namer_free(struct t2x_namer *namer)
{
	if (!namer)
		return;
	t2x_namer_forget(namer);
	free(namer->cache);
	t2x_symbols_free(namer->symbols);
	free(namer->text);
	free(namer);
}

const struct t2x_names *t2x_namer_find(struct t2x_namer *namer, const struct t2x_module *module, uint64_t address)
{
	return namer ? find_names(namer, module, address) : NULL;
}

/* Without memory it is left out. */
static void put_name(struct t2x_namer *namer, const char *name)
{
	size_t length = strlen(name) + 1, max = namer->max ? namer->max : 1024;
	char *text;

	while (max - namer->n < length)
		max *= 2;
	text = max > namer->max ? realloc(namer->text, max) : namer->text;
	if (!text)
		return;
	namer->text = text;
	namer->max = max;
	memcpy(text + namer->n, name, length);
	namer->n += length;
	namer->count++;
}

/* "libc.so.6+0x271f9", or "0x7f12". */
static void put_address(struct t2x_namer *namer, const struct t2x_address *at)
{
	uint32_t pid;
	/* of code that no file has, an offset says nothing */
	const int is_made = at->module && (t2x_jit_files_parse(at->module->file, &pid) ||
					   !strcmp(at->module->file, TLG_KERNEL));
	const struct t2x_module *module = is_made ? NULL : at->module;
	const char *slash = module ? strrchr(module->file, '/') : NULL;
	const char *file = !module ? "" : slash ? slash + 1 : module->file;
	uint64_t offset = module ? at->address - module->start + module->offset : at->address;
	char text[512];

	if (!at->module && !at->address) {
		put_name(namer, TLG_STACK_CUT);
		return;
	}
	snprintf(text, sizeof(text), "%.400s%s0x%llx", file, *file ? "+" : "", (unsigned long long)offset);
	put_name(namer, text);
}

/* What was put, as one piece of memory. */
static struct t2x_stack_names *take_names(const struct t2x_namer *namer)
{
	size_t bytes = sizeof(struct t2x_stack_names) + namer->count * sizeof(const char *);
	struct t2x_stack_names *names = malloc(bytes + namer->n);
	char *text;

	if (!names)
		return NULL;
	text = (char *)names + bytes;
	if (namer->n)
		memcpy(text, namer->text, namer->n);
	for (names->n = 0; names->n < namer->count; names->n++) {
		names->at[names->n] = text;
		text += strlen(text) + 1;
	}
	return names;
}

static struct t2x_stack_names *make_names(struct t2x_namer *namer, const struct t2x_scope *scope)
{
	struct t2x_backtrace *backtrace = t2x_backtrace_new(scope);

	namer->n = namer->count = 0;
	for (unsigned i = 0; backtrace && i < backtrace->depth; i++) {
		const struct t2x_address *at = &backtrace->at[i];
		const struct t2x_names *names = find_names(namer, at->module, at->address);

		for (unsigned k = 0; names && k < names->n; k++)
			put_name(namer, names->at[k].function);
		if (!names)
			put_address(namer, at);
	}
	free(backtrace);
	return take_names(namer);
}

const struct t2x_stack_names *t2x_namer_names(struct t2x_namer *namer, const struct t2x_scope *scope)
{
	struct named *named;

	if (namer && !namer->cache)
		namer->cache = calloc(T2X_NAMER_STACKS, sizeof(*namer->cache));
	if (!namer || !namer->cache)
		return NULL;
	named = &namer->cache[scope->number % T2X_NAMER_STACKS];
	if (!scope->number || named->scope != scope->number) {
		free(named->names);
		named->names = make_names(namer, scope);
		named->scope = scope->number;
	}
	return named->names;
}
