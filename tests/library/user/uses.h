/* SPDX-License-Identifier: MIT */
/*
 * uses.h - every function and macro of trace2.h, as a user in C or C++ calls them.
 *
 * check_user.sh compiles uses.c and uses.cc, which include this, with all warnings there are, and runs them: what git's
 * perf format shows of it is to be what the file expected_c, or expected_cc, says.
 */
#include <trace2.h>   /* nothing in front of it: it needs nothing */

#ifdef __cplusplus
#define NONE nullptr
#else
#define NONE NULL   /* from trace2.h, too */
#endif

static const char uses_array[] = "an array";

static const char *uses_name(int i)
{
	return i ? "a name" : "another";
}

static void uses_va(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void uses_va(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	trace2_region_enter_printf_va("va", "outer", NONE, format, ap);
	va_end(ap);
	va_start(ap, format);
	trace2_printf_va(format, ap);
	va_end(ap);
	va_start(ap, format);
	trace2_cmd_error_va(format, ap);
	va_end(ap);
	va_start(ap, format);
	trace2_region_leave_printf_va("va", "outer", NONE, format, ap);
	va_end(ap);
}

/* In a header, with a name that the compiler comes to know when it makes the call inline. */
static inline void uses_inline(const char *label)
{
	trace2_region_enter("inline", label, NONE);
	trace2_region_leave("inline", "known", NONE);
}

static void uses_commands(char **argv)
{
	const char *names[] = { "first", "second", NONE }, **changing = names;
	const char *const *constant = names;

	trace2_cmd_start(argv);
	trace2_cmd_start(names);
	trace2_cmd_start(changing);
	trace2_cmd_start(constant);
	trace2_cmd_name("uses");
	trace2_cmd_mode("mode");
	trace2_cmd_path("/path");
	trace2_cmd_ancestry(constant);
	trace2_cmd_alias("alias", changing);
	trace2_cmd_list_config();
	trace2_cmd_list_env_vars();
	trace2_cmd_set_config("no.such", "setting");
	trace2_collect_process_info(TRACE2_PROCESS_INFO_EXIT);
}

static void uses_children(char **argv)
{
	struct trace2_key_value_info info = { TRACE2_SCOPE_LOCAL };
	const char *const names[] = { "first", "second", NONE };
	struct trace2_child child = { names, "class", NONE, NONE, 0, 0, 0, 0, 0 };
	int id;

	trace2_child_start(&child);
	child.pid = 7;
	trace2_child_ready(&child, "ready");
	trace2_child_exit(&child, 3);
	id = trace2_exec("/exe", argv);
	trace2_exec_result(id, 2);
	trace2_def_param("parameter", "value", &info);
	trace2_def_param("parameter", "value", NONE);
}

static void uses_regions(struct trace2_repository *repo, int one)
{
	const char *names[] = { "in an array", NONE };

	trace2_def_repo(repo);
	trace2_region_enter("region", "literal", NONE);
	trace2_region_leave("region", "literal", repo);
	trace2_region_enter("region", uses_array, NONE);
	trace2_region_leave(uses_array, uses_array, NONE);
	trace2_region_enter("region", uses_name(one), NONE);
	trace2_region_leave("region", names[one - 1], NONE);
	trace2_region_enter("region", one ? "either" : "or", NONE);
	trace2_region_leave(NONE, NONE, NONE);
	trace2_region_enter_printf("region", "message", NONE, "%d of %s", one, names[0]);
	trace2_region_leave_printf("region", names[0], repo, "without arguments");
	uses_inline("literal");
	uses_inline(names[0]);
	uses_inline(NONE);
	uses_va("%d sins", 6 + one);
}

static void uses_data(struct trace2_repository *repo, int one)
{
	trace2_data_string("data", NONE, "string", "text");
	trace2_data_string("data", repo, uses_name(one), NONE);
	trace2_data_intmax("data", NONE, "integer", one);
	trace2_data_intmax("data", repo, uses_name(one), -one);
	trace2_data_json("data", NONE, "json", "{\"a\":1}");
	trace2_data_json("data", repo, uses_name(one), "[1]");
	trace2_printf("no arguments");
	trace2_printf("%s, %d", "arguments", one);
	trace2_step("step", "literal");
	trace2_step("step", uses_name(one));
	trace2_step("step", __func__);
	trace2_step("same", "same");
	trace2_step(NONE, "no category");
	trace2_region_enter("unwind", "left with it", NONE);
	trace2_region_unwind(0);
	trace2_region_unwind(trace2_region_depth());
}

static void uses_branches(int one)
{
	if (one)
		trace2_step("branch", "if");
	else
		trace2_printf("else");
	if (!one)
		trace2_data_intmax("branch", NONE, "if", one);
	else
		trace2_region_enter("branch", "else", NONE);
	switch (one) {
	case 1:
		trace2_region_leave("branch", "case", NONE);
		break;
	default:
		trace2_step("branch", "default");
	}
	for (int i = 0; i < 2; i++)
		trace2_data_intmax("branch", NONE, "for", i);
	do
		trace2_step("branch", "do");
	while (!one);
}

/* As with git each call is an expression, of type void where the function is. */
static int uses_expressions(struct trace2_child *child, int one)
{
	one ? trace2_step("expression", "if") : trace2_printf("else");
	one ? trace2_region_enter("expression", "if", NONE) : trace2_cmd_mode("else");
	one ? trace2_region_leave("expression", uses_name(one), NONE) : trace2_child_start(child);
	!one ? trace2_child_exit(child, 3) : trace2_data_string("expression", NONE, "else", "text");
	!one ? trace2_cmd_path("/if") : trace2_data_json("expression", NONE, "else", "1");
	for (int i = 0; i < 1; i++, trace2_data_intmax("expression", NONE, "comma", i))
		;
	one ? trace2_region_enter_printf("expression", "if", NONE, "%d", one)
	    : trace2_region_leave_printf("expression", "else", NONE, "%d", one);
	return trace2_region_leave("expression", "if", NONE), one;
}

static int uses_scope(const char *label, int one)
{
	TRACE2_SCOPE("scope", "function");
	TRACE2_SCOPE("scope", label);
	for (int i = 0; i < 3; i++) {
		TRACE2_SCOPE("scope", "in a loop");
		TRACE2_SCOPE("scope", uses_name(i)); TRACE2_SCOPE(NONE, __func__);   /* two in a line */
		if (i < one)
			continue;
		trace2_step("scope", "returns");
		return i;
	}
	return -1;
}

static void uses_sums(int one)
{
	int timer = trace2_timer_define("uses", "timer", 1), counter = trace2_counter_define("uses", "counter", 1);

	trace2_timer_start(TRACE2_TIMER_ID_TEST1);
	trace2_timer_stop(TRACE2_TIMER_ID_TEST1);
	trace2_timer_start(timer);
	trace2_timer_stop(timer);
	trace2_counter_add(TRACE2_COUNTER_ID_TEST1, 2);
	trace2_counter_add(counter, one ? 3 : 4);
}

static void uses_recording(void)
{
	trace2_next_cycle();
	trace2_flush();
	trace2_snapshot("reason");
	trace2_rotate();
	trace2_thread_exit();
	trace2_thread_start("again");
}

/* Return  what main() returns */
static int uses_all(int argc, char **argv, int (*more)(int one))
{
	struct trace2_repository repo = { "/worktree", 0 };
	int one = argc > 1, failed;

	trace2_set_env_prefix("TRACE2");
	trace2_use_git_config();
	trace2_set_program_version("1.2");
	trace2_initialize_clock();
	trace2_initialize();
	failed = !trace2_is_enabled() || trace2_catch_signal(0) != -1 || !trace2_session_id();
	failed |= uses_expressions(NONE, one) != one || uses_scope("label", one) != one;
	uses_commands(argv);
	uses_children(argv);
	uses_regions(&repo, one);
	uses_data(&repo, one);
	uses_branches(one);
	uses_sums(one);
	failed |= more(one);
	uses_recording();
	trace2_cmd_exit(failed);
	return failed;
}
