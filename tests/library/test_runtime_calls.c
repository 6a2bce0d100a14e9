/* SPDX-License-Identifier: MIT */
/* The public calls as a program makes them: each macro's place, what they return, what they do with nothing. */
#include "t2test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace2.h"
#include "traced.h"

/* Run a program, which must return 0 and be traced; its perf text is in t.said. */
static void run(int (*program)(void *), void *data, const char *setting)
{
	traced_run(&t, program, data, (const char *const[]){ "TRACE2_PERF=2", setting, NULL });
	assert_true(WIFEXITED(t.status));
	assert_int_equal(WEXITSTATUS(t.status), 0);
}

static const char brief[] = "TRACE2_PERF_BRIEF=1";

/* ---- every macro -------------------------------------------------------------------------------- */

static void call_va_forms(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	trace2_cmd_error_va(fmt, ap);
	trace2_printf_va(fmt, ap);
	trace2_region_enter_printf_va("c", "l", NULL, fmt, ap);
	trace2_region_leave_printf_va("c", "l", NULL, fmt, ap);
	va_end(ap);
}

static void call_children(const char *const *list)
{
	struct trace2_child child = { .argv = list };

	trace2_child_start(&child);
	trace2_child_ready(&child, "ready");
	trace2_child_exit(&child, 0);
	trace2_exec("exe", list);
	trace2_exec_result(0, 2);
}

/* name is not a literal to the compiler, so that the macros take their other way. */
static void call_regions(const char *name)
{
	trace2_region_enter("c", "literal", NULL);
	trace2_data_string("c", NULL, "literal", "v");
	trace2_data_intmax("c", NULL, "literal", 1);
	trace2_data_json("c", NULL, "literal", "{}");
	trace2_step("c", "literal");
	trace2_region_leave("c", "literal", NULL);
	trace2_region_enter(name, name, NULL);
	trace2_data_string(name, NULL, name, "v");
	trace2_data_intmax(name, NULL, name, 1);
	trace2_data_json(name, NULL, name, "{}");
	trace2_step(name, name);
	trace2_region_leave(name, name, NULL);
	trace2_region_enter_printf("c", "l", NULL, "%d", 1);
	trace2_region_leave_printf("c", "l", NULL, "%d", 1);
}

static void *call_in_thread(void *data)
{
	trace2_thread_start("thread");
	trace2_thread_exit();
	return data;
}

static int run_macros(void *data)
{
	static const char *const list[] = { "a", NULL };
	struct trace2_repository repo = { .worktree = "/w" };
	char name[] = "name";
	pthread_t thread;

	trace2_initialize();
	trace2_cmd_start(list);
	trace2_cmd_path("path");
	trace2_cmd_ancestry(list);
	trace2_cmd_name("name");
	trace2_cmd_mode("mode");
	trace2_cmd_alias("alias", list);
	trace2_def_param("p", "v", NULL);
	trace2_def_repo(&repo);
	trace2_cmd_set_config("a.b", "v");
	trace2_cmd_config_param("a.b", "v", NULL);
	trace2_cmd_list_config();
	trace2_cmd_list_env_vars();
	trace2_printf("%d", 1);
	call_va_forms("%d", 1);
	call_children(list);
	call_regions(name);
	if (pthread_create(&thread, NULL, call_in_thread, data) || pthread_join(thread, NULL))
		return 1;
	trace2_cmd_exit(0);
	return 0;
}

/* The events of the texts above in their order; list_config and list_env_vars have nothing to list. */
static const char *const macros[] = {
	"version", "start", "cmd_path", "cmd_ancestry", "cmd_name", "cmd_mode", "alias", "def_param", "def_repo",
	"def_param", "def_param", "printf", "error", "printf", "region_enter", "region_leave", "child_start",
	"child_ready", "child_exit", "exec", "exec_result", "region_enter", "data", "data", "data_json", "step",
	"region_leave", "region_enter", "data", "data", "data_json", "step", "region_leave", "region_enter",
	"region_leave", "thread_start", "thread_exit", "exit",
};

static void test_calls_macros_record_the_callers_file_and_line(void **state)
{
	char path[160], line[256], event[16];
	FILE *perf;

	(void)state;
	run(run_macros, NULL, "TRACE2_CONFIG_PARAMS=a.*");
	snprintf(path, sizeof(path), "%s/stderr", t.dir);   /* more than t.said holds */
	perf = fopen(path, "r");
	assert_non_null(perf);
	for (size_t i = 0; i < sizeof(macros) / sizeof(macros[0]); i++) {
		assert_non_null(fgets(line, sizeof(line), perf));
		assert_non_null(strstr(line, "calls.c:"));
		assert_int_equal(sscanf(line, "%*[^|]|%*[^|]|%*[^|]| %15s", event), 1);
		assert_string_equal(event, macros[i]);
	}
	fclose(perf);
}

