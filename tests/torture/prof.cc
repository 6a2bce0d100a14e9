// SPDX-License-Identifier: MIT
//
// prof.cc - P15: a program that knows nothing of the profiler in front of it, and does all that could upset one.
//
//   prof storm SECONDS PLUGIN   threads that come and go, contend for locks, free each other's memory, throw, load and
//                               unload code, fork; and a thread whose signal handler allocates.  Prints the bytes that
//                               it has allocated, and those of them that it keeps.
//   prof victim FILE            threads that allocate and free blocks of 1 MiB, until killed; and count in the file those
//                               that they have got, and those that they have freed.
//
// Compiled with -DPLUGIN it is the plugin.
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

#include <csignal>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static std::atomic<uint64_t> allocated;
static std::atomic<bool> is_over;
static std::atomic<unsigned> failures;
static const char *plugin;

static void *take(size_t n)
{
	void *block = malloc(n);

	if (block)
		allocated += n;
	else
		failures++;
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
	free(take(3000));
	return nullptr;
}

static void *create_threads(void *)
{
	pthread_t thread;

	while (!is_over) {
		if (pthread_create(&thread, nullptr, live_shortly, nullptr))
			failures++;
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
			failures++;
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
			failures++;
		if (library)
			dlclose(library);
		usleep(300);
	}
	return nullptr;
}

static void *fork_children(void *)
{
	int status;

	while (!is_over) {
		pid_t child = fork();
		if (!child) {
			alarm(60);   // a child that hangs
			for (int i = 0; i < 20; i++)
				free(malloc(size_t(1000 * i)));
			throw_and_catch((is_over = true, nullptr));
			_exit(failures ? 1 : 0);
		}
		if (child < 0 || waitpid(child, &status, 0) != child || status)
			failures++;
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

// It interrupts spin(), which allocates nothing, and what the profiler's own handler does meanwhile.
static void handle(int)
{
	void *block = malloc(700);

	block = realloc(block, 1500);
	free(block);
}

static void *spin(void *)
{
	static volatile unsigned spun;

	while (!is_over)
		spun = spun + 1;
	return nullptr;
}

static int storm(unsigned seconds)
{
	enum { THREADS = 9, KEPT = 64, SIZE = 1 << 20 };
	void *(*const threads[THREADS])(void *) = { spin, pass_memory, pass_memory, create_threads, throw_and_catch,
						    load_and_unload, fork_children, contend, contend };
	pthread_t ids[THREADS];
	static void *volatile kept[KEPT];

	for (auto &block : kept)
		block = take(SIZE);
	signal(SIGUSR1, handle);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&ids[i], nullptr, threads[i], reinterpret_cast<void *>(i)))
			return 1;
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

// ---- the victim ----------------------------------------------------------------------------------------

struct counts {
	std::atomic<uint64_t> got, freed;
};

static void *allocate(void *data)
{
	auto mine = static_cast<counts *>(data);

	for (;;) {
		void *volatile block = malloc(1 << 20);
		mine->got++;
		free(block);
		mine->freed++;
		usleep(20);
	}
	return nullptr;
}

static int victim(const char *path)
{
	enum { THREADS = 3 };
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	pthread_t id;
	void *shared;

	if (fd < 0 || ftruncate(fd, THREADS * sizeof(counts)))
		return 1;
	shared = mmap(nullptr, THREADS * sizeof(counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&id, nullptr, allocate, static_cast<counts *>(shared) + i))
			return 1;
	pause();
	return 1;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "storm")) {
		plugin = argv[3];
		return storm(unsigned(atoi(argv[2])));
	}
	if (argc == 3 && !strcmp(argv[1], "victim"))
		return victim(argv[2]);
	fprintf(stderr, "usage: prof storm SECONDS PLUGIN | prof victim FILE\n");
	return 2;
}

#endif
