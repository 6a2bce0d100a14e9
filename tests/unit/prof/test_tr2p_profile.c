/* SPDX-License-Identifier: MIT */
/* Profiles by name, and what is in those of the program's own. */
#include "t2test.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace2_prof.h"
#include "prof/tr2p_bucket.h"
#include "prof/tr2p_profile.h"
#include "prof/tr2p_sample.h"
#include "prof/tr2p_thread.h"
#include "prof/tr2p_unwind.h"

enum { THREADS = 4, VALUES = 3000 };

static int setup(void **state)
{
	(void)state;
	tr2p_unwind_init(0, 0);
	tr2p_thread_begin();
	return tr2p_bucket_init();
}

static struct trace2_profile *make(const char *name)
{
	struct trace2_profile *profile = NULL;

	assert_int_equal(trace2_prof_new(name, &profile), 0);
	assert_non_null(profile);
	return profile;
}

static void test_profile_new_is_found_by_its_name(void **state)
{
	struct trace2_profile *files = make("files"), *other = NULL;
	char name[] = "connections";

	(void)state;
	assert_ptr_equal(trace2_prof_lookup("files"), files);
	assert_string_equal(trace2_prof_name(files), "files");
	assert_int_equal(trace2_prof_new("files", &other), EEXIST);
	assert_int_equal(trace2_prof_new("heap", &other), EEXIST);
	assert_null(other);
	other = make(name);
	name[0] = 'x';
	assert_string_equal(trace2_prof_name(other), "connections");
	assert_string_equal(tr2p_profile_name(other->number), "connections");
	assert_null(trace2_prof_lookup("xonnections"));
}

static void test_profile_new_with_a_wrong_name_is_refused(void **state)
{
	static const char *const wrong[] = { "", "a b", "a,b", "a\tb", "\n" };
	struct trace2_profile *profile = NULL;
	char name[257];

	(void)state;
	errno = 77;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(trace2_prof_new(wrong[i], &profile), EINVAL);
	assert_int_equal(trace2_prof_new(NULL, &profile), EINVAL);
	memset(name, 'n', 256);
	name[256] = '\0';
	assert_int_equal(trace2_prof_new(name, &profile), EINVAL);
	name[255] = '\0';
	assert_int_equal(trace2_prof_new(name, &profile), 0);
	assert_string_equal(trace2_prof_name(profile), name);
	assert_int_equal(errno, 77);
}

static int take_name(struct trace2_profile *profile, void *data)
{
	char *names = data;

	strcat(strcat(names, trace2_prof_name(profile)), " ");
	return !strcmp(trace2_prof_name(profile), "threads") ? 7 : 0;
}

static void test_profile_each_is_by_name_until_told(void **state)
{
	char names[2000] = "";

	(void)state;
	make("between");
	assert_int_equal(trace2_prof_each(take_name, names), 7);
	assert_memory_equal(names, "allocs between block ", 21);
	assert_null(strstr(names, "wall"));
}

static __attribute__((noinline)) int add_here(struct trace2_profile *profile, const void *value, unsigned skip)
{
	int error = trace2_prof_add(profile, value, skip);

	__asm__ volatile("");   /* no tail call */
	return error;
}

static void test_profile_add_has_the_stack_until_removed(void **state)
{
	struct trace2_profile *profile = make("stacks");
	struct tr2p_bucket *bucket;
	int a, b;

	(void)state;
	errno = 77;
	assert_int_equal(add_here(profile, &a, 0), 0);
	assert_int_equal(add_here(profile, &a, 0), EEXIST);
	assert_int_equal(trace2_prof_count(profile), 1);
	bucket = tr2p_bucket_first(profile->number);
	assert_non_null(bucket);
	assert_in_range(bucket->at[0], (uintptr_t)add_here, (uintptr_t)add_here + 64);
	assert_int_equal(add_here(profile, &b, 1), 0);
	assert_int_equal(add_here(profile, NULL, 0), 0);
	bucket = tr2p_bucket_first(profile->number)->next;
	assert_in_range(tr2p_bucket_first(profile->number)->at[0], (uintptr_t)add_here, (uintptr_t)add_here + 64);
	assert_in_range(bucket->at[0], (uintptr_t)test_profile_add_has_the_stack_until_removed,
			(uintptr_t)test_profile_add_has_the_stack_until_removed + 1000);
	assert_int_equal(trace2_prof_count(profile), 3);
	trace2_prof_remove(profile, &b);
	trace2_prof_remove(profile, &b);
	assert_int_equal(trace2_prof_count(profile), 2);
	assert_int_equal(tr2p_bucket_totals(bucket).count, 1);
	assert_int_equal(tr2p_bucket_totals(bucket).freed_count, 1);
	assert_int_equal(errno, 77);
}

