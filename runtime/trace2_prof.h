/* SPDX-License-Identifier: MIT */
/*
 * trace2_prof.h - profiles of a C program, as Go's runtime/pprof has them for Go programs: CPU, heap, locks, threads,
 * labels, and profiles of the program's own.
 *
 * If tracing is on, a sample is an event in the ring of its thread, beside the regions of trace2.h and on the same
 * clock; and it is added up in the process, for trace2_prof_write_to().  `t2expand --format=pprof --profile=NAME` makes
 * the same of a trace, cut by time, thread, region and label.
 *
 * The library is libtrace2-prof: linked, or put in front of any program with LD_PRELOAD.  In the environment
 * TRACE2_PROF=cpu=100hz,heap=512k,block=10us,mutex=10 turns profiles on, see trace2-env(7); `t2 record` does both.
 *
 * What holds for every function here, unless its comment says otherwise:
 *   Errors   functions that can fail return 0 or an error number, as those of pthreads do; errno is kept.
 *   Texts    are copied.
 *   Thread   any thread.
 *   Signal   unsafe: not for handlers.
 *   Cancel   no cancellation point.
 */
#ifndef TRACE2_PROF_H
#define TRACE2_PROF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* ---- CPU and wall-clock ------------------------------------------------------------------------- */

/*
 * Sample the stack of each thread, present and future, hz times in each second of CPU time that it uses; wall:
 * in each second, also while it is blocked.  The signal is SIGPROF.  Both may be on at a time.  They
 * interrupt no call, but for a few that no handler leaves uninterrupted: trace2-prof(3) has them.
 * hz      1..10000; above what the kernel's tick gives (CONFIG_HZ, often 250) samples of CPU time come in
 *         groups, each counted by a weight; TRACE2_DST_DEBUG=1 says so
 * Errors  EALREADY: it is on; EBUSY: the program has a SIGPROF handler of its own; EINVAL; EAGAIN: no timers left
 */
int trace2_prof_start_cpu(unsigned hz);
int trace2_prof_start_wall(unsigned hz);

/* Stop that.  What was counted stays until the next start.  Does nothing if it is off. */
void trace2_prof_stop_cpu(void);
void trace2_prof_stop_wall(void);

/* ---- rates of the others ------------------------------------------------------------------------ */

/*
 * A heap sample for each so many bytes allocated, on the average; 1: each allocation; 0: off.  Other threads go by a
 * new rate from their next sample on, which totals allow for.  What was sampled counts when it is freed, on or off.
 * Return  as it was; it stays so if there is no memory for samples
 */
size_t trace2_prof_set_heap_rate(size_t bytes);

/*
 * Waits for others from so many nanoseconds on, and shorter ones in proportion; 1: each; 0: off.  Return  as above
 * Seen    mutexes, rwlocks, spin locks, condition variables, barriers, semaphores and joins, by their functions of
 *         pthread.h, semaphore.h and threads.h: so what C++ has in <mutex>, <shared_mutex>, <condition_variable> and
 *         <thread>, too; futexes by syscall(2), with them C++'s atomics, latches and semaphores, and Rust's locks
 * Unseen  what libc calls within itself: locks of stdio, malloc() and the loader, and when a condition variable has its
 *         mutex again; OpenMP's own
 */
uint64_t trace2_prof_set_block_rate(uint64_t ns);

/*
 * One in n of the times that somebody released what others waited for: unlocked a lock, posted a semaphore, signalled a
 * condition variable, woke a futex; 1: each; 0: off.  Return  as above
 */
unsigned trace2_prof_set_mutex_fraction(unsigned n);

/* Where threads are created.  0: off.  Return  as above */
int trace2_prof_set_threadcreate(int on);

/* ---- profiles ----------------------------------------------------------------------------------- */

/*
 * A profile: stacks, and how much of something was there.  These exist always: "cpu", "wall", "heap" (what is in use),
 * "allocs" (the same samples, shown as all that was allocated), "block", "mutex", "threadcreate", "threads" (where all
 * threads are now).
 */
struct trace2_profile;

/*
 * A new profile, for what has to be given back: files, connections.  It is never deleted.
 * name    not empty, at most 255 bytes without blanks and commas
 * Errors  EEXIST: there is one of this name; EINVAL; ENOSPC: there are 64 already
 */
int trace2_prof_new(const char *name, struct trace2_profile **profile);

/* The profile of this name, or NULL. */
struct trace2_profile *trace2_prof_lookup(const char *name);

/*
 * Its name, for the life of the process, of NULL: NULL; stacks, or values of one of the program's own, that are in it,
 * of NULL: 0.
 */
