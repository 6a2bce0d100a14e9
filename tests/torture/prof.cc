// SPDX-License-Identifier: MIT
//
// prof.cc - P15: a program that knows nothing of the profiler in front of it, and does all that could upset one.
//
//   prof storm SECONDS PLUGIN   threads that come and go, contend for locks, free each other's memory, throw, load and
//                               unload code, fork; and a thread whose signal handler allocates.  Prints the bytes that
//                               it has allocated, and those of them that it keeps.
//   prof facts DIRECTORY        profiles that it writes into the directory itself, of what it knows how much there was:
//                               prints the name of each, and the bounds of its sum
//
// Compiled with -DPLUGIN it is the plugin; with -DLINKED the profiler is in it, both with a sanitizer.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#ifdef PLUGIN

static void fall(int depth)
{
	std::string text(100, 'x');

	if (!depth)
		throw std::runtime_error(text);
	fall(depth - 1);
}

extern "C" int plugin_run(int depth)
{
	try {
		fall(depth);
	} catch (const std::exception &error) {
		return int(strlen(error.what()));
	}
	return 0;
}

#else

#include <cerrno>
#include <csignal>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace2_prof.h"

// ---- the profiler, if it is linked ----------------------------------------------------------------------

#ifdef LINKED
// It stands in front of nothing then: the sanitizer's allocator tells of each block, threads that they begin.
extern "C" {
// of sanitizer/allocator_interface.h, which gcc's packages lack
int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void *, size_t), void (*)(const volatile void *));
#include "prof/tr2p_create.h"
#include "prof/tr2p_heap.h"
}

static void note_malloc(const volatile void *address, size_t size)
{
	if (!tr2p_heap_passes(size))
		tr2p_heap_allocated(const_cast<void *>(address), size, __builtin_return_address(0));
}

static void note_free(const volatile void *address)
{
	if (tr2p_live_may_have(const_cast<void *>(address)))
		tr2p_heap_freed(const_cast<void *>(address));
}

static void watch_malloc()
{
	__sanitizer_install_malloc_and_free_hooks(note_malloc, note_free);
}

static void begin_thread()
{
	tr2p_create_begin();
}
#else
static void watch_malloc()
{
}

static void begin_thread()
{
}
#endif

// ---- what all do ----------------------------------------------------------------------------------------

static std::atomic<uint64_t> allocated;
static std::atomic<bool> is_over;
static std::atomic<unsigned> failures;
static const char *plugin;

// What failed, and where: the first of them.
#define FAILED() (failures++ ? (void)0 : (void)fprintf(stderr, "line %d: %m\n", __LINE__))

static void *take(size_t n)
{
	void *block = malloc(n);

	if (block)
		allocated += n;
	else
		FAILED();
	return block;
}

// ---- threads of the storm ----------------------------------------------------------------------------

enum { SLOTS = 256 };
static std::atomic<void *> slots[SLOTS];

static void *pass_memory(void *data)
{
	for (unsigned i = unsigned(uintptr_t(data)); !is_over; i++) {
		void *block = slots[i % SLOTS].exchange(take(50 + i % 1000));
		if (i % 3 || !(block = realloc(block, 2000)))
			free(block);
		else {
			allocated += 2000;
			free(block);
		}
		if (i % 1000 == 0)
			usleep(2000);
	}
	return nullptr;
}

static void *live_shortly(void *)
{
	begin_thread();
	free(take(3000));
	return nullptr;
}

static void *create_threads(void *)
{
	pthread_t thread;

	while (!is_over) {
		if (pthread_create(&thread, nullptr, live_shortly, nullptr))
			FAILED();
		else
			pthread_join(thread, nullptr);
		usleep(500);
	}
	return nullptr;
}

static void fall(int depth)
{
	std::string text(100, 'x');

	if (!depth)
		throw std::runtime_error(text);
	fall(depth - 1);
}

static void *throw_and_catch(void *)
{
	for (int i = 0; !is_over; i++) {
		try {
			fall(i % 30);
			FAILED();
		} catch (const std::runtime_error &) {
		}
		if (i % 100 == 0)
			usleep(1000);
	}
	return nullptr;
}

