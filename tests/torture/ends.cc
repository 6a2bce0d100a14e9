// SPDX-License-Identifier: MIT
// ends.cc - everything that runs before main(), at the end of a thread, and after the end of main(), records.
// The names are what harness_fork.sh looks for.
//
// usage: ends [FILE]     FILE: another thread goes on recording while the process ends, and leaves there how many calls
//                        it began, and after how many of them tracing was still on.
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include <trace2.h>

static void record(const char *name)
{
	trace2_data_string_fl("ends.cc", 1, "ends", NULL, "name", name);
}

struct recorder {
	const char *name;
	explicit recorder(const char *n) : name(n) { record("constructed"); }   // of a thread: main() runs
	~recorder() { record(name); }
};

static recorder static_object("static object");
static thread_local recorder thread_object("object of a thread");
static pthread_key_t key;

__attribute__((constructor)) static void first() { record("too early"); }
__attribute__((destructor)) static void last()
{
	record("destructor function");
	raise(SIGUSR1);
}

static void registered_before() { record("exit handler from before"); }
static void registered_after()
{
	record("exit handler from after");
	raise(SIGUSR1);
}

static void on_signal(int) { record("signal at the end"); }
static void of_a_key(void *) { record("value of a thread"); }

static void *run(void *exits)
{
	trace2_thread_start("ends");
	pthread_setspecific(key, &key);
	thread_object.name = "object of a thread";
	trace2_thread_exit();
	if (exits)
		pthread_exit(NULL);
	return NULL;
}

static struct counts { uint64_t begun, returned; } *counts;

static void *run_detached(void *)
{
	for (;;) {
		__atomic_store_n(&counts->begun, counts->begun + 1, __ATOMIC_RELAXED);
		trace2_data_intmax("ends", NULL, "behind the end", 1);
		if (trace2_is_enabled())
			__atomic_store_n(&counts->returned, counts->returned + 1, __ATOMIC_RELAXED);
	}
}

static int map_counts(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || ftruncate(fd, sizeof(*counts)))
		return 0;
	counts = (struct counts *)mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return counts != MAP_FAILED;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	signal(SIGUSR1, on_signal);
	atexit(registered_before);
	trace2_initialize();
	atexit(registered_after);
	pthread_key_create(&key, of_a_key);
	for (int i = 0; i < 2; i++) {
		pthread_create(&thread, NULL, run, i ? &thread : NULL);
		pthread_join(thread, NULL);
	}
	if (argc > 1) {
		if (!map_counts(argv[1]))
			return 1;
		pthread_create(&thread, NULL, run_detached, NULL);
		while (__atomic_load_n(&counts->begun, __ATOMIC_RELAXED) < 1000)
			sched_yield();
	}
	trace2_cmd_exit(0);
	exit(0);
}
