/* SPDX-License-Identifier: MIT */
/* t2x_symbolize.c - see t2x_symbolize.h. */
#include "t2x_symbolize.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/t2x_symbols.h"

enum { MODULES = 8192 };

/* One at a time: debugging information may be large. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct modules {
	struct t2x_module *items;
	unsigned n;
};

/* A line of /proc/PID/maps of a file's code.  Return  0: it is none, or there is no memory */
static int read_line(const char *line, struct t2x_module *module)
{
	uint64_t start, limit, offset;
	char access[5];
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &start, &limit, access, &offset,
		   &at) != 4 || !at || line[at] != '/' || access[2] != 'x')
		return 0;
	*module = (struct t2x_module){ start, limit, offset, strndup(line + at, strcspn(line + at, "\n")), "" };
	return module->file != NULL;
}

static void read_modules(struct modules *modules, uint32_t pid)
{
	char path[64], *line = NULL;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/maps", (unsigned)pid);
	file = fopen(path, "re");
	modules->items = calloc(MODULES, sizeof(*modules->items));
	while (file && modules->items && modules->n < MODULES && getline(&line, &size, file) > 0)
		modules->n += (unsigned)read_line(line, &modules->items[modules->n]);
	free(line);
	if (file)
		fclose(file);
}

static void free_modules(struct modules *modules)
{
	for (unsigned i = 0; i < modules->n; i++)
		free((char *)(uintptr_t)modules->items[i].file);
	free(modules->items);
}

static const struct t2x_module *find_module(const struct modules *modules, uint64_t address)
{
	for (unsigned i = 0; i < modules->n; i++)
		if (address >= modules->items[i].start && address < modules->items[i].limit)
			return &modules->items[i];
	return NULL;
}

/* The outermost of what is inlined there: an address has one name here. */
static void put_name(struct t2x_out *out, struct t2x_symbols *symbols, const struct modules *modules, uint64_t address)
{
	const struct t2x_module *module = find_module(modules, address);
	const struct t2x_names *names = module ? t2x_symbols_find(symbols, module, address) : NULL;
	char hex[32];

	if (!names || !names->n)
		return;
	snprintf(hex, sizeof(hex), "0x%" PRIx64 " ", address);
	t2x_out_string(out, hex);
	t2x_out_in_line(out, names->at[names->n - 1].function);
	t2x_out_char(out, '\n');
}

void t2x_symbolize_answer(const struct t2x_http_call *call, const struct t2x_traced *traced, struct t2x_reply *reply)
{
	static const struct t2x_symbols_places places;
	const char *text = *call->body ? call->body : call->request.symbols;
	struct modules modules = { .n = 0 };
	struct t2x_symbols *symbols;
	struct t2x_out out;
	uint64_t address;

	if (t2x_reply_begin(reply, T2X_REPLY_TEXT, &out)) {
		t2x_reply_fail(reply, 503, strerror(ENOMEM), NULL);
		return;
	}
	/* Not how many: that there are any, which is what pprof wants to know. */
	t2x_out_literal(&out, "num_symbols: 1\n");
	pthread_mutex_lock(&lock);
	read_modules(&modules, traced->pid);
	symbols = t2x_symbols_new(&places);
	for (unsigned i = 0; i < T2X_SYMBOLIZE_ADDRESSES && t2x_pprof_address(&text, &address); i++)
		put_name(&out, symbols, &modules, address);
	t2x_symbols_free(symbols);
	free_modules(&modules);
	pthread_mutex_unlock(&lock);
	t2x_reply_end(reply, &out);
}