const char *trace2_prof_name(const struct trace2_profile *profile);
size_t trace2_prof_count(const struct trace2_profile *profile);

/* Call visit(profile, data) for each, by name, until one does not return 0.  Return  what the last one did */
int trace2_prof_each(int (*visit)(struct trace2_profile *profile, void *data), void *data);

/*
 * Add a value, any pointer, to a profile of the program's own, with the stack of the call; without the skip innermost
 * functions: 0 begins with the caller.  Remove it: nothing happens if it is not there.
 * Errors  EEXIST: it is there already; EINVAL: not a profile of trace2_prof_new(); ENOMEM
 */
int trace2_prof_add(struct trace2_profile *profile, const void *value, unsigned skip);
void trace2_prof_remove(struct trace2_profile *profile, const void *value);

/*
 * Write a profile as it is now.  "threads" takes a sample of each thread for that, also into the trace, by a real-time
 * signal that the program does not use; calls that no signal handler leaves uninterrupted fail with EINTR: nanosleep(),
 * poll(), epoll_wait(), see signal(7).
 * A thread that has not answered after 2 seconds, or blocks the signal, is there without its stack.
 * debug   0: gzip of profile.proto, for `go tool pprof`; 1: text, as Go's, with the names that the process itself
 *         knows; 2: of "threads": each thread's stack, as in a crash report; of others as 1
 * Errors  those of write(); EINVAL; ENOMEM; EBUSY: "threads", and the program uses all real-time signals
 */
int trace2_prof_write_to(struct trace2_profile *profile, int fd, int debug);

/* "heap" with debug 0. */
int trace2_prof_write_heap(int fd);

/* ---- for an HTTP server of the program's own ----------------------------------------------------- */

/*
 * A part of an answer: its headers, each with a call, then its body in pieces; there is always a header.
 * status  of HTTP, the same in all parts.  0: the answer is still being made, no part is there, and the function says
 *         whether anybody waits for it; ten times a second
 * header  the name; bytes is the value, which has a NUL behind it.  NULL: bytes belong to the body
 * Return  0; another number: the client has gone, or cannot be written to
 */
typedef int trace2_pprof_write_fn(void *context, unsigned status, const char *header, const void *bytes, size_t n);

/*
 * Answer a request below /debug/pprof/, wherever that is in the path, as Go's net/http/pprof does, and `t2 serve' for
 * other processes: for `go tool pprof http://...', Parca and their like.  trace2-prof(3) lists the pages.  The request
 * may be hostile; who may ask is for the program to decide.
 * path    as the client sent it; the query may be behind a `?' in it
 * query   as the client sent it, without `?'; of a POST to symbol the body; NULL: the path has it, or there is none
 * write   gets the answer, also one that is an error of HTTP; calls are of this thread
 * Return  0: answered; ENOENT: the path is another page's, nothing was written; EINVAL; or what write has returned
 * Blocks  the calling thread for as long as the request asks, up to 300 s; no other thread
 * Memory  as large as the answer; of a trace 64 KiB, on the stack
 */
int trace2_pprof_handle(const char *path, const char *query, trace2_pprof_write_fn *write, void *context);

/* ---- labels ------------------------------------------------------------------------------------- */

/*
 * A set of labels: keys, each with a value.  A set never changes and lives as long as the process; equal sets are one.
 * NULL is the empty set.  The labels of a thread are on all samples of it, and a thread begins with those of the one
 * that created it.
 */
struct trace2_labels;

/*
 * The set with these added, or replaced: key, value, ..., NULL-terminated list of pairs.
 * Errors  EINVAL: a key without a value; ENOSPC: there are 65,536 sets already; ENOMEM
 */
int trace2_prof_labels_with(const struct trace2_labels *labels, const char *const *pairs,
			    const struct trace2_labels **result);

/* The labels of this thread.  Signal safe */
const struct trace2_labels *trace2_prof_labels(void);
void trace2_prof_set_labels(const struct trace2_labels *labels);

/*
 * Call run(data) with these labels; behind it the thread has again those that it had, also if it throws, but not if it
 * leaves by longjmp().
 */
void trace2_prof_do(const struct trace2_labels *labels, void (*run)(void *data), void *data);

/* The value of a key, or NULL; visit(key, value, data) for each, by key, until one does not return 0. */
const char *trace2_prof_label(const struct trace2_labels *labels, const char *key);
int trace2_prof_each_label(const struct trace2_labels *labels,
			   int (*visit)(const char *key, const char *value, void *data), void *data);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
