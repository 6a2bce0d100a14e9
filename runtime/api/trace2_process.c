/* SPDX-License-Identifier: MIT */
/* trace2_process.c - the public calls for children, exec, threads, and what the system knows of the process. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/tr2_clock.h"
#include "base/tr2_mask.h"
#include "base/tr2_sys.h"
#include "base/tr2_text.h"
#include "drain/tr2_drain.h"
#include "drain/tr2_exec.h"
#include "drain/tr2_missing.h"
#include "drain/tr2_wake.h"
#include "drain/tr2_young.h"
#include "output/tr2_sink.h"
#include "record/tr2_emit.h"
#include "record/tr2_flight.h"
#include "record/tr2_reserve.h"
#include "record/tr2_session.h"
#include "record/tr2_timer.h"

#include "trace2.h"

/* ---- children ----------------------------------------------------------------------------------- */

void trace2_child_start_fl(const char *file, int line, struct trace2_child *child)
{
	static int next_id;
	struct tr2_scope_key key = tr2_scope_key_at(TLG_STYLE_child_start, file, line);
	struct tr2_args args;

	tr2_args_init(&args);
	if (!tr2_is_enabled() || !child)
		return;
	child->trace2_child_id = tr2_add_rlx(&next_id, 1); /* relaxed: only the number matters */
	child->trace2_child_start = tr2_clock_raw();
	tr2_args_int(&args, child->trace2_child_id);
	tr2_args_int(&args, (child->git_cmd ? TLG_CHILD_GIT : 0) | (child->use_shell ? TLG_CHILD_SHELL : 0));
	tr2_args_text(&args, child->trace2_child_class);
	tr2_args_text(&args, child->trace2_hook_name);
	tr2_args_text(&args, child->dir);
	tr2_args_list(&args, child->argv, 1);
	tr2_emit(&key, &args, 0, child->trace2_child_start);
	tr2_wake_show();
}

void trace2_child_exit_fl(const char *file, int line, struct trace2_child *child, int code)
{
	struct tr2_scope_key key = tr2_scope_key_at(TLG_STYLE_child_exit, file, line);
	struct tr2_args args;

	tr2_args_init(&args);
	if (!tr2_is_enabled() || !child)
		return;
	tr2_args_int(&args, child->trace2_child_id);
	tr2_args_int(&args, child->pid);
	tr2_args_int(&args, code);
	tr2_args_uint(&args, child->trace2_child_start);
	tr2_emit(&key, &args, 0, 0);
}

void trace2_child_ready_fl(const char *file, int line, struct trace2_child *child, const char *ready)
{
	struct tr2_scope_key key = tr2_scope_key_at(TLG_STYLE_child_ready, file, line);
	struct tr2_args args;

	tr2_args_init(&args);
	if (!tr2_is_enabled() || !child)
		return;
	tr2_args_int(&args, child->trace2_child_id);
	tr2_args_int(&args, child->pid);
	tr2_args_uint(&args, child->trace2_child_start);
	tr2_args_last(&args, ready);
	tr2_emit(&key, &args, 0, 0);
}

/* ---- exec --------------------------------------------------------------------------------------- */

/* What is recorded is about to be gone.  Live text outputs take more stack than a handler's own may have. */
static void write_all(void)
{
	if (tr2_sink_has_texts() && tr2_mask_is_on_own_stack())
		tr2_wake_show();
	else
		tr2_drain_flush();
}

int trace2_exec_fl(const char *file, int line, const char *exe, const char *const *argv)
{
	static int next_id;
	struct tr2_scope_key key = tr2_scope_key_at(TLG_STYLE_exec, file, line);
	struct tr2_args args;
	int id;

	tr2_args_init(&args);
	if (!tr2_is_enabled())
		return -1;
	id = tr2_add_rlx(&next_id, 1); /* relaxed: only the number matters */
	tr2_args_int(&args, id);
	tr2_args_text(&args, exe);
	tr2_args_list(&args, argv, 1);
	tr2_emit(&key, &args, 0, 0);
	tr2_flight_exit(0);
	write_all();
	tr2_exec_begin();
	return id;
}

