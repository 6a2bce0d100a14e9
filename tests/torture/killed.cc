// SPDX-License-Identifier: MIT
//
// killed.cc - P15: a program that has samples of all kinds taken until it is killed, and counts them, independently of the
// profiler, in a page that outlives it: each before it is taken, and again when that is done.
//
//   killed    threads that allocate and free blocks of BLOCK bytes, wait for each other, create threads, add to a profile
//             of the program's own and remove from it
//
// Compiled with -DCOUNTER it is a library to be loaded behind the profiler: it has the page, the file $KILLED_COUNTS, and
// stands between the profiler and libc, to count ticks of CPU time; and between it and libtrace2, to count samples of the
// wall clock, of which most have no tick.
#include <atomic>
#include <cstdint>

namespace {

enum kind { CPU, WALL, HEAP, FREED, BLOCK_WAITS, MUTEX, CREATED, ADDED, REMOVED, KINDS };

struct count {
	std::atomic<uint64_t> begun, done;
};

}

#ifdef COUNTER

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

extern "C" {
#include "record/tr2_sample.h"
}

namespace {

void (*theirs)(int, siginfo_t *, void *);
std::atomic<void *> latest;                   // of the timer that was made last
std::atomic<void *> cookie;                   // of ticks of CPU time

template <typename Function> Function *next(const char *name)
{
	return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

}

static count *page_of_counts()
{
	static count *const counts = [] {
		int fd = open(getenv("KILLED_COUNTS"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		void *page = nullptr;
		if (fd < 0 || ftruncate(fd, sizeof(count[KINDS])) ||
		    (page = mmap(nullptr, sizeof(count[KINDS]), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED)
			abort();
		close(fd);
		return static_cast<count *>(page);
	}();

	return counts;
}

extern "C" __attribute__((visibility("default"))) void *killed_counts()
{
	return page_of_counts();
}

static void on_tick(int signal, siginfo_t *info, void *context)
{
	uint64_t ticks = 1 + uint64_t(info->si_overrun > 0 ? info->si_overrun : 0);

	if (info->si_value.sival_ptr != cookie)
		ticks = 0;
	page_of_counts()[CPU].begun += ticks;
	theirs(signal, info, context);
	page_of_counts()[CPU].done += ticks;
}

// The first timer of a clock is made before its first tick comes.
extern "C" __attribute__((visibility("default"))) int timer_create(clockid_t clock, sigevent *event, timer_t *timer)
{
	static auto *const create = next<decltype(timer_create)>("timer_create");

	page_of_counts();
	latest = event->sigev_value.sival_ptr;
	return create(clock, event, timer);
}

// That of CPU time is set at once, and goes on; those of the wall clock expire once.
extern "C" __attribute__((visibility("default"))) int timer_settime(timer_t timer, int flags, const itimerspec *value,
								    itimerspec *old)
{
	static auto *const set = next<int(timer_t, int, const itimerspec *, itimerspec *)>("timer_settime");

	if (value->it_interval.tv_sec || value->it_interval.tv_nsec)
		cookie = latest.load();
	return set(timer, flags, value, old);
}

extern "C" __attribute__((visibility("default"))) int tr2_sample_v1(const struct tr2_sample_v1 *sample)
{
	static auto *const record = next<int(const struct tr2_sample_v1 *)>("tr2_sample_v1");
	const uint64_t ticks = strcmp(sample->profile, "wall") ? 0 : uint64_t(sample->count);
	int result;

	page_of_counts()[WALL].begun += ticks;
	result = record(sample);
	page_of_counts()[WALL].done += ticks;
	return result;
}

extern "C" __attribute__((visibility("default"))) int sigaction(int signal, const struct sigaction *action,
								struct sigaction *old)
{
	static auto *const act = next<int(int, const struct sigaction *, struct sigaction *)>("sigaction");
	auto before = theirs;
	struct sigaction ours;
	int result;

	if (signal == SIGPROF && action && action->sa_flags & SA_SIGINFO) {
		ours = *action;
		theirs = action->sa_sigaction;
		ours.sa_sigaction = on_tick;
		action = &ours;
	}
	result = act(signal, action, old);
	if (signal == SIGPROF && old && old->sa_sigaction == on_tick)
		old->sa_sigaction = before;
	return result;
}

#else

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "trace2_prof.h"

extern "C" void *killed_counts();

namespace {

enum { BLOCK = 64 << 20 };

count *counts;

// A function of a library in front, which this program is not linked with.
template <typename Function> Function *find(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	if (!found) {
		fprintf(stderr, "no %s\n", name);
		exit(2);
	}
	return reinterpret_cast<Function *>(found);
}
#define CALL(name) find<decltype(name)>(#name)

struct counted {
	explicit counted(kind kind) : kind_(kind)
	{
		counts[kind_].begun++;
	}
	~counted()
	{
		counts[kind_].done++;
	}
	kind kind_;
};

[[noreturn]] void *allocate(void *)
{
	for (;;) {
		void *volatile block;
		{
			counted one(HEAP);
			block = malloc(BLOCK);
		}
		usleep(20);
		counted one(FREED);
		free(block);
	}
}

[[noreturn]] void *add_and_remove(void *)
{
	trace2_profile *profile = nullptr;

	if (CALL(trace2_prof_new)("things", &profile))
		exit(2);
	for (uintptr_t i = 1;; i++) {
		{
			counted one(ADDED);
			if (CALL(trace2_prof_add)(profile, reinterpret_cast<void *>(i), 0))
				exit(2);
		}
		if (i % 2) {
			counted one(REMOVED);
			CALL(trace2_prof_remove)(profile, reinterpret_cast<void *>(i));
		}
		usleep(20);
	}
}

[[noreturn]] void *wait_in_vain(void *)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	timespec soon;

	pthread_mutex_lock(&lock);
	for (;;) {
		clock_gettime(CLOCK_REALTIME, &soon);
		soon.tv_nsec += 50000;
		soon.tv_sec += soon.tv_nsec / 1000000000;
		soon.tv_nsec %= 1000000000;
		counted one(BLOCK_WAITS);
		pthread_cond_timedwait(&never, &lock, &soon);
	}
}

pthread_mutex_t passed = PTHREAD_MUTEX_INITIALIZER;
std::atomic<bool> is_locked;

// Who has the lock sees in it that the other one waits: 2 is glibc's.
[[noreturn]] void *unlock_for_another(void *)
{
	auto state = reinterpret_cast<const volatile int *>(&passed.__data.__lock);

	for (;;) {
		pthread_mutex_lock(&passed);
		is_locked = true;
		while (*state != 2)
			sched_yield();
		{
			counted one(MUTEX);
			pthread_mutex_unlock(&passed);
		}
		while (is_locked)
			sched_yield();
		usleep(50);
	}
}

[[noreturn]] void *wait_for_the_lock(void *)
{
	for (;;) {
		while (!is_locked)
			usleep(10);
		{
			counted one(BLOCK_WAITS);
			pthread_mutex_lock(&passed);
		}
		pthread_mutex_unlock(&passed);
		is_locked = false;
	}
}

std::atomic<bool> is_alive;

void *live_shortly(void *)
{
	is_alive = false;
	return nullptr;
}

[[noreturn]] void *create_threads(void *)
{
	pthread_attr_t detached;
	pthread_t id;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	for (;;) {
		is_alive = true;
		{
			counted one(CREATED);
			if (pthread_create(&id, &detached, live_shortly, nullptr))
				exit(2);
		}
		while (is_alive)
			usleep(20);
		usleep(200);
	}
}

}

int main()
{
	static void *(*const threads[])(void *) = { allocate, allocate, add_and_remove, wait_in_vain, unlock_for_another,
						    wait_for_the_lock };
	pthread_t id;

	counts = static_cast<count *>(CALL(killed_counts)());
	for (auto thread : threads) {
		counted one(CREATED);
		if (pthread_create(&id, nullptr, thread, nullptr))
			return 1;
	}
	create_threads(nullptr);
}

#endif
