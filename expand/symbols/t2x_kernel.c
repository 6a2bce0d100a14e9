/* SPDX-License-Identifier: MIT */
/* t2x_kernel.c - see t2x_kernel.h. */
#include "t2x_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char suffix[] = "_[k]";

struct symbol {
	uint64_t address;
	const char *name;
	size_t length;
};

struct symbols {
	struct symbol *at;
	size_t n, max;
};

static int add(struct symbols *symbols, const struct symbol *symbol)
{
	size_t max = symbols->max ? 2 * symbols->max : 4096;
	struct symbol *more = symbols->at;

	if (symbols->n == symbols->max) {
		more = realloc(more, max * sizeof(*more));
		if (!more)
			return 0;
		symbols->at = more;
		symbols->max = max;
	}
	symbols->at[symbols->n++] = *symbol;
	return 1;
}

/* "ffffffff81000000 T _stext", and behind a tabulator the module.  Return  0: it is no function */
static int parse_line(const char *line, const char *end, struct symbol *symbol)
{
	char *behind;

	symbol->address = strtoull(line, &behind, 16);
	if (behind == line || end - behind < 4 || behind[0] != ' ' || behind[2] != ' ' || !strchr("tTwW", behind[1]))
		return 0;
	symbol->name = behind + 3;
	symbol->length = 0;
	while (symbol->name + symbol->length < end && (unsigned char)symbol->name[symbol->length] > ' ')
		symbol->length++;
	return symbol->address && symbol->length;
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *one = a, *two = b;

	if (one->address != two->address)
		return one->address < two->address ? -1 : 1;
	return one->name < two->name ? -1 : 1;
}

/* Each is as long as it is to the next, as lines that t2x_jit.h reads. */
static void put_lines(FILE *text, const struct symbols *symbols)
{
	for (size_t i = 0; i < symbols->n; i++) {
		const struct symbol *symbol = &symbols->at[i];
		uint64_t end = symbol->address + 1;

		for (size_t next = i + 1; next < symbols->n; next++)
			if (symbols->at[next].address > symbol->address) {
				end = symbols->at[next].address;
				break;
			}
		fprintf(text, "%llx %llx %.*s%s\n", (unsigned long long)symbol->address,
			(unsigned long long)(end - symbol->address), (int)symbol->length, symbol->name, suffix);
	}
}

int t2x_kernel_parse(struct t2x_jit *jit, const char *text, size_t n)
{
	const char *end = text + n, *line_end;
	struct symbols symbols = { .n = 0 };
	struct symbol symbol;
	char *lines = NULL;
	size_t length = 0;
	FILE *to;

	for (const char *line = text; line < end; line = line_end + 1) {
		line_end = memchr(line, '\n', (size_t)(end - line));
		if (!line_end)
			break;
		if (parse_line(line, line_end, &symbol) && !add(&symbols, &symbol))
			break;
	}
	if (symbols.n)
		qsort(symbols.at, symbols.n, sizeof(symbols.at[0]), by_address);
	to = open_memstream(&lines, &length);
	if (to) {
		put_lines(to, &symbols);
		if (!fclose(to))
			t2x_jit_add_map(jit, lines, length);
	}
	free(lines);
	free(symbols.at);
	return jit->n > 0;
}

/* ---- files ---------------------------------------------------------------------------------------- */

/* Files of /proc do not say how long they are.  Return  to be freed, with a NUL behind it; NULL: it cannot be read */
static char *read_whole(const char *path, size_t *length)
{
	FILE *file = fopen(path, "re"), *to;
	char piece[65536], *bytes = NULL;
	size_t n;

	if (!file)
		return NULL;
	to = open_memstream(&bytes, length);
	while (to && (n = fread(piece, 1, sizeof(piece), file)) > 0)
		fwrite(piece, 1, n, to);
	fclose(file);
	if (to && fclose(to)) {
		free(bytes);
		return NULL;
	}
	return bytes;
}

/* The file has the id in groups, with '-' between them. */
int t2x_kernel_boot(char boot[T2X_KERNEL_BOOT])
{
	size_t n = 0, digits = 0;
	char *id = read_whole("/proc/sys/kernel/random/boot_id", &n);

	for (const char *at = id; at && (unsigned char)*at > ' ' && digits < T2X_KERNEL_BOOT - 1; at++)
		if (*at != '-')
			boot[digits++] = *at;
	boot[digits] = '\0';
	free(id);
	return digits == T2X_KERNEL_BOOT - 1;
}

int t2x_kernel_read(struct t2x_jit *jit, const char *boot)
{
	char now[T2X_KERNEL_BOOT];
	size_t n = 0;
	char *text = t2x_kernel_boot(now) && !strcmp(boot, now) ? read_whole("/proc/kallsyms", &n) : NULL;
	int found = text && t2x_kernel_parse(jit, text, n);

	free(text);
	return found;
}