/* ---- messages ----------------------------------------------------------------------------------- */

/* What can be deferred, what cannot (%Lf, too many), what is longer than one chain holds: each passed twice. */
#define MESSAGES(MESSAGE) \
	MESSAGE("nothing in it") \
	MESSAGE("%s and %d", "a text", -7) \
	MESSAGE("%d%u %ld%lu %lld%llu", -1, 2U, -3L, 4UL, -5LL, 6ULL) \
	MESSAGE("%jd%ju %td%zd%zu", (intmax_t)-1, (uintmax_t)2, (ptrdiff_t)-3, (ssize_t)-4, (size_t)5) \
	MESSAGE("%c%hhd%hd%hhu%hu", 'c', 300, 70000, 300U, 70000U) \
	MESSAGE("%.2f%s%g", 2.5, " among doubles ", 1e9) \
	MESSAGE("[%.3s][%.*s][%-6s]", "cut off", 2, "cut", "pad") \
	MESSAGE("%s%s%s%s", "", "1", "exactly sixteen!", "and seventeen ...") \
	MESSAGE("%s is null", (char *)no_text) \
	MESSAGE("%m") \
	MESSAGE("%Lf is not deferred", 1.5L) \
	MESSAGE("%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)

static const char *volatile no_text;   /* the compiler is not to know */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat"   /* ISO C does not have %m */

static int run_messages(void *data)
{
	struct trace2_repository repos[2] = { { "/a", 0 }, { "/b", 0 } };
	int saved = ENOENT;

	(void)data;
	trace2_initialize();
	errno = saved;
#define MESSAGE(...) trace2_printf(__VA_ARGS__);
	for (int i = 0; i < 2; i++) {
		MESSAGES(MESSAGE)
		saved = saved == errno ? saved : 0;
	}
#undef MESSAGE
	for (int i = 0; i < 2; i++)
		trace2_def_repo(&repos[i]);
	for (int i = 0; i < 6; i++)   /* one call site, two repositories */
		trace2_region_enter_printf("c", "of", &repos[i % 2], "r%d #%d", 1 + i % 2, i);
	return saved != ENOENT;
}

static void test_calls_message_is_what_printf_would_print(void **state)
{
	char message[128], line[160];

	(void)state;
	run(run_messages, NULL, brief);
	errno = ENOENT;
#define MESSAGE(...) \
	snprintf(message, sizeof(message), __VA_ARGS__); \
	snprintf(line, sizeof(line), "| %s\n", message); \
	assert_int_equal(traced_count(line), 2);
	MESSAGES(MESSAGE)
#undef MESSAGE
	for (int i = 0; i < 6; i++) {
		snprintf(line, sizeof(line), "label:of r%d #%d\n", 1 + i % 2, i);
		assert_int_equal(traced_count(line), 1);
	}
	assert_int_equal(traced_count("| region_enter | r1  |"), 3);
	assert_int_equal(traced_count("| region_enter | r2  |"), 3);
}

#pragma GCC diagnostic pop

/* ---- nothing ------------------------------------------------------------------------------------ */

static void call_with_null(const char *fmt)
{
	va_list none;

	memset(&none, 0, sizeof(none));
	trace2_cmd_error_va_fl(NULL, 0, fmt, none);
	trace2_printf_va_fl(NULL, 0, fmt, none);
	trace2_printf_fl(NULL, 0, fmt, 0);
	trace2_region_enter_printf_fl(NULL, 0, NULL, NULL, NULL, fmt, 0);
	trace2_region_leave_printf_fl(NULL, 0, NULL, NULL, NULL, fmt, 0);
	trace2_region_enter_printf_va_fl(NULL, 0, NULL, NULL, NULL, fmt, none);
	trace2_region_leave_printf_va_fl(NULL, 0, NULL, NULL, NULL, fmt, none);
}

static void call_all_with_nothing(void)
{
	struct trace2_child child = { .argv = NULL };
	struct trace2_repository repo = { .worktree = NULL };

	trace2_cmd_start_fl(NULL, 0, NULL);
	trace2_cmd_path_fl(NULL, 0, NULL);
	trace2_cmd_ancestry_fl(NULL, 0, NULL);
	trace2_cmd_name_fl(NULL, 0, NULL);
	trace2_cmd_mode_fl(NULL, 0, NULL);
	trace2_cmd_alias_fl(NULL, 0, NULL, NULL);
	trace2_cmd_list_config_fl(NULL, 0);
	trace2_cmd_list_env_vars_fl(NULL, 0);
	trace2_cmd_set_config_fl(NULL, 0, NULL, NULL);
	trace2_cmd_config_param_fl(NULL, 0, NULL, NULL, NULL);
	trace2_set_config_lister(NULL);
	trace2_def_param_fl(NULL, 0, NULL, NULL, NULL);
	trace2_def_repo_fl(NULL, 0, NULL);
	trace2_def_repo_fl(NULL, 0, &repo);
	trace2_child_start_fl(NULL, 0, NULL);
	trace2_child_start_fl(NULL, 0, &child);
	trace2_child_ready_fl(NULL, 0, NULL, NULL);
	trace2_child_ready_fl(NULL, 0, &child, NULL);
	trace2_child_exit_fl(NULL, 0, NULL, 0);
	trace2_child_exit_fl(NULL, 0, &child, 0);
	trace2_exec_fl(NULL, 0, NULL, NULL);
	trace2_exec_result_fl(NULL, 0, -1, -1);
	trace2_thread_start_fl(NULL, 0, NULL);
	trace2_thread_exit_fl(NULL, 0);
	trace2_region_enter_fl(NULL, 0, NULL, NULL, NULL);
	trace2_region_leave_fl(NULL, 0, NULL, NULL, NULL);
	trace2_data_string_fl(NULL, 0, NULL, NULL, NULL, NULL);
	trace2_data_intmax_fl(NULL, 0, NULL, NULL, NULL, 0);
	trace2_data_json_fl(NULL, 0, NULL, NULL, NULL, NULL);
	trace2_step_fl(NULL, 0, NULL, NULL);
	trace2_region_unwind_fl(NULL, 0, trace2_region_depth());
	call_with_null(NULL);
	trace2_timer_start(-1);
	trace2_timer_stop(64);
	trace2_timer_stop(TRACE2_TIMER_ID_TEST1);
	trace2_counter_add(1 << 30, 1);
	trace2_cmd_exit_fl(NULL, 0, 0);
}

static int run_nothing(void *data)
{
	errno = 1234;
	if (data)
		trace2_initialize_fl(NULL, 0);
	call_all_with_nothing();
	return errno != 1234;
}

static void test_calls_null_is_allowed_everywhere(void **state)
{
	(void)state;
	run(run_nothing, (void *)1, brief);
	assert_int_equal(traced_count("\n"), 31);
}

static void test_calls_before_initializing_do_nothing(void **state)
{
	(void)state;
	run(run_nothing, NULL, brief);
	assert_string_equal(t.said, "");
	assert_int_equal(access(t.raw, F_OK), -1);
}

/* ---- setting up --------------------------------------------------------------------------------- */

static int run_twice(void *data)
{
	int before = trace2_is_enabled();

	(void)data;
	trace2_set_program_version("1.2.3");
	trace2_set_program_version(NULL);
	trace2_initialize();
	trace2_initialize();
	return !(before == 0 && trace2_is_enabled() == 1);
}

static void test_calls_second_initialize_does_nothing(void **state)
{
	(void)state;
	run(run_twice, NULL, brief);
	assert_int_equal(traced_count("| version      |"), 1);
	assert_non_null(strstr(t.said, "| 1.2.3\n"));
}

static int run_clock(void *data)
{
	const struct timespec pause = { 0, 30000000 };

	(void)data;
	trace2_initialize_clock();
	nanosleep(&pause, NULL);
	trace2_initialize_clock();
	trace2_initialize();
	trace2_cmd_exit(0);
	return 0;
}

static void test_calls_first_clock_reading_is_time_zero(void **state)
{
	double seconds = 0;

	(void)state;
	run(run_clock, NULL, brief);
	assert_int_equal(sscanf(strstr(t.said, "| exit"), "| exit | | %lf", &seconds), 1);
	assert_true(seconds >= 0.03);
}

static int run_session_id(void *data)
{
	const char *id = trace2_session_id(), *own = strrchr(id, '/');
	unsigned pid = 0;

	if (own ? !data || own - id != (long)strlen(data) || strncmp(id, data, strlen(data)) : data != NULL)
		return 1;
	own = own ? own + 1 : id;
	if (strlen(own) != 43 || sscanf(own + 33, "-P%8x", &pid) != 1 || pid != (unsigned)getpid())
		return 2;
	return strcmp(getenv("GIT_TRACE2_PARENT_SID"), id) || trace2_session_id() != id || trace2_is_enabled() ? 3 : 0;
}

static void test_calls_session_id_is_exported_though_tracing_is_off(void **state)
{
	char parent[2100] = "GIT_TRACE2_PARENT_SID=";

	(void)state;
	run(run_session_id, NULL, brief);
	run(run_session_id, (void *)(intptr_t)"aa/bb", "GIT_TRACE2_PARENT_SID=aa/bb");
	memset(parent + strlen(parent), 'x', 2000);   /* no process tree is that deep: taken for none */
	run(run_session_id, NULL, parent);
}

static int run_process_info(void *data)
{
	trace2_initialize();
	trace2_collect_process_info((enum trace2_process_info_reason)(long)data);
	return 0;
}

static void test_calls_process_info_names_the_parents(void **state)
{
	char comm[32] = "", expected[64];
	int fd = open("/proc/self/comm", O_RDONLY);
	ssize_t n = read(fd, comm, sizeof(comm) - 1);

	(void)state;
	close(fd);
	assert_in_range(n, 2, 16);
	snprintf(expected, sizeof(expected), "| ancestry:[%.*s", (int)n - 1, comm);
	run(run_process_info, (void *)TRACE2_PROCESS_INFO_STARTUP, brief);
	assert_non_null(strstr(t.said, expected));
	run(run_process_info, (void *)TRACE2_PROCESS_INFO_EXIT, brief);
	assert_int_equal(traced_count("cmd_ancestry"), 0);
}

/* ---- ids, steps, timers, counters --------------------------------------------------------------- */

static int run_ids(void *data)
{
	struct trace2_child children[2] = { { .argv = NULL }, { .argv = NULL } };
	struct trace2_repository repos[2] = { { "/a", 0 }, { "/b", 0 } };
	int off = trace2_exec("x", NULL);

	(void)data;
	trace2_initialize();
	for (int i = 0; i < 4; i++)
		trace2_def_repo(&repos[i / 2]);   /* each twice: the second time does nothing */
	for (int i = 0; i < 2; i++) {
		trace2_child_start(&children[i]);
		if (repos[i].trace2_repo_id != i + 1 || children[i].trace2_child_id != i)
			return 1;
	}
	return !(off == -1 && trace2_exec("x", NULL) == 0 && trace2_exec("x", NULL) == 1);
}

static void test_calls_ids_count_up_by_kind(void **state)
{
	(void)state;
	run(run_ids, NULL, brief);
	assert_int_equal(traced_count("| def_repo"), 2);
}

static int run_steps(void *data)
{
	(void)data;
	trace2_initialize();
	trace2_step("c", "step");
	return 0;
}

static void test_calls_step_reads_no_clock(void **state)
{
	size_t untimed = 0;

	(void)state;
	run(run_steps, NULL, brief);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_step, "step"), 1);
	for (size_t i = 0; i < file.count; i++)
		untimed += tlg_event_type(&file.events[i]) == TLG_HIT && !file.events[i].u.hit.when;
	assert_int_equal(untimed, 1);
}

