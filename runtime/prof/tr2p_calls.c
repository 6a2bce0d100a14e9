/* SPDX-License-Identifier: MIT */
/* tr2p_calls.c - see tr2p_calls.h. */
#include "tr2p_calls.h"

#include <string.h>
#include <sys/syscall.h>

#include "tlg.h"
#include "tr2p_arena.h"
#include "base/tr2_atomic.h"

enum { NAME = 30, DIGITS = 4 };

/* The Makefile makes this list.  Not pointers: the loader would have to relocate each of them in every process. */
static const struct {
	uint16_t number;
	char name[NAME];
} calls[] = {
#define CALL(name) { __NR_##name, #name },
#include "tr2p_calls_made.h"
};

static const struct tr2p_module *g_modules[TR2P_CALLS];

/* Signal safe, unlike snprintf() */
static void put_number(char to[DIGITS + 1], unsigned number)
{
	char digits[DIGITS + 1] = "";
	unsigned n = DIGITS;

	do
		digits[--n] = (char)('0' + number % 10);
	while (number /= 10);
	memcpy(to, digits + n, DIGITS + 1 - n);
}

/* What the headers do not know is newer than they are, and has its number. */
static void put_name(char to[NAME], unsigned number)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].number == number) {
			memcpy(to, calls[i].name, NAME);
			return;
		}
	put_number(to, number);
}

static struct tr2p_module *make(unsigned number)
{
	static const char begin[] = TLG_OFF_CPU, between[] = ": ";
	struct tr2p_module *module = tr2p_arena_acquire(sizeof(*module) + sizeof(begin) + sizeof(between) + NAME);
	char *end;

	if (!module)
		return NULL;
	module->start = tr2p_calls_address((long)number);
	module->end = module->start + 1;
	memcpy(module->path, begin, sizeof(begin));
	end = module->path + sizeof(begin) - 1;
	if (number != TR2P_CALLS_NONE) {
		memcpy(end, between, sizeof(between));
		put_name(end + sizeof(between) - 1, number);
		end += strlen(end);
	}
	memcpy(end, "]", 2);
	return module;
}

const struct tr2p_module *tr2p_calls_module(uintptr_t address)
{
	const uintptr_t number = address - TR2P_CALLS_AT;
	const struct tr2p_module *module;
	struct tr2p_module *mine;

	if (number >= TR2P_CALLS)
		return NULL;
	/* [P16] acquire: the module.  Pairs with the exchange below */
	module = tr2_load_acq(&g_modules[number]);
	mine = module ? NULL : make((unsigned)number);
	if (!mine)
		return module;
	/* [P16] release: publishes the module */
	if (tr2_cas_acq_rel(&g_modules[number], NULL, mine))
		return mine;
	return tr2_load_acq(&g_modules[number]); /* [P16] acquire: another thread's.  Pairs with its exchange */
}