void trace2_exec_result_fl(const char *file, int line, int exec_id, int code)
{
	struct tr2_scope_key key = tr2_scope_key_at(TLG_STYLE_exec_result, file, line);
	struct tr2_args args;
	char text[256];

	tr2_args_init(&args);
	if (!tr2_is_enabled())
		return;
	tr2_args_int(&args, exec_id);
	tr2_args_int(&args, code);
	tr2_args_last(&args, code > 0 ? tr2_text_error_as_said(code, text, sizeof(text)) : NULL);
	tr2_emit(&key, &args, 0, 0);
}

/* ---- threads ------------------------------------------------------------------------------------ */

/* On the main thread it is a region: git's way of saying that a thread's work was done here. */
void trace2_thread_start_fl(const char *file, int line, const char *base_name)
{
	struct tr2_scope_key key = tr2_scope_key_at(TLG_STYLE_thread_start, file, line);

	if (!tr2_is_enabled() || !tr2_session_ensure())
		return;
	if (tr2_thread_is_main()) {
		trace2_region_enter_printf_fl(file, line, NULL, NULL, NULL, "thread-proc on main: %s",
					      base_name ? base_name : "");
		return;
	}
	tr2_thread_begin(base_name);
	tr2_thread_is_ordinary();
	if (tr2_young_is())
		tr2_young_note_thread(tr2_mask_now());
	tr2_wake_if_wanted();
	tr2_missing_mind_self();
	tr2_wake_now();
	tr2_emit(&key, NULL, 0, 0);
}

void trace2_thread_exit_fl(const char *file, int line)
{
	struct tr2_scope_key key = tr2_scope_key_at(TLG_STYLE_thread_exit, file, line);
	struct tr2_thread *self = tr2_is_enabled() ? tr2_self_or_new() : NULL;
	uint64_t now;

	if (!tr2_is_enabled())
		return;
	if (tr2_thread_is_main()) {
		trace2_region_leave_printf_fl(file, line, NULL, NULL, NULL, "thread-proc on main");
		return;
	}
	now = tr2_clock_raw();
	if (self)
		tr2_timer_end_thread(self, now);
	tr2_emit(&key, NULL, 0, now);
	tr2_thread_end();
}

/* ---- the parents -------------------------------------------------------------------------------- */

enum { MAX_PARENTS = 64, COMM_BYTES = 64 };

/* The name and the parent of process pid, from /proc.  0: not to be had. */
static int read_stat(int pid, char comm[COMM_BYTES], int *parent)
{
	char path[40], stat[512];
	struct tr2_text text = tr2_text_begin(path, sizeof(path));
	const char *open_paren, *close_paren;
	ssize_t n;
	int fd;

	tr2_text_add(&text, "/proc/");
	tr2_text_decimal(&text, (uint64_t)pid, 1);
	tr2_text_add(&text, "/stat");
	fd = tr2_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	n = tr2_sys_read(fd, stat, sizeof(stat) - 1);
	tr2_sys_close(fd);
	if (n <= 0)
		return 0;
	stat[n] = '\0';
	open_paren = strchr(stat, '(');
	close_paren = strrchr(stat, ')');   /* the name itself may hold any of both */
	if (!open_paren || !close_paren || close_paren < open_paren)
		return 0;
	n = close_paren - open_paren - 1;
	if (n >= COMM_BYTES)
		n = COMM_BYTES - 1;
	memcpy(comm, open_paren + 1, (size_t)n);
	comm[n] = '\0';
	return sscanf(close_paren + 1, " %*c %d", parent) == 1;
}

void trace2_collect_process_info(enum trace2_process_info_reason reason)
{
	char comms[MAX_PARENTS][COMM_BYTES];
	const char *names[MAX_PARENTS + 1];
	int pid = tr2_sys_getppid(), n = 0, saved = errno;

	if (!tr2_is_enabled() || reason != TRACE2_PROCESS_INFO_STARTUP)
		return;
	for (; pid > 0 && n < MAX_PARENTS && read_stat(pid, comms[n], &pid); n++)
		names[n] = comms[n];
	names[n] = NULL;
	if (n)
		trace2_cmd_ancestry_fl(__FILE__, __LINE__, names);
	errno = saved;
}
