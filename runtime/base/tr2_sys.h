/* SPDX-License-Identifier: MIT */
/*
 * tr2_sys.h - system calls that no library can intercept.
 *
 * A program, or a library in LD_PRELOAD, may define write(), close() or nanosleep() itself and record each call.  If
 * the library called these, its own work would become events, and a recording call would enter itself.  So on x86-64
 * and aarch64 the library makes its system calls directly.  On other machines it calls libc; with sanitizers, too, for
 * these have to see what the kernel writes.  A direct call is no cancellation point.
 *
 * Each function is what libc's of that name is: same arguments, same result, -1 with errno.  Exceptions are noted.
 * Thread  any    Signal safe
 */
#ifndef TR2_SYS_H
#define TR2_SYS_H

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <time.h>

/* ---- files ----------------------------------------------------------------------------------------- */

int tr2_sys_open(const char *path, int flags, mode_t mode);
int tr2_sys_memfd(const char *name, unsigned flags);
int tr2_sys_close(int fd);
ssize_t tr2_sys_read(int fd, void *data, size_t bytes);
ssize_t tr2_sys_pread(int fd, void *data, size_t bytes, off_t at);
ssize_t tr2_sys_write(int fd, const void *data, size_t bytes);
off_t tr2_sys_lseek(int fd, off_t offset, int whence);
int tr2_sys_fcntl(int fd, int command, long argument);
int tr2_sys_fstat(int fd, struct stat *st);
int tr2_sys_stat(const char *path, struct stat *st);
int tr2_sys_statfs(const char *path, struct statfs *st);
int tr2_sys_ftruncate(int fd, off_t bytes);
int tr2_sys_fallocate(int fd, off_t at, off_t bytes);
int tr2_sys_fchmod(int fd, mode_t mode);
int tr2_sys_isatty(int fd);
int tr2_sys_unlink(const char *path);
ssize_t tr2_sys_readlink(const char *path, char *target, size_t bytes);
ssize_t tr2_sys_getdents(int fd, void *entries, size_t bytes);

int tr2_sys_socket(int domain, int type);
int tr2_sys_connect(int fd, const struct sockaddr *address, socklen_t bytes);
ssize_t tr2_sys_send(int fd, const void *data, size_t bytes, int flags);
int tr2_sys_poll(struct pollfd *fds, nfds_t n, int ms);

/* ---- memory ---------------------------------------------------------------------------------------- */

/* At an address that the kernel chooses; at hint, if that is free.  Return  NULL with errno */
void *tr2_sys_map(size_t bytes, int protection, int flags, int fd);
void *tr2_sys_map_at(void *hint, size_t bytes, int protection, int flags, int fd, off_t at);
int tr2_sys_unmap(void *address, size_t bytes);
int tr2_sys_move(void *address, size_t bytes, void *to);   /* mremap(2), in the place of what is there */
int tr2_sys_grow(void *address, size_t bytes, size_t to);  /* mremap(2), where it is */
int tr2_sys_protect(void *address, size_t bytes, int protection);
int tr2_sys_advise(void *address, size_t bytes, int advice);
int tr2_sys_unlock(void *address, size_t bytes);

/* ---- processes and threads -------------------------------------------------------------------------- */

pid_t tr2_sys_getpid(void);
pid_t tr2_sys_getppid(void);
pid_t tr2_sys_gettid(void);
int tr2_sys_is_thread(pid_t tid);                 /* 1: of this process, and still there */
uid_t tr2_sys_geteuid(void);
int tr2_sys_getrlimit(unsigned resource, struct rlimit *limit);
int tr2_sys_prctl(int option, unsigned long argument);
void tr2_sys_yield(void);
void tr2_sys_sleep(long ns);                      /* less than a second; a signal ends it */
int tr2_sys_getaffinity(cpu_set_t *processors);   /* of the calling thread, as all below */
int tr2_sys_setaffinity(const cpu_set_t *processors);
int tr2_sys_getscheduler(void);
int tr2_sys_setscheduler(int policy, const struct sched_param *parameter);

/* futex(2), with a relative timeout or NULL.  Return  0 or -1, with errno */
int tr2_sys_futex(const uint32_t *word, int operation, uint32_t value, const struct timespec *timeout);

/* Add 1 to a word in shared memory and wake all who wait for it.  Return  -1: with errno; EFAULT: it is gone */
int tr2_sys_futex_ring(uint32_t *word);

/* ---- signals --------------------------------------------------------------------------------------- */

/* What the calling thread blocks, a bit each, as the kernel has it.  set, old: NULL or the new and the present ones */
void tr2_sys_sigmask(const uint64_t *set, uint64_t *old);

/* A signal's action, as the kernel has it. */
struct tr2_sys_action {
	void (*handler)(int);     /* or SIG_DFL, SIG_IGN */
	unsigned long flags;
	uint64_t mask;
};

int tr2_sys_sigaction(int signal, struct tr2_sys_action *now);
int tr2_sys_sigaltstack(stack_t *now);
int tr2_sys_sigpending(sigset_t *pending);

/* Take a pending signal of the set back, if there is one: does not wait. */
int tr2_sys_sigtake(const sigset_t *set);

/* ---- time ------------------------------------------------------------------------------------------ */

/* Look for the kernel's function that reads clocks without a system call.  Once, before other threads read clocks. */
void tr2_sys_clock_init(void);
void tr2_sys_clock(clockid_t clock, struct timespec *now);

/* 1 if that function computes its time from the time stamp counter; 0: /sys may know.  As tr2_vdso_trusts_counter() */
int tr2_sys_clock_is_counter(void);

#endif