/* More definitions than there is room for; the last one that fits, in two intervals of which one has one inside. */
static int run_definitions(void *data)
{
	int timer = -1, counter = -1, timers = 2, counters = 2;

	trace2_initialize();
	for (int id; (id = trace2_timer_define("mine", "work", data != NULL)) >= 0 && timers < 1000; timers++)
		timer = id;
	for (int id; (id = trace2_counter_define("mine", "things", data != NULL)) >= 0 && counters < 1000; counters++)
		counter = id;
	for (int i = 0; i < 2; i++) {
		trace2_timer_start(timer);
		trace2_timer_start(timer);
		trace2_timer_stop(timer);
		trace2_timer_stop(timer);
		trace2_counter_add(counter, 20);
	}
	trace2_timer_start(TRACE2_TIMER_ID_TEST1);   /* still running at the end: not counted */
	return !(timers == 64 && counters == 64 && timer == 63 && counter == 63);
}

static void test_calls_timers_and_counters_of_the_program_add_up(void **state)
{
	(void)state;
	run(run_definitions, NULL, brief);
	assert_int_equal(traced_count("name:work intervals:2 "), 1);
	assert_int_equal(traced_count("name:things value:40\n"), 1);
	assert_int_equal(traced_count("name:test1"), 0);
	run(run_definitions, (void *)1, brief);
	assert_int_equal(traced_count("| th_timer     |"), 1);
	assert_int_equal(traced_count("| th_counter   |"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_calls_macros_record_the_callers_file_and_line),
		TRACED_TEST(test_calls_message_is_what_printf_would_print),
		TRACED_TEST(test_calls_null_is_allowed_everywhere),
		TRACED_TEST(test_calls_before_initializing_do_nothing),
		TRACED_TEST(test_calls_second_initialize_does_nothing),
		TRACED_TEST(test_calls_first_clock_reading_is_time_zero),
		TRACED_TEST(test_calls_session_id_is_exported_though_tracing_is_off),
		TRACED_TEST(test_calls_process_info_names_the_parents),
		TRACED_TEST(test_calls_ids_count_up_by_kind),
		TRACED_TEST(test_calls_step_reads_no_clock),
		TRACED_TEST(test_calls_timers_and_counters_of_the_program_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
