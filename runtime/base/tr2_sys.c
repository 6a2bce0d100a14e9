/* SPDX-License-Identifier: MIT */
/* tr2_sys.c - see tr2_sys.h. */
#include "tr2_sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "tr2_vdso.h"

/*
 * Of two system calls for the same the older one is made, where the machine has it: as libc does, for whoever lets a
 * program make some calls and no others.
 */

/* ---- how ------------------------------------------------------------------------------------------- */

#if defined(__x86_64__) && !defined(__ILP32__) && !defined(TR2_IS_SANITIZED)
#define IS_DIRECT 1

static inline long call_kernel(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}
#elif defined(__aarch64__) && !defined(__ILP32__) && !defined(TR2_IS_SANITIZED)
#define IS_DIRECT 1

static inline long call_kernel(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}
#else
#define IS_DIRECT 0
#endif

#if IS_DIRECT
/* The kernel's result as libc's functions have it. */
static long result_of(long result)
{
	enum { MAX_ERRNO = 4095 };

	if (result >= 0 || result < -MAX_ERRNO)
		return result;
	errno = (int)-result;
	return -1;
}

#define CALL_(number, a, b, c, d, e, f, ...) result_of(call_kernel(number, (long)(a), (long)(b), (long)(c), (long)(d), \
								   (long)(e), (long)(f)))
/* A system call with up to six arguments, or libc's function that makes it. */
#define CALL(libc, ...) CALL_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#else
#define CALL(libc, ...) (libc)
#endif

/* ---- files ----------------------------------------------------------------------------------------- */

int tr2_sys_open(const char *path, int flags, mode_t mode)
{
	return (int)CALL(open(path, flags, mode), SYS_openat, AT_FDCWD, path, flags, mode);
}

int tr2_sys_memfd(const char *name, unsigned flags)
{
	return (int)CALL(memfd_create(name, flags), SYS_memfd_create, name, flags);
}

int tr2_sys_close(int fd)
{
	return (int)CALL(close(fd), SYS_close, fd);
}

ssize_t tr2_sys_read(int fd, void *data, size_t bytes)
{
	return CALL(read(fd, data, bytes), SYS_read, fd, data, bytes);
}

ssize_t tr2_sys_pread(int fd, void *data, size_t bytes, off_t at)
{
	return CALL(pread(fd, data, bytes, at), SYS_pread64, fd, data, bytes, at);
}

ssize_t tr2_sys_write(int fd, const void *data, size_t bytes)
{
	return CALL(write(fd, data, bytes), SYS_write, fd, data, bytes);
}

off_t tr2_sys_lseek(int fd, off_t offset, int whence)
{
	return (off_t)CALL(lseek(fd, offset, whence), SYS_lseek, fd, offset, whence);
}

int tr2_sys_fcntl(int fd, int command, long argument)
{
	return (int)CALL(fcntl(fd, command, argument), SYS_fcntl, fd, command, argument);
}

int tr2_sys_fstat(int fd, struct stat *st)
{
	return (int)CALL(fstat(fd, st), SYS_fstat, fd, st);
}

int tr2_sys_stat(const char *path, struct stat *st)
{
	return (int)CALL(stat(path, st), SYS_newfstatat, AT_FDCWD, path, st, 0);
}

int tr2_sys_statfs(const char *path, struct statfs *st)
{
	return (int)CALL(statfs(path, st), SYS_statfs, path, st);
}

int tr2_sys_ftruncate(int fd, off_t bytes)
{
	return (int)CALL(ftruncate(fd, bytes), SYS_ftruncate, fd, bytes);
}

int tr2_sys_fallocate(int fd, off_t at, off_t bytes)
{
	return (int)CALL(fallocate(fd, 0, at, bytes), SYS_fallocate, fd, 0, at, bytes);
}

int tr2_sys_fchmod(int fd, mode_t mode)
{
	return (int)CALL(fchmod(fd, mode), SYS_fchmod, fd, mode);
}

/* The kernel's struct termios is smaller than libc's. */
int tr2_sys_isatty(int fd)
{
#if IS_DIRECT
	struct termios settings;

	return !CALL(0, SYS_ioctl, fd, TCGETS, &settings);
#else
	return isatty(fd);
#endif
}

int tr2_sys_unlink(const char *path)
{
#ifdef SYS_unlink
	return (int)CALL(unlink(path), SYS_unlink, path);
#else
	return (int)CALL(unlink(path), SYS_unlinkat, AT_FDCWD, path, 0);
#endif
}

ssize_t tr2_sys_readlink(const char *path, char *target, size_t bytes)
{
#ifdef SYS_readlink
	return CALL(readlink(path, target, bytes), SYS_readlink, path, target, bytes);
#else
	return CALL(readlink(path, target, bytes), SYS_readlinkat, AT_FDCWD, path, target, bytes);
#endif
}

ssize_t tr2_sys_getdents(int fd, void *entries, size_t bytes)
{
	return CALL(getdents64(fd, entries, bytes), SYS_getdents64, fd, entries, bytes);
}

