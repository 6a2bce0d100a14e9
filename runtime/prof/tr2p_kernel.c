/* SPDX-License-Identifier: MIT */
/* tr2p_kernel.c - rings of threads, and what ticks find in them. */
#include "tr2p_kernel.h"

#include <errno.h>

#if defined(__x86_64__) || defined(__aarch64__)
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "tlg.h"
#include "tr2p_arena.h"
#include "tr2p_chains.h"
#include "tr2p_guard.h"
#include "tr2p_module.h"
#include "tr2p_sample.h"
#include "tr2p_sandbox.h"
#include "tr2p_tasks.h"
#include "tr2p_thread.h"
#include "base/tr2_atomic.h"

/* How the kernel numbers the two registers of a program. */
#ifdef __x86_64__
enum { SP = 7, PC = 8 };
#else
enum { SP = 31, PC = 32 };
#endif

enum { RINGS = 1024, WAYS = 8, DATA_PAGES = 2, PARTS = 4, TIMES_MAX = 8, LEAST_NS = 250000, ID_BYTES = 16 };
static const uint32_t BUSY = UINT32_C(1) << 31;

/* [P18] The owner publishes the rest: release with which it changes, acquire of who takes it by compare and swap. */
struct ring {
	uint32_t owner;                       /* the thread; BUSY: a tick reads it, or it goes; 0: nobody's */
	void *map;
	struct tr2p_chains chains;
};

static struct kernel {
	int is_wanted;
	size_t page;
	const struct tr2p_module *module;
	struct ring rings[RINGS];
} g_kernel;

/* ---- opening a ring --------------------------------------------------------------------------------- */

struct request {
	pid_t tid;
	uint64_t period_ns;
	void *map;                            /* MAP_FAILED: it cannot be had */
	int error;
};

