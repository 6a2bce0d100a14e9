/* SPDX-License-Identifier: MIT */
/* tr2p_guard.c - the own stack directly, the rest by process_vm_readv(). */
#include "tr2p_guard.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tr2p_thread.h"
#include "base/tr2_atomic.h"

/* The smallest that machines have: a piece that ends with its page is there, or is not. */
enum { PAGE = 4096, WORD = sizeof(uintptr_t), BELOW = 64 };
/* How much of a stack of unknown size is asked about, page by page. */
enum { STACK_BYTES = 1 << 20, SIGNALS_BYTES = 8 };

/* The kernel, or a sandbox, has refused the call; it will refuse it again. */
static int g_is_refused;
static int g_answers;                     /* 1: the kernel says which pages are there; -1: it does not; 0: not tried */

/* The only one that asks the kernel.  Return  how many bytes it has copied; -1: it does not */
static long copy(void *to, size_t bytes, const struct iovec *there, unsigned long n)
{
	struct iovec here = { .iov_base = to, .iov_len = bytes };
	int saved = errno;
	long got;

	if (tr2_load_rlx(&g_is_refused)) /* relaxed: a flag by itself */
		return -1;
	got = syscall(SYS_process_vm_readv, getpid(), &here, 1L, there, n, 0L);
	if (got < 0 && (errno == ENOSYS || errno == EPERM || errno == EACCES))
		tr2_store_rlx(&g_is_refused, 1); /* relaxed: as above */
	errno = saved;
	return got;
}

/* ---- where the call is refused ------------------------------------------------------------------- */

int tr2p_guard_is_refused(void)
{
	return tr2_load_rlx(&g_is_refused); /* relaxed: as above */
}

/* The kernel copies a set of signals before it looks what is to be done with it, which is nothing that there is. */
static int is_copied(uintptr_t at)
{
	int saved = errno, is_copied;

	is_copied = syscall(SYS_rt_sigprocmask, ~0L, at & ~(uintptr_t)(SIGNALS_BYTES - 1), NULL,
			    (long)SIGNALS_BYTES) < 0 && errno == EINVAL;
	errno = saved;
	return is_copied;
}

/* An emulator may look first: then each address seems to be there, also the last ones, which nobody has. */
static int can_ask(void)
{
	int answers = tr2_load_rlx(&g_answers); /* relaxed: a flag by itself, always the same */

	if (!answers) {
		answers = is_copied((uintptr_t)-PAGE) ? -1 : 1;
		tr2_store_rlx(&g_answers, answers); /* relaxed: as above */
	}
	return answers > 0;
}

int tr2p_guard_is_there(uintptr_t at)
{
	return can_ask() && is_copied(at);
}

/* Code of a module: it stays as long as frames return to it. */
static __attribute__((no_sanitize("address"))) int copy_code(unsigned char *to, uintptr_t from, size_t n)
{
	struct dl_find_object found;

	if (!n || from + n < from || _dl_find_object((void *)from, &found) ||
	    from + n > (uintptr_t)found.dlfo_map_end || !tr2p_guard_is_there(from) ||
	    ((from ^ (from + n - 1)) / PAGE && !tr2p_guard_is_there(from + n - 1)))
		return 0;
	for (size_t i = 0; i < n; i++)
		to[i] = ((const volatile unsigned char *)from)[i];
	return 1;
}

/* The pages from the stack pointer up to this word become the own stack, if all of them are there. */
static int extend(struct tr2p_guard *guard, uintptr_t at)
{
	uintptr_t end;

	if (!guard->sp || at < guard->sp || at - guard->sp >= STACK_BYTES || !tr2p_guard_is_refused())
		return 0;
	if (!guard->low && !tr2p_guard_is_there(guard->sp))
		return 0;
	end = guard->low ? guard->high : (guard->sp & ~(uintptr_t)(PAGE - 1)) + PAGE;
	guard->low = guard->sp;
	for (; end <= at && tr2p_guard_is_there(end); end += PAGE)
		;
	guard->high = end;
	return tr2p_guard_is_own(guard, at);
}

/* -------------------------------------------------------------------------------------------------- */

int tr2p_guard_copy(void *to, uintptr_t from, size_t n)
{
	const struct iovec there = { .iov_base = (void *)from, .iov_len = n };

	if (copy(to, n, &there, 1) == (long)n)
		return 1;
	return tr2p_guard_is_refused() && copy_code(to, from, n);
}

int tr2p_guard_reach(const uintptr_t *at, unsigned n)
{
	struct iovec there[TR2P_GUARD_REACH];
	char bytes[TR2P_GUARD_REACH];
	long got;

	for (unsigned i = 0; i < n; i++)
		there[i] = (struct iovec){ .iov_base = (void *)at[i], .iov_len = 1 };
	got = copy(bytes, n, there, n);
	if (!tr2p_guard_is_refused())
		return got > 0 ? (int)got : 0;
	if (!can_ask())
		return -1;
	for (got = 0; got < (long)n && tr2p_guard_is_there(at[got]); got++)
		;
	return (int)got;
}

void tr2p_guard_begin_other(struct tr2p_guard *guard)
{
	guard->low = guard->high = guard->sp = 0;
	guard->chain = guard->chain_end = 0;
	guard->at = guard->n = 0;
}

void tr2p_guard_begin(struct tr2p_guard *guard, uintptr_t sp)
{
	const struct tr2p_thread *thread = &tr2p_g_thread;

	tr2p_guard_begin_other(guard);
	if (sp >= thread->stack_low && sp < thread->stack_high) {
		guard->low = sp;
		guard->high = thread->stack_high;
	} else {
		guard->sp = sp;
	}
}

/* What a frame has saved lies below the word that is asked for first, or above, but in another page perhaps. */
static int fetch(struct tr2p_guard *guard, uintptr_t at)
{
	uintptr_t page = at & ~(uintptr_t)(PAGE - 1), from = at - page < BELOW ? page : at - BELOW;
	size_t left = page + PAGE - from;

	guard->at = from;
	guard->n = left < sizeof(guard->piece) ? left : sizeof(guard->piece);
	if (tr2p_guard_copy(guard->piece, from, guard->n))
		return 1;
	guard->n = 0;
	return 0;
}

/* The own stack may have words that a sanitizer has marked as nobody's. */
__attribute__((no_sanitize("address"))) int tr2p_guard_word(struct tr2p_guard *guard, uintptr_t at, uintptr_t *word)
{
	if (at % WORD)
		return 0;
	if (tr2p_guard_is_own(guard, at)) {
		*word = *(const uintptr_t *)at;
		return 1;
	}
	if ((at < guard->at || at - guard->at >= guard->n) && !fetch(guard, at)) {
		if (!extend(guard, at))
			return 0;
		*word = *(const uintptr_t *)at;
		return 1;
	}
	memcpy(word, guard->piece + (at - guard->at), WORD);
	return 1;
}