int tr2_sys_socket(int domain, int type)
{
	return (int)CALL(socket(domain, type, 0), SYS_socket, domain, type, 0);
}

int tr2_sys_connect(int fd, const struct sockaddr *address, socklen_t bytes)
{
	return (int)CALL(connect(fd, address, bytes), SYS_connect, fd, address, bytes);
}

ssize_t tr2_sys_send(int fd, const void *data, size_t bytes, int flags)
{
	return CALL(send(fd, data, bytes, flags), SYS_sendto, fd, data, bytes, flags, NULL, 0);
}

int tr2_sys_poll(struct pollfd *fds, nfds_t n, int ms)
{
#ifdef SYS_poll
	return (int)CALL(poll(fds, n, ms), SYS_poll, fds, n, ms);
#else
	struct timespec timeout = { ms / 1000, (long)(ms % 1000) * 1000000 };

	return (int)CALL(ppoll(fds, n, ms < 0 ? NULL : &timeout, NULL), SYS_ppoll, fds, n, ms < 0 ? NULL : &timeout,
			 NULL, sizeof(uint64_t));
#endif
}

/* ---- memory ---------------------------------------------------------------------------------------- */

void *tr2_sys_map_at(void *hint, size_t bytes, int protection, int flags, int fd, off_t at)
{
	void *memory = (void *)CALL(mmap(hint, bytes, protection, flags, fd, at), SYS_mmap, hint, bytes, protection,
				    flags, fd, at);

	return memory == MAP_FAILED ? NULL : memory;
}

void *tr2_sys_map(size_t bytes, int protection, int flags, int fd)
{
	return tr2_sys_map_at(NULL, bytes, protection, flags, fd, 0);
}

int tr2_sys_unmap(void *address, size_t bytes)
{
	return (int)CALL(munmap(address, bytes), SYS_munmap, address, bytes);
}

int tr2_sys_move(void *address, size_t bytes, void *to)
{
	const int flags = MREMAP_MAYMOVE | MREMAP_FIXED;
	void *memory = (void *)CALL(mremap(address, bytes, bytes, flags, to), SYS_mremap, address, bytes, bytes, flags,
				    to);

	return memory == MAP_FAILED ? -1 : 0;
}

int tr2_sys_grow(void *address, size_t bytes, size_t to)
{
	void *memory = (void *)CALL(mremap(address, bytes, to, 0), SYS_mremap, address, bytes, to, 0, 0);

	return memory == MAP_FAILED ? -1 : 0;
}

int tr2_sys_protect(void *address, size_t bytes, int protection)
{
	return (int)CALL(mprotect(address, bytes, protection), SYS_mprotect, address, bytes, protection);
}

int tr2_sys_advise(void *address, size_t bytes, int advice)
{
	return (int)CALL(madvise(address, bytes, advice), SYS_madvise, address, bytes, advice);
}

int tr2_sys_unlock(void *address, size_t bytes)
{
	return (int)CALL(munlock(address, bytes), SYS_munlock, address, bytes);
}

/* ---- processes and threads -------------------------------------------------------------------------- */

pid_t tr2_sys_getpid(void)
{
	return (pid_t)CALL(getpid(), SYS_getpid);
}

pid_t tr2_sys_getppid(void)
{
	return (pid_t)CALL(getppid(), SYS_getppid);
}

uid_t tr2_sys_geteuid(void)
{
	return (uid_t)CALL(geteuid(), SYS_geteuid);
}

pid_t tr2_sys_gettid(void)
{
	return (pid_t)CALL(syscall(SYS_gettid), SYS_gettid);
}

int tr2_sys_is_thread(pid_t tid)
{
	const pid_t pid = tr2_sys_getpid();

	return !CALL(syscall(SYS_tgkill, pid, tid, 0), SYS_tgkill, pid, tid, 0);
}

int tr2_sys_getrlimit(unsigned resource, struct rlimit *limit)
{
	return (int)CALL(getrlimit(resource, limit), SYS_prlimit64, 0, resource, NULL, limit);
}

int tr2_sys_prctl(int option, unsigned long argument)
{
	return (int)CALL(prctl(option, argument), SYS_prctl, option, argument);
}

void tr2_sys_yield(void)
{
	(void)CALL(sched_yield(), SYS_sched_yield);
}

void tr2_sys_sleep(long ns)
{
	const struct timespec time = { 0, ns };

	(void)CALL(nanosleep(&time, NULL), SYS_clock_nanosleep, CLOCK_REALTIME, 0, &time, NULL);
}

/* The kernel's result is how many bytes of the set it has. */
int tr2_sys_getaffinity(cpu_set_t *processors)
{
	memset(processors, 0, sizeof(*processors));
	return CALL(sched_getaffinity(0, sizeof(*processors), processors), SYS_sched_getaffinity, 0,
		    sizeof(*processors), processors) < 0 ? -1 : 0;
}

