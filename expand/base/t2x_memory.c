/* SPDX-License-Identifier: MIT */
/* t2x_memory.c - see t2x_memory.h. */
#include "t2x_memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *realloc_or_free(void *memory, size_t bytes)
{
	if (bytes)
		return realloc(memory, bytes);
	free(memory);
	return NULL;
}

static void *zeroed(size_t bytes)
{
	return calloc(1, bytes);
}

static void *aligned(size_t alignment, size_t bytes)
{
	void *memory = aligned_alloc(alignment, bytes);

	return memory ? memset(memory, 0, bytes) : NULL;
}

static struct t2x_memory g_memory = { realloc_or_free, zeroed, aligned };

void t2x_memory_use(const struct t2x_memory *memory)
{
	g_memory = *memory;
}

void *t2x_malloc(size_t bytes)
{
	return g_memory.resize(NULL, bytes ? bytes : 1);
}

void *t2x_calloc(size_t n, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(n, size, &bytes) ? NULL : g_memory.zeroed(bytes ? bytes : 1);
}

void *t2x_realloc(void *memory, size_t bytes)
{
	return g_memory.resize(memory, bytes ? bytes : 1);
}

void t2x_free(void *memory)
{
	if (memory)
		g_memory.resize(memory, 0);
}

char *t2x_strndup(const char *text, size_t n)
{
	char *copy = t2x_malloc(n + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, n);
	copy[n] = '\0';
	return copy;
}

void *t2x_aligned(size_t alignment, size_t bytes)
{
	return g_memory.aligned(alignment, bytes);
}

/* The bytes in front of the first line store the address that malloc() returned, for t2x_cache_line_free(). */
void *t2x_cache_line_new(size_t n)
{
	const size_t bytes = t2x_cache_line_bytes(n);
	char *whole = n < SIZE_MAX - 2 * T2X_CACHE_LINE ? t2x_calloc(1, bytes + T2X_CACHE_LINE) : NULL;
	char *first;

	if (!whole)
		return NULL;
	first = whole + T2X_CACHE_LINE - (uintptr_t)whole % T2X_CACHE_LINE;
	memcpy(first - sizeof(whole), &whole, sizeof(whole));
	return first;
}

void t2x_cache_line_free(void *memory)
{
	char *whole;

	if (!memory)
		return;
	memcpy(&whole, (char *)memory - sizeof(whole), sizeof(whole));
	t2x_free(whole);
}
