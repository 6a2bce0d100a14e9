// SPDX-License-Identifier: MIT
// ends.cc - everything that runs before main(), at the end of a thread, and after the end of main(), records.
// The names are what harness_fork.sh looks for.
#include <cstdlib>
#include <pthread.h>
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
__attribute__((destructor)) static void last() { record("destructor function"); }

static void registered_before() { record("exit handler from before"); }
static void registered_after() { record("exit handler from after"); }
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

static void *run_detached(void *)
{
	for (;;)
		trace2_data_intmax("ends", NULL, "behind the end", 1);
}

int main(int argc, char **)
{
	pthread_t thread;

	atexit(registered_before);
	trace2_initialize();
	atexit(registered_after);
	pthread_key_create(&key, of_a_key);
	for (int i = 0; i < 2; i++) {
		pthread_create(&thread, NULL, run, i ? &thread : NULL);
		pthread_join(thread, NULL);
	}
	if (argc > 1)   /* one goes on recording while the process ends */
		pthread_create(&thread, NULL, run_detached, NULL);
	trace2_cmd_exit(0);
	exit(0);
}
