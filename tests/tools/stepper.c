/* SPDX-License-Identifier: MIT */
/* stepper.c - see stepper.h. */
#include "stepper.h"

#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

unsigned stepper_processors(void)
{
	cpu_set_t all;

	return sched_getaffinity(0, sizeof(all), &all) ? 1 : (unsigned)CPU_COUNT(&all);
}

void stepper_share_processor(unsigned which)
{
	cpu_set_t all, one;

	if (sched_getaffinity(0, sizeof(all), &all))
		return;
	which %= (unsigned)CPU_COUNT(&all);
	CPU_ZERO(&one);
	for (size_t i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &all) && !which--)
			CPU_SET(i, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

int stepper_is_kernels(uint64_t address)
{
	enum { MAX_BYTES = 16384 };
	const uint64_t begin = getauxval(AT_SYSINFO_EHDR);

	return begin && address >= begin && address - begin < MAX_BYTES;
}

/* ---- the processor ------------------------------------------------------------------------------ */

#if defined(__x86_64__)
enum { CAN_BREAK = 1 };

uint64_t stepper_address(pid_t process)
{
	return (uint64_t)ptrace(PTRACE_PEEKUSER, process, offsetof(struct user_regs_struct, rip), 0);
}

/* Set the instruction pointer. */
static int set_address(pid_t process, uint64_t address)
{
	return !ptrace(PTRACE_POKEUSER, process, offsetof(struct user_regs_struct, rip), address);
}

/* Let the processor stop the process before it executes this address; 0: no longer.  Return  0: not supported */
static int set_breakpoint(pid_t process, uint64_t address)
{
	const size_t first = offsetof(struct user, u_debugreg[0]), control = offsetof(struct user, u_debugreg[7]);

	if (ptrace(PTRACE_POKEUSER, process, control, 0))
		return 0;
	return !address || (!ptrace(PTRACE_POKEUSER, process, first, address) &&
			    !ptrace(PTRACE_POKEUSER, process, control, 1));
}
#else
enum { CAN_BREAK = 0 };

uint64_t stepper_address(pid_t process)
{
	(void)process;
	return 0;
}

static int set_address(pid_t process, uint64_t address)
{
	(void)process;
	(void)address;
	return 0;
}

static int set_breakpoint(pid_t process, uint64_t address)
{
	(void)process;
	(void)address;
	return 0;
}
#endif

/* The first argument of ptrace() */
#ifdef __GLIBC__
typedef enum __ptrace_request request;
#else
typedef int request;
#endif

static int resume(int how, pid_t process, long signal)
{
	int status;

	do {
		if (ptrace((request)how, process, 0, signal) || waitpid(process, &status, 0) != process ||
		    !WIFSTOPPED(status))
			return 0;
		signal = 0;
	} while (status >> 16);   /* it has started a thread, which stays stopped */
	return WSTOPSIG(status);
}

int stepper_hold_threads(pid_t process)
{
	return !ptrace(PTRACE_SETOPTIONS, process, 0, (long)PTRACE_O_TRACECLONE);
}

void stepper_kill(pid_t process)
{
	pid_t gone;
	int status;

	kill(process, SIGKILL);
	do
		gone = waitpid(-1, &status, __WALL);   /* wait for stopped threads, too */
	while (gone > 0 && (gone != process || WIFSTOPPED(status)));
}

int stepper_step(pid_t process, int signal)
{
	return resume(PTRACE_SINGLESTEP, process, signal);
}

int stepper_go_on(pid_t process, int signal)
{
	return resume(PTRACE_CONT, process, signal);
}

/* ---- breakpoints ----------------------------------------------------------------------------------- */

enum { NO_BREAKPOINTS, OF_THE_PROCESSOR, AS_INSTRUCTIONS };

static int g_breakpoints;

static __attribute__((noinline)) void stop_here(void)
{
	__asm__ volatile("");
}

/* A virtual machine may take a breakpoint of the processor without an error, and pass it. */
static int processor_stops(void)
{
	const uint64_t address = (uint64_t)(uintptr_t)&stop_here;
	pid_t process = fork();
	int status, stop = 0;

	if (!process) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		stop_here();
		_exit(0);
	}
	if (process < 0 || waitpid(process, &status, 0) != process || !WIFSTOPPED(status))
		return 0;
	if (set_breakpoint(process, address))
		stop = stepper_go_on(process, 0);
	if (stop)
		stepper_kill(process);
	return stop == SIGTRAP;
}

static void find_breakpoints(void)
{
	if (CAN_BREAK && !g_breakpoints)
		g_breakpoints = processor_stops() ? OF_THE_PROCESSOR : AS_INSTRUCTIONS;
}

/* Replace the first byte of the instruction at an address by int3.  *was gets the word; or put that back.  0: failed */
static int put_trap(pid_t process, uint64_t address, long *was)
{
	*was = ptrace(PTRACE_PEEKTEXT, process, (uintptr_t)address, 0);
	return !ptrace(PTRACE_POKETEXT, process, (uintptr_t)address, (*was & ~0xffL) | 0xcc);
}

static int remove_trap(pid_t process, uint64_t address, long was)
{
	return !ptrace(PTRACE_POKETEXT, process, (uintptr_t)address, was);
}