static long open_event(const struct request *request)
{
	struct perf_event_attr what;

	memset(&what, 0, sizeof(what));
	what.size = sizeof(what);
	what.type = PERF_TYPE_SOFTWARE;
	what.config = PERF_COUNT_SW_TASK_CLOCK;
	what.sample_period = request->period_ns;
	what.sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER;
	what.sample_regs_user = UINT64_C(1) << SP | UINT64_C(1) << PC;
	what.sample_max_stack = TR2P_CHAIN;
	what.exclude_user = 1;
	what.exclude_callchain_user = 1;
	what.exclude_hv = 1;
	what.write_backward = 1;
	return syscall(SYS_perf_event_open, &what, request->tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* In the child all numbers may be taken, but none is needed.  The mapping keeps the ring when its number is closed. */
static int open_ring(void *data)
{
	struct request *request = data;
	long fd = open_event(request);

	request->map = MAP_FAILED;
	if (fd < 0 && errno == EMFILE) {
		syscall(SYS_close, STDIN_FILENO);
		fd = open_event(request);
	}
	if (fd >= 0)
		request->map = mmap(NULL, (1 + DATA_PAGES) * g_kernel.page, PROT_READ, MAP_SHARED, (int)fd, 0);
	request->error = request->map == MAP_FAILED ? errno : 0;
	if (fd >= 0)
		syscall(SYS_close, fd);
	return 0;
}

/* The calling thread's errno is the child's, too.  Return  0 or an error number */
static int open_for(struct request *request)
{
	const int saved = errno;
	int error = tr2p_sandbox_has_filter() ? EPERM : tr2p_tasks_in_child(open_ring, request);

	errno = saved;
	return error ? error : request->error;
}

/* ---- the module ------------------------------------------------------------------------------------- */

/*
 * Addresses of the kernel are others after each start of the system, and those of another system say nothing: instead
 * of a build-id the module has the id of this start, by which a reader knows that it can ask its own kernel.
 */
static void read_boot_id(struct tr2p_module *module)
{
	char text[64];
	long fd = syscall(SYS_openat, AT_FDCWD, "/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	long n = fd < 0 ? 0 : syscall(SYS_read, fd, text, sizeof(text));
	unsigned digits = 0;

	if (fd >= 0)
		syscall(SYS_close, fd);
	for (long i = 0; i < n && digits < 2 * ID_BYTES; i++) {
		const char c = text[i];
		const int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
		if (value < 0)
			continue;
		module->id[digits / 2] = (unsigned char)(module->id[digits / 2] << 4 | value);
		digits++;
	}
	module->id_size = digits == 2 * ID_BYTES ? ID_BYTES : 0;
}

static int make_module(void)
{
	struct tr2p_module *module = tr2p_arena_acquire(sizeof(*module) + sizeof(TLG_KERNEL));

	if (!module)
		return ENOMEM;
	module->start = TLG_KERNEL_START;
	module->end = UINTPTR_MAX - 0xffff;
	read_boot_id(module);
	memcpy(module->path, TLG_KERNEL, sizeof(TLG_KERNEL));
	tr2_store_rel(&g_kernel.module, module); /* [P18] release: what it has.  Pairs with tr2p_kernel_module() */
	return 0;
}

const struct tr2p_module *tr2p_kernel_module(uintptr_t address)
{
	if (address < TLG_KERNEL_START)
		return NULL;
	return tr2_load_acq(&g_kernel.module); /* [P18] acquire: what it has.  Pairs with make_module() */
}

/* ---- rings of threads ------------------------------------------------------------------------------- */

int tr2p_kernel_start(void)
{
	struct request request = { .tid = (pid_t)syscall(SYS_gettid), .period_ns = 1000000000 };
	int error;

	if (g_kernel.is_wanted)
		return 0;
	g_kernel.page = (size_t)sysconf(_SC_PAGESIZE);
	tr2p_tasks_init();
	error = open_for(&request);
	if (error)
		return error;
	munmap(request.map, (1 + DATA_PAGES) * g_kernel.page);
	error = make_module();
	g_kernel.is_wanted = !error;
	return error;
}

static struct ring *way(pid_t tid, unsigned i)
{
	return &g_kernel.rings[((unsigned)tid + i) % RINGS];
}

static struct ring *find(pid_t tid, uint32_t owner)
{
	for (unsigned i = 0; i < WAYS; i++)
		if (tr2_load_rlx(&way(tid, i)->owner) == owner) /* relaxed: who takes it orders it */
			return way(tid, i);
	return NULL;
}

void tr2p_kernel_add(pid_t tid, uint64_t period_ns)
{
	struct request request = { .tid = tid, .period_ns = period_ns / PARTS };
	struct ring *ring = g_kernel.is_wanted ? find(tid, 0) : NULL;

	if (!ring || find(tid, (uint32_t)tid))
		return;
	if (request.period_ns < LEAST_NS)
		request.period_ns = LEAST_NS;
	if (open_for(&request))
		return;
	ring->map = request.map;
	ring->chains = (struct tr2p_chains){
		.page = request.map, .data = (const unsigned char *)request.map + g_kernel.page,
		.size = DATA_PAGES * g_kernel.page,
	};
	tr2_store_rel(&ring->owner, (uint32_t)tid); /* [P18] release: the ring.  Pairs with take() */
}

/* A ring that another thread's tick reads at this moment stays until that thread ends. */
void tr2p_kernel_remove(pid_t tid)
{
	struct ring *ring = find(tid, (uint32_t)tid);

	/* [P18] acquire: what is unmapped */
	if (!ring || !tr2_cas_acq_rel(&ring->owner, (uint32_t)tid, (uint32_t)tid | BUSY))
		return;
	munmap(ring->map, (1 + DATA_PAGES) * g_kernel.page);
	tr2_store_rel(&ring->owner, 0); /* [P18] release: nobody reads it.  Pairs with the next that is added */
}

void tr2p_kernel_begin_child(void)
{
	memset(g_kernel.rings, 0, sizeof(g_kernel.rings));
}

/* ---- ticks ------------------------------------------------------------------------------------------ */

static struct tr2p_chains_place place_of(const ucontext_t *context)
{
#ifdef __x86_64__
	return (struct tr2p_chains_place){ (uintptr_t)context->uc_mcontext.gregs[REG_RIP],
					   (uintptr_t)context->uc_mcontext.gregs[REG_RSP] };
#else
	return (struct tr2p_chains_place){ (uintptr_t)context->uc_mcontext.pc, (uintptr_t)context->uc_mcontext.sp };
#endif
}

/* 1: the thread returns from a system call, and has done nothing since. */
static int is_behind_call(const ucontext_t *context)
{
#ifdef __x86_64__
	/* the instruction has put that there */
	return context->uc_mcontext.gregs[REG_RCX] == context->uc_mcontext.gregs[REG_RIP];
#else
	static const uint32_t SVC = 0xd4000001;
	uint32_t code = 0;

	return tr2p_guard_copy(&code, (uintptr_t)context->uc_mcontext.pc - sizeof(code), sizeof(code)) && code == SVC;
#endif
}

/* Which of the kernel's stacks a tick shows. */
struct choice {
	struct ring *ring;                    /* the thread's, which stays meanwhile; or NULL */
	struct tr2p_chains_place place;
	uint64_t head;
	unsigned n;                           /* so many that there are */
};

/* Outside of calls the tick may have come while the program itself ran. */
static void choose(struct choice *choice, const struct tr2p_amount *amount, int is_behind)
{
	const struct tr2p_chains *chains = &choice->ring->chains;
	const uint32_t could = (uint32_t)(amount->count < INT32_MAX / PARTS ? amount->count * PARTS : INT32_MAX);
	unsigned all;

	choice->head = tr2p_chains_head(chains);
	choice->n = tr2p_chains_count(chains, choice->head, &choice->place, &all);
	if (!is_behind && tr2p_random() % could >= choice->n)
		choice->n = 0;
}

/* Return  the calling thread's ring, which stays until it is released; NULL: it has none */
static struct ring *take(void)
{
	const pid_t tid = (pid_t)syscall(SYS_gettid);
	struct ring *ring = find(tid, (uint32_t)tid);

	/* [P18] acquire: the ring.  Pairs with tr2p_kernel_add() */
	return ring && tr2_cas_acq_rel(&ring->owner, (uint32_t)tid, (uint32_t)tid | BUSY) ? ring : NULL;
}

static void release(struct ring *ring, uint64_t seen)
{
	const uint32_t owner = tr2_load_rlx(&ring->owner); /* relaxed: the calling thread's own */

	ring->chains.seen = seen;
	tr2_store_rel(&ring->owner, owner & ~BUSY); /* [P18] release: it may go.  Pairs with its removal */
}

/* The kernel's functions come in front.  Return  how many */
static unsigned put_chain(struct tr2p_stack *stack, const struct choice *choice, unsigned nth)
{
	uintptr_t *to = stack->at;
	unsigned n, user = stack->n, room = TR2P_STACK_MAX - user;

	room = room < TR2P_CHAIN ? room : TR2P_CHAIN;
	memmove(to + room, to, user * sizeof(*to));
	n = choice->n ? tr2p_chains_copy(&choice->ring->chains, choice->head, &choice->place, nth, to, room) : 0;
	if (!n && room)
		to[n++] = TLG_KERNEL_START;   /* somewhere in it */
	memmove(to + n, to + room, user * sizeof(*to));
	stack->n = user + n;
	return n;
}

static void sample_parts(struct tr2p_stack *stack, const struct choice *choice, const struct tr2p_amount *amount)
{
	const int64_t n = choice->n > 0 ? choice->n : 1, times = n < TIMES_MAX ? n : TIMES_MAX;
	const int64_t parts = amount->count < times ? amount->count : times;
	const unsigned first = tr2p_random() % (unsigned)n;

	for (int64_t i = 0; i < parts; i++) {
		struct tr2p_amount part = *amount;
		unsigned frames;

		part.count = amount->count * (i + 1) / parts - amount->count * i / parts;
		part.value = part.count * (amount->value / amount->count);
		frames = put_chain(stack, choice, (unsigned)((first + i * n / parts) % n));
		tr2p_sample(TR2P_CPU, stack, &part);
		stack->n -= frames;
		memmove(stack->at, stack->at + frames, stack->n * sizeof(stack->at[0]));
	}
}

/* noinline: without a ring a sample needs no more of the stack than others. */
static __attribute__((noinline)) void sample_with(struct ring *ring, struct tr2p_stack *stack,
						  const struct tr2p_amount *amount, const void *context)
{
	struct choice choice = { .ring = ring, .place = place_of(context) };
	const int is_behind = is_behind_call(context);

	choose(&choice, amount, is_behind);
	if (choice.n || is_behind)
		sample_parts(stack, &choice, amount);
	else
		tr2p_sample(TR2P_CPU, stack, amount);
	release(ring, choice.head);
}

void tr2p_kernel_sample(struct tr2p_stack *stack, const struct tr2p_amount *amount, const void *context)
{
	struct ring *ring = context && g_kernel.is_wanted && amount->count > 0 ? take() : NULL;

	if (ring)
		sample_with(ring, stack, amount, context);
	else
		tr2p_sample(TR2P_CPU, stack, amount);
}

#else
/* Of other machines the registers of a tick, and their numbers in perf_event_open(2), are not known here. */
#include <stddef.h>

#include "tr2p_sample.h"

int tr2p_kernel_start(void)
{
	return ENOTSUP;
}

void tr2p_kernel_add(pid_t tid, uint64_t period_ns)
{
	(void)tid, (void)period_ns;
}

void tr2p_kernel_remove(pid_t tid)
{
	(void)tid;
}

void tr2p_kernel_begin_child(void)
{
}

void tr2p_kernel_sample(struct tr2p_stack *stack, const struct tr2p_amount *amount, const void *context)
{
	(void)context;
	tr2p_sample(TR2P_CPU, stack, amount);
}

const struct tr2p_module *tr2p_kernel_module(uintptr_t address)
{
	(void)address;
	return NULL;
}
#endif