int tr2_sys_setaffinity(const cpu_set_t *processors)
{
	return (int)CALL(sched_setaffinity(0, sizeof(*processors), processors), SYS_sched_setaffinity, 0,
			 sizeof(*processors), processors);
}

int tr2_sys_getscheduler(void)
{
	return (int)CALL(sched_getscheduler(0), SYS_sched_getscheduler, 0);
}

int tr2_sys_setscheduler(int policy, const struct sched_param *parameter)
{
	return (int)CALL(sched_setscheduler(0, policy, parameter), SYS_sched_setscheduler, 0, policy, parameter);
}

/* The call that takes a struct timespec as it is compiled here: with 64-bit times on machines of 32 bits. */
#ifdef SYS_futex_time64
#define FUTEX_NUMBER SYS_futex_time64
#else
#define FUTEX_NUMBER SYS_futex
#endif

int tr2_sys_futex(const uint32_t *word, int operation, uint32_t value, const struct timespec *timeout)
{
	return (int)CALL(syscall(FUTEX_NUMBER, word, operation, value, timeout, NULL, 0), FUTEX_NUMBER, word, operation,
			 value, timeout, NULL, 0);
}

/* The kernel adds, so that a page without memory is an error and no signal; then it also wakes one of the same word. */
int tr2_sys_futex_ring(uint32_t *word)
{
	const unsigned all = INT_MAX, add = FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_EQ, 0);

	return (int)CALL(syscall(FUTEX_NUMBER, word, FUTEX_WAKE_OP, all, NULL, word, add), FUTEX_NUMBER, word,
			 FUTEX_WAKE_OP, all, NULL, word, add);
}

/* ---- signals --------------------------------------------------------------------------------------- */

/* libc's function would leave out its own signals. */
void tr2_sys_sigmask(const uint64_t *set, uint64_t *old)
{
	(void)CALL(syscall(SYS_rt_sigprocmask, SIG_SETMASK, set, old, sizeof(*set)), SYS_rt_sigprocmask, SIG_SETMASK,
		   set, old, sizeof(*set));
}

#if IS_DIRECT
int tr2_sys_sigaction(int signal, struct tr2_sys_action *now)
{
	struct {
		void (*handler)(int);
		unsigned long flags;
		void (*restorer)(void);
		uint64_t mask;
	} action;

	if (CALL(0, SYS_rt_sigaction, signal, NULL, &action, sizeof(action.mask)) < 0)
		return -1;
	*now = (struct tr2_sys_action){ action.handler, action.flags, action.mask };
	return 0;
}
#else
int tr2_sys_sigaction(int signal, struct tr2_sys_action *now)
{
	struct sigaction action;

	if (sigaction(signal, NULL, &action))
		return -1;
	*now = (struct tr2_sys_action){ .handler = action.sa_handler, .flags = (unsigned long)action.sa_flags };
	for (int other = 1; other <= 64; other++)
		if (sigismember(&action.sa_mask, other) == 1)
			now->mask |= UINT64_C(1) << (other - 1);
	return 0;
}
#endif

int tr2_sys_sigaltstack(stack_t *now)
{
	return (int)CALL(sigaltstack(NULL, now), SYS_sigaltstack, NULL, now);
}

int tr2_sys_sigpending(sigset_t *pending)
{
	sigemptyset(pending);
	return (int)CALL(sigpending(pending), SYS_rt_sigpending, pending, sizeof(uint64_t));
}

int tr2_sys_sigtake(const sigset_t *set)
{
	static const struct timespec at_once = { 0, 0 };

	return (int)CALL(sigtimedwait(set, NULL, &at_once), SYS_rt_sigtimedwait, set, NULL, &at_once, sizeof(uint64_t));
}

/* ---- time ------------------------------------------------------------------------------------------ */

#if IS_DIRECT
static tr2_vdso_clock *g_read_clock;   /* NULL: the system call */
#endif

void tr2_sys_clock_init(void)
{
#if IS_DIRECT
	g_read_clock = tr2_vdso_find_clock();
#endif
}

#if IS_DIRECT
/* The kernel reads the word before it would wait. */
static int is_readable(const void *word)
{
	const struct timespec at_once = { 0, 0 };
	int saved = errno, readable;

	readable = tr2_sys_futex(word, FUTEX_WAIT_PRIVATE, 1, &at_once) < 0 && (errno == EAGAIN || errno == ETIMEDOUT);
	errno = saved;
	return readable;
}
#endif

int tr2_sys_clock_is_counter(void)
{
#if IS_DIRECT
	return tr2_vdso_trusts_counter(g_read_clock, is_readable);
#else
	return 0;
#endif
}

void tr2_sys_clock(clockid_t clock, struct timespec *now)
{
#if IS_DIRECT
	if (g_read_clock && !g_read_clock(clock, now))
		return;
#endif
	(void)CALL(clock_gettime(clock, now), SYS_clock_gettime, clock, now);
}