/* Run until the process is about to execute this address for the hits-th time.  Return  as stepper_step() */
static int run_to_trap(pid_t process, uint64_t address, uint32_t hits)
{
	int stop = SIGTRAP;
	long was;

	for (uint32_t i = 0; stop == SIGTRAP && i < hits; i++) {
		while (i && stop == SIGTRAP && stepper_address(process) == address)
			stop = stepper_step(process, 0);
		if (stop != SIGTRAP || !put_trap(process, address, &was))
			return stop == SIGTRAP ? 0 : stop;
		stop = stepper_go_on(process, 0);
		if (stop && !remove_trap(process, address, was))
			return 0;
		if (stop == SIGTRAP && (stepper_address(process) != address + 1 || !set_address(process, address)))
			return 0;
	}
	return stop;
}

static int run_to_breakpoint(pid_t process, uint64_t address, uint32_t hits)
{
	int stop = SIGTRAP;

	if (g_breakpoints == AS_INSTRUCTIONS)
		return run_to_trap(process, address, hits);
	if (!set_breakpoint(process, address))
		return 0;
	for (uint32_t i = 0; stop == SIGTRAP && i < hits; i++)
		stop = stepper_go_on(process, 0);
	return stop && !set_breakpoint(process, 0) ? 0 : stop;
}

/* ---- paths -------------------------------------------------------------------------------------- */

/*
 * The stepper's tables are not on the heap.  A process is a copy of the harness: malloc() takes the same path in the
 * recorded process and in later ones only if the heap of the harness has not changed in between.
 */
static void *map_table(size_t entries, size_t bytes)
{
	void *table = mmap(NULL, entries * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return table == MAP_FAILED ? NULL : table;
}

static void unmap_table(void *table, size_t entries, size_t bytes)
{
	if (table)
		munmap(table, entries * bytes);
}

int stepper_init(struct stepper_path *path, uint32_t room)
{
	find_breakpoints();
	*path = (struct stepper_path){ .room = room };
	path->at = map_table(room, sizeof(*path->at));
	path->pass = map_table(room, sizeof(*path->pass));
	path->anchor = map_table(room, sizeof(*path->anchor));
	path->hits = map_table(room, sizeof(*path->hits));
	return path->at && path->pass && path->anchor && path->hits;
}

void stepper_free(struct stepper_path *path)
{
	unmap_table(path->at, path->room, sizeof(*path->at));
	unmap_table(path->pass, path->room, sizeof(*path->pass));
	unmap_table(path->anchor, path->room, sizeof(*path->anchor));
	unmap_table(path->hits, path->room, sizeof(*path->hits));
}

void stepper_keep_shorter(struct stepper_path *path, struct stepper_path *other)
{
	struct stepper_path longer = *path;

	if (other->count < path->count) {
		*path = *other;
		*other = longer;
	}
	stepper_free(other);
}

/* How often the path has passed an address, and how often a breakpoint there would have stopped the process. */
struct passes { uint64_t address; uint32_t times, breaks; };

/* The table uses open addressing and has more entries than the path has addresses. */
static struct passes *passes_of(struct passes *passes, uint32_t room, uint64_t address)
{
	uint64_t i = address * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	for (i %= room; passes[i].times && passes[i].address != address; i = (i + 1) % room)
		;
	passes[i].address = address;
	return &passes[i];
}

/*
 * Return  1: a breakpoint at this instruction works.  It does not where the process starts, nor at a repeated
 * instruction, which takes a step for each round but stops only once
 */
static int is_anchor(const struct stepper_path *path, uint32_t n)
{
	return n && path->at[n] != path->at[0] && path->at[n] != path->at[n - 1];
}

/*
 * Find the cheapest way to each instruction.  A way costs a stop for each time that its anchor is passed, and the steps
 * from there.  The cheapest way to one instruction, with one more step, is a way to the next.
 */
static void find_ways(struct stepper_path *path)
{
	uint32_t room = 2 * path->count + 1, cost = 0;
	struct passes *all = map_table(room, sizeof(*all));

	for (uint32_t n = 0; all && n < path->count; n++, cost++) {
		struct passes *passes = passes_of(all, room, path->at[n]);
		path->pass[n] = ++passes->times;
		passes->breaks += (uint32_t)is_anchor(path, n);
		path->anchor[n] = n ? path->anchor[n - 1] : 0;
		path->hits[n] = n ? path->hits[n - 1] : 0;
		if (is_anchor(path, n) && passes->breaks <= cost) {
			path->anchor[n] = n;
			path->hits[n] = cost = passes->breaks;
		}
	}
	unmap_table(all, room, sizeof(*all));
}

int stepper_record(struct stepper_path *path, pid_t process, int (*is_over)(void))
{
	int stop = SIGTRAP;

	path->count = 0;
	while (stop == SIGTRAP && path->count < path->room && !is_over()) {
		path->at[path->count++] = stepper_address(process);
		stop = stepper_step(process, 0);
	}
	find_ways(path);
	return stop;
}

int stepper_go_to(const struct stepper_path *path, pid_t process, uint32_t n)
{
	int stop = SIGTRAP;
	uint32_t from = 0;

	if (path->hits[n] && g_breakpoints) {
		stop = run_to_breakpoint(process, path->at[path->anchor[n]], path->hits[n]);
		from = path->anchor[n];
	}
	for (; stop == SIGTRAP && from < n; from++)
		stop = stepper_step(process, 0);
	return stop == SIGTRAP && stepper_address(process) == path->at[n];
}