static void test_profile_that_exists_always_takes_no_values(void **state)
{
	struct trace2_profile *heap = trace2_prof_lookup("heap");

	(void)state;
	assert_int_equal(trace2_prof_add(heap, &heap, 0), EINVAL);
	assert_int_equal(trace2_prof_add(NULL, &heap, 0), EINVAL);
	trace2_prof_remove(heap, &heap);
	assert_int_equal(trace2_prof_count(heap), 0);
}

static void test_profile_counts_stacks_that_have_something(void **state)
{
	const struct tr2p_amount one = { .count = 1, .period = 1, .scale = 1 };
	struct trace2_profile *threads = trace2_prof_lookup("threads");
	struct tr2p_stack stack;

	(void)state;
	tr2p_unwind(&stack, 0);
	tr2p_sample(TR2P_THREADS, &stack, &one);
	assert_int_equal(trace2_prof_count(threads), 1);
	tr2p_bucket_reset(TR2P_THREADS);
	assert_int_equal(trace2_prof_count(threads), 0);
}

static void test_profile_null_is_none(void **state)
{
	(void)state;
	assert_null(trace2_prof_lookup(NULL));
	assert_null(trace2_prof_name(NULL));
	assert_int_equal(trace2_prof_count(NULL), 0);
}

struct part {
	struct trace2_profile *profile;
	char values[VALUES];
	int errors;
};

/* Values of their own, each added, every second one removed again. */
static void *add_and_remove(void *data)
{
	struct part *part = data;

	for (unsigned i = 0; i < VALUES; i++)
		part->errors += trace2_prof_add(part->profile, &part->values[i], 0) != 0;
	for (unsigned i = 0; i < VALUES; i += 2)
		trace2_prof_remove(part->profile, &part->values[i]);
	return NULL;
}

static void test_profile_of_threads_has_what_is_left(void **state)
{
	static struct part parts[THREADS];
	struct trace2_profile *profile = make("many");
	int64_t left = 0;
	pthread_t threads[THREADS];

	(void)state;
	for (unsigned i = 0; i < THREADS; i++) {
		parts[i].profile = profile;
		assert_int_equal(pthread_create(&threads[i], NULL, add_and_remove, &parts[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(parts[i].errors, 0);
	}
	assert_int_equal(trace2_prof_count(profile), THREADS * VALUES / 2);
	for (struct tr2p_bucket *b = tr2p_bucket_first(profile->number); b; b = b->next)
		left += tr2p_bucket_totals(b).count - tr2p_bucket_totals(b).freed_count;
	assert_int_equal(left, THREADS * VALUES / 2);
	for (unsigned i = 0; i < THREADS; i++)
		for (unsigned k = 0; k < VALUES; k++)
			assert_int_equal(trace2_prof_add(profile, &parts[i].values[k], 0), k % 2 ? EEXIST : 0);
}

static void *add_all_the_time(void *data)
{
	struct part *part = data;

	while (!__atomic_load_n(&part->errors, __ATOMIC_RELAXED)) {
		trace2_prof_add(part->profile, part, 0);
		trace2_prof_remove(part->profile, part);
	}
	return NULL;
}

/* The lock may be another thread's at the time of the fork, which the child does not have. */
static void test_profile_in_a_forked_child_goes_on(void **state)
{
	static struct part part;
	pthread_t thread;
	int status, value;

	(void)state;
	part.profile = make("forking");
	assert_int_equal(pthread_create(&thread, NULL, add_all_the_time, &part), 0);
	for (unsigned i = 0; i < 50; i++) {
		pid_t child = fork();
		assert_true(child >= 0);
		if (!child)
			_exit(trace2_prof_add(part.profile, &value, 0));
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	__atomic_store_n(&part.errors, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

/* The last: there is no more room afterwards. */
static void test_profile_beyond_the_last_is_refused(void **state)
{
	struct trace2_profile *profile;
	char name[16];
	int error = 0;
	unsigned n = 0;

	(void)state;
	for (; !error && n < 100; n++) {
		snprintf(name, sizeof(name), "more-%u", n);
		error = trace2_prof_new(name, &profile);
	}
	assert_int_equal(error, ENOSPC);
	assert_int_equal(tr2p_profile_total(), 8 + 64);
	assert_null(tr2p_profile_at(8 + 64));
	assert_string_equal(trace2_prof_name(profile), tr2p_profile_at(8 + 63)->name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_profile_new_is_found_by_its_name),
		cmocka_unit_test(test_profile_new_with_a_wrong_name_is_refused),
		cmocka_unit_test(test_profile_each_is_by_name_until_told),
		cmocka_unit_test(test_profile_add_has_the_stack_until_removed),
		cmocka_unit_test(test_profile_that_exists_always_takes_no_values),
		cmocka_unit_test(test_profile_counts_stacks_that_have_something),
		cmocka_unit_test(test_profile_null_is_none),
		cmocka_unit_test(test_profile_of_threads_has_what_is_left),
		cmocka_unit_test(test_profile_in_a_forked_child_goes_on),
		cmocka_unit_test(test_profile_beyond_the_last_is_refused),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