static void *load_and_unload(void *)
{
	while (!is_over) {
		void *library = dlopen(plugin, RTLD_NOW);
		auto run = library ? reinterpret_cast<int (*)(int)>(dlsym(library, "plugin_run")) : nullptr;
		if (!run || run(5) != 100)
			FAILED();
		if (library)
			dlclose(library);
		usleep(300);
	}
	return nullptr;
}

// What AddressSanitizer's allocator has locked for another thread when this one forks, stays locked in the child: those of
// gcc 12 and clang 14 do not wait for it.
#ifdef __has_feature
#define HAS_ASAN __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#else
#define HAS_ASAN 0
#endif

static void *fork_children(void *)
{
	int status;

	while (!is_over) {
		pid_t child = fork();
		if (!child) {
			alarm(300);   // a child that hangs
			for (int i = 0; !HAS_ASAN && i < 20; i++)
				free(malloc(size_t(1000 * i)));
			_exit(failures ? 1 : 0);
		}
		if (child < 0 || waitpid(child, &status, 0) != child || status)
			FAILED();
		usleep(20000);
	}
	return nullptr;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t guarded;

static void *contend(void *)
{
	for (unsigned i = 0; !is_over; i++) {
		pthread_mutex_lock(&lock);
		guarded++;
		if (i % 50 == 0)
			usleep(100);
		pthread_mutex_unlock(&lock);
	}
	return nullptr;
}

static std::atomic<bool> is_spinning;

// It interrupts spin(), which allocates nothing, and what the profiler's own handler does meanwhile.  Not what comes in
// front of it: a thread that begins may be in the midst of an allocator.
static void handle(int)
{
	void *block = malloc(700);

	block = realloc(block, 1500);
	free(block);
}

static void *spin(void *)
{
	static volatile unsigned spun;

	is_spinning = true;
	while (!is_over)
		spun = spun + 1;
	return nullptr;
}

enum { THREADS = 9 };
static void *(*const threads[THREADS])(void *) = { spin, pass_memory, pass_memory, create_threads, throw_and_catch,
						   load_and_unload, fork_children, contend, contend };

static void *run(void *data)
{
	begin_thread();
	return threads[uintptr_t(data)](data);
}

static int storm(unsigned seconds)
{
	enum { KEPT = 64, SIZE = 1 << 20 };
	pthread_t ids[THREADS];
	static void *volatile kept[KEPT];

	watch_malloc();
	for (auto &block : kept)
		block = take(SIZE);
	signal(SIGUSR1, handle);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&ids[i], nullptr, run, reinterpret_cast<void *>(i)))
			return 1;
	while (!is_spinning)
		usleep(100);
	for (unsigned i = 0; i < seconds * 1000; i++) {
		pthread_kill(ids[0], SIGUSR1);
		usleep(1000);
	}
	is_over = true;
	for (auto &id : ids)
		pthread_join(id, nullptr);
	for (auto &slot : slots)
		free(slot.exchange(nullptr));
	printf("%llu %llu\n", static_cast<unsigned long long>(allocated), static_cast<unsigned long long>(KEPT) * SIZE);
	if (failures)
		fprintf(stderr, "%u failures\n", failures.load());
	return failures ? 1 : 0;
}

// ---- the facts -------------------------------------------------------------------------------------------

#ifndef LINKED
enum { HZ = 1000, MS = 1000000, ODD_ERRNO = 12345 };

// A function of the profiler in front, which this program is not linked with.
template <typename Function> static Function *find(const char *name)
{
	auto found = reinterpret_cast<Function *>(dlsym(RTLD_DEFAULT, name));

	if (!found) {
		fprintf(stderr, "no %s\n", name);
		exit(2);
	}
	return found;
}
#define CALL(name) find<decltype(name)>(#name)

static int64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return int64_t(now.tv_sec) * 1000 * MS + now.tv_nsec;
}

static void write_profile(const char *profile, const char *directory, const char *name)
{
	std::string path = std::string(directory) + "/" + name + ".pb.gz";
	int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || CALL(trace2_prof_write_to)(CALL(trace2_prof_lookup)(profile), fd, 0))
		FAILED();
	close(fd);
}

static void say(const char *name, int64_t low, int64_t high)
{
	printf("%s %lld %lld\n", name, static_cast<long long>(low), static_cast<long long>(high));
	fflush(stdout);
}

static bool is_tick_pending()
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, SIGPROF);
}

