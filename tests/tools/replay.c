/* SPDX-License-Identifier: MIT */
/*
 * replay - makes the Trace2 calls of a list, exactly as written.
 *
 * usage: replay CALLS.api
 *
 * replay_list.h describes the form of the list, the table below has the calls.  Before the first line the program
 * calls trace2_initialize_clock() and trace2_initialize_fl("main.c", 10), as git does.  After the last line it
 * returns from main, so that the exit handler records timers, counters and atexit.
 * Exit status: 0; 2 for a malformed list, before anything was called.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "replay_list.h"
#include "trace2.h"

/* Used by one thread at a time: a block's starter waits for it at `join`. */
static struct trace2_child children[REPLAY_SLOTS];
static struct trace2_repository repositories[REPLAY_SLOTS];

static struct trace2_repository *repository(const struct replay_line *l, size_t index)
{
	return l->value[index] < 0 ? NULL : &repositories[l->value[index]];
}

static int number(const struct replay_line *l, size_t index)
{
	return (int)l->value[index];
}

static void call_start(const struct replay_line *l)
{
	trace2_cmd_start_fl(l->file, l->line, l->text);
}

static void call_exit(const struct replay_line *l)
{
	trace2_cmd_exit_fl(l->file, l->line, number(l, 0));
}

static void error_va(const struct replay_line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void error_va(const struct replay_line *l, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	trace2_cmd_error_va_fl(l->file, l->line, format, ap);
	va_end(ap);
}

static void call_error(const struct replay_line *l)
{
	error_va(l, l->text[0], replay_text(l, 1), replay_text(l, 2), replay_text(l, 3));
}

static void call_cmd_path(const struct replay_line *l)
{
	trace2_cmd_path_fl(l->file, l->line, l->text[0]);
}

static void call_cmd_ancestry(const struct replay_line *l)
{
	trace2_cmd_ancestry_fl(l->file, l->line, l->text);
}

static void call_cmd_name(const struct replay_line *l)
{
	trace2_cmd_name_fl(l->file, l->line, l->text[0]);
}

static void call_cmd_mode(const struct replay_line *l)
{
	trace2_cmd_mode_fl(l->file, l->line, l->text[0]);
}

static void call_alias(const struct replay_line *l)
{
	trace2_cmd_alias_fl(l->file, l->line, l->text[0], l->text + 1);
}

static void call_child_start(const struct replay_line *l)
{
	struct trace2_child *child = &children[l->value[0]];

	child->trace2_child_class = l->text[1];
	child->trace2_hook_name = l->text[2];
	child->dir = l->text[3];
	child->git_cmd = number(l, 4);
	child->use_shell = number(l, 5);
	child->argv = l->text + 6;
	trace2_child_start_fl(l->file, l->line, child);
}

static void call_child_exit(const struct replay_line *l)
{
	struct trace2_child *child = &children[l->value[0]];

	child->pid = number(l, 1);
	trace2_child_exit_fl(l->file, l->line, child, number(l, 2));
}

static void call_child_ready(const struct replay_line *l)
{
	struct trace2_child *child = &children[l->value[0]];

	child->pid = number(l, 1);
	trace2_child_ready_fl(l->file, l->line, child, l->text[2]);
}

static void call_exec(const struct replay_line *l)
{
	trace2_exec_fl(l->file, l->line, l->text[0], l->text + 1);
}

static void call_exec_result(const struct replay_line *l)
{
	trace2_exec_result_fl(l->file, l->line, number(l, 0), number(l, 1));
}

static void call_thread_start(const struct replay_line *l)
{
	trace2_thread_start_fl(l->file, l->line, l->text[0]);
}

static void call_thread_exit(const struct replay_line *l)
{
	trace2_thread_exit_fl(l->file, l->line);
}

static void call_def_param(const struct replay_line *l)
{
	struct trace2_key_value_info info = { (enum trace2_config_scope)l->value[0] };

	trace2_def_param_fl(l->file, l->line, l->text[1], l->text[2], &info);
}

static void call_def_repo(const struct replay_line *l)
{
	struct trace2_repository *repo = &repositories[l->value[0]];

	repo->worktree = l->text[1];
	trace2_def_repo_fl(l->file, l->line, repo);
}

static void call_region_enter(const struct replay_line *l)
{
	if (l->count > 3)
		trace2_region_enter_printf_fl(l->file, l->line, l->text[0], l->text[1], repository(l, 2),
					      l->text[3], replay_text(l, 4), replay_text(l, 5));
	else
		trace2_region_enter_fl(l->file, l->line, l->text[0], l->text[1], repository(l, 2));
}

static void call_region_leave(const struct replay_line *l)
{
	if (l->count > 3)
		trace2_region_leave_printf_fl(l->file, l->line, l->text[0], l->text[1], repository(l, 2),
					      l->text[3], replay_text(l, 4), replay_text(l, 5));
	else
		trace2_region_leave_fl(l->file, l->line, l->text[0], l->text[1], repository(l, 2));
}

/* Of each thread, the latest marks by their numbers. */
static __thread uint64_t marks[10];

static void call_region_depth(const struct replay_line *l)
{
	marks[number(l, 0) % 10] = trace2_region_depth();
}

static void call_region_unwind(const struct replay_line *l)
{
	trace2_region_unwind_fl(l->file, l->line, marks[number(l, 0) % 10]);
}

static void call_data(const struct replay_line *l)
{
	trace2_data_string_fl(l->file, l->line, l->text[0], repository(l, 1), l->text[2], l->text[3]);
}

static void call_data_int(const struct replay_line *l)
{
	trace2_data_intmax_fl(l->file, l->line, l->text[0], repository(l, 1), l->text[2], l->value[3]);
}

/* The word "pretty" selects how git's writer formatted; here the text is ready. */
static void call_data_json(const struct replay_line *l)
{
	trace2_data_json_fl(l->file, l->line, l->text[0], repository(l, 1), l->text[2], l->text[4]);
}

static void call_printf(const struct replay_line *l)
{
	trace2_printf_fl(l->file, l->line, l->text[0], replay_text(l, 1), replay_text(l, 2), replay_text(l, 3));
}

static void call_timer_start(const struct replay_line *l)
{
	trace2_timer_start(number(l, 0));
}

static void call_timer_stop(const struct replay_line *l)
{
	trace2_timer_stop(number(l, 0));
}

static void call_counter_add(const struct replay_line *l)
{
	trace2_counter_add(number(l, 0), (uint64_t)l->value[1]);
}

static void call_sleep_us(const struct replay_line *l)
{
	struct timespec left = { (time_t)(l->value[0] / 1000000), (long)(l->value[0] % 1000000) * 1000 };

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

static void call_setenv(const struct replay_line *l)
{
	if (l->text[0] && l->text[1])
		setenv(l->text[0], l->text[1], 1);
}

/* name, located, arguments (replay_list.h has the letters), function */
static const struct replay_kind kinds[] = {
	{ "start", 1, "*", call_start },
	{ "alias", 1, "s*", call_alias },
	{ "exit", 1, "i", call_exit },
	{ "error", 1, "s?sss", call_error },
	{ "cmd_path", 1, "s", call_cmd_path },
	{ "cmd_name", 1, "s", call_cmd_name },
	{ "cmd_mode", 1, "s", call_cmd_mode },
	{ "cmd_ancestry", 1, "*", call_cmd_ancestry },
	{ "child_start", 1, "csssii*", call_child_start },
	{ "child_exit", 1, "cii", call_child_exit },
	{ "child_ready", 1, "cis", call_child_ready },
	{ "exec", 1, "s*", call_exec },
	{ "exec_result", 1, "ii", call_exec_result },
	{ "thread_start", 1, "s", call_thread_start },
	{ "thread_exit", 1, "", call_thread_exit },
	{ "def_param", 1, "iss", call_def_param },
	{ "def_repo", 1, "cs", call_def_repo },
	{ "region_enter", 1, "ssr?sss", call_region_enter },
	{ "region_leave", 1, "ssr?sss", call_region_leave },
	{ "region_depth", 0, "i", call_region_depth },
	{ "region_unwind", 1, "i", call_region_unwind },
	{ "data", 1, "srss", call_data },
	{ "data_int", 1, "srsm", call_data_int },
	{ "data_json", 1, "srsis", call_data_json },
	{ "printf", 1, "s?sss", call_printf },
	{ "timer_start", 0, "i", call_timer_start },
	{ "timer_stop", 0, "i", call_timer_stop },
	{ "counter_add", 0, "iu", call_counter_add },
	{ "sleep_us", 0, "i", call_sleep_us },
	{ "setenv", 0, "ss", call_setenv },
	{ REPLAY_THREAD, 0, "", NULL },
	{ REPLAY_JOIN, 0, "", NULL },
	{ NULL, 0, NULL, NULL },
};

/* Lines [from, to) of the list: what one thread does. */
struct block {
	const struct replay_list *list;
	size_t from, to;
};

static void replay_block(const struct block *b);

static void *run_thread(void *arg)
{
	replay_block(arg);
	return NULL;
}

/* A block within a block runs in another thread, so nested blocks do not deepen this stack. */
static void replay_block(const struct block *b)
{
	for (size_t i = b->from; i < b->to; i++) {
		const struct replay_line *line = &b->list->lines[i];
		struct block inner = { b->list, i + 1, line->join };
		pthread_t thread;
		int err;

		if (line->kind->call) {
			line->kind->call(line);
			continue;
		}
		err = pthread_create(&thread, NULL, run_thread, &inner);
		if (err) {
			fprintf(stderr, "replay: line %u: thread: %s\n", line->number, strerror(err));
			_exit(1);
		}
		pthread_join(thread, NULL);
		i = line->join;
	}
}

int main(int argc, char **argv)
{
	static struct replay_list list; /* static: the exit handler may still use its strings */

	if (argc != 2) {
		fprintf(stderr, "usage: replay CALLS.api\n");
		return 2;
	}
	if (replay_list_read(&list, argv[1], kinds) < 0)
		return 2;
	trace2_set_env_prefix("GIT_TRACE2");
	trace2_initialize_clock();
	trace2_initialize_fl("main.c", 10);
	replay_block(&(struct block){ &list, 0, list.count });
	return 0;
}