// A tick that waits to be taken counts those behind it; none of them changes errno.  Each is waited for: the clock of a
// virtual machine may interrupt 100 ms late.  And the profiler's thread, which looks at this one, may get a processor
// late: another tick behind the end shows that it has looked since.
static void report_ticks(const char *directory)
{
	int64_t before = read_clock(CLOCK_MONOTONIC), start, start_to_wait, end;
	const auto count = CALL(trace2_prof_count);
	const auto wall = CALL(trace2_prof_lookup)("wall");
	sigset_t ticks;

	failures += CALL(trace2_prof_start_wall)(HZ) != 0;
	start = read_clock(CLOCK_MONOTONIC);
	errno = ODD_ERRNO;
	while (read_clock(CLOCK_MONOTONIC) < start + 20 * MS || !count(wall))
		;
	if (errno != ODD_ERRNO) {
		fprintf(stderr, "errno is %d\n", errno);
		FAILED();
	}
	sigemptyset(&ticks);
	sigaddset(&ticks, SIGPROF);
	pthread_sigmask(SIG_BLOCK, &ticks, nullptr);
	start_to_wait = read_clock(CLOCK_MONOTONIC);
	while (read_clock(CLOCK_MONOTONIC) < start_to_wait + 200 * MS || !is_tick_pending())
		;   // its ticks come while it runs
	end = read_clock(CLOCK_MONOTONIC);   // what comes behind the last look is lost by the stop
	pthread_sigmask(SIG_UNBLOCK, &ticks, nullptr);   // takes the tick that waits
	pthread_sigmask(SIG_BLOCK, &ticks, nullptr);
	while (!is_tick_pending())
		;
	pthread_sigmask(SIG_UNBLOCK, &ticks, nullptr);
	CALL(trace2_prof_stop_wall)();
	write_profile("wall", directory, "ticks");
	say("ticks", end - start - 2 * MS, read_clock(CLOCK_MONOTONIC) - before + 2 * MS);
}

// Of 1,000,000 blocks, at a rate of which their size is a fortieth.
static void report_blocks(const char *directory)
{
	enum { BLOCKS = 1000000, SIZE = 100, RATE = 4000 };

	CALL(trace2_prof_set_heap_rate)(RATE);
	for (int i = 0; i < BLOCKS; i++) {
		void *volatile block = malloc(SIZE);
		free(block);
	}
	CALL(trace2_prof_set_heap_rate)(0);
	write_profile("heap", directory, "blocks");
	say("blocks", int64_t(BLOCKS) * SIZE / 20 * 19, int64_t(BLOCKS) * SIZE / 20 * 21);
}

// A child has timers of its own: to stop one clock does not stop the other.  The first timer of the process is that of
// the wall, whose number the child's other one has.
static void report_child(const char *directory)
{
	volatile unsigned spun = 0;
	int status = 0;
	pid_t child;

	failures += CALL(trace2_prof_start_wall)(HZ) != 0;
	failures += CALL(trace2_prof_start_cpu)(HZ) != 0;
	fflush(stdout);
	child = fork();
	if (!child) {
		int64_t start, used;
		CALL(trace2_prof_stop_wall)();
		start = read_clock(CLOCK_THREAD_CPUTIME_ID);
		while ((used = read_clock(CLOCK_THREAD_CPUTIME_ID) - start) < 400 * MS)
			for (int i = 0; i < 1000; i++)
				spun = spun + 1;
		CALL(trace2_prof_stop_cpu)();
		write_profile("cpu", directory, "child");
		say("child", used / 2, 2 * used);
		_exit(failures ? 1 : 0);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	CALL(trace2_prof_stop_wall)();
	CALL(trace2_prof_stop_cpu)();
	failures += child < 0 || status != 0;
}

static int facts(const char *directory)
{
	report_child(directory);
	report_ticks(directory);
	report_blocks(directory);
	if (failures)
		fprintf(stderr, "%u failures\n", failures.load());
	return failures ? 1 : 0;
}
#else
static int facts(const char *)
{
	return 2;
}
#endif

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "storm")) {
		plugin = argv[3];
		return storm(unsigned(atoi(argv[2])));
	}
	if (argc == 3 && !strcmp(argv[1], "facts"))
		return facts(argv[2]);
	fprintf(stderr, "usage: prof storm SECONDS PLUGIN | prof facts DIRECTORY\n");
	return 2;
}

#endif
