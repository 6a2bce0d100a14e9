# SPDX-License-Identifier: MIT
# Sourced by the checks of exports: real programs, and the traces that they leave in the current directory.
# shellcheck shell=bash disable=SC2034,SC2154

# load THREADS ROUNDS [END [COMMAND]]: threads that do nothing but record, nested and with messages; then it runs a
# command as a child, and ends: by itself, with a child that it "forks", "killed" in the middle of a region, or it "fails".
write_load()
{
	cat >load.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <trace2.h>
#include <unistd.h>

static int rounds;

static void work(int depth, int i)
{
	trace2_region_enter_printf("load", "step", NULL, "depth %d of \"%s\"", depth, "work");
	trace2_data_intmax("load", NULL, "round", i);
	if (depth < 4)
		work(depth + 1, i);
	trace2_region_leave("load", "step", NULL);
}

static void *run(void *unused)
{
	trace2_thread_start("loader");
	trace2_region_enter("load", "thread", NULL);
	for (int i = 0; i < rounds; i++) {
		trace2_region_enter("load", "round", NULL);
		work(i % 3, i);
		trace2_region_leave("load", "round", NULL);
		if (i % 1000 == 0)
			trace2_data_string("load", NULL, "note", "a \"quoted\" \\ note");
	}
	trace2_region_leave("load", "thread", NULL);
	trace2_thread_exit();
	return unused;
}

static void run_child(const char *command)
{
	const char *argv[] = { "sh", "-c", command, NULL };
	struct trace2_child child = { .argv = argv, .use_shell = 1 };
	int status = 0;

	trace2_region_enter("load", "spawn", NULL);
	trace2_child_start(&child);
	child.pid = fork();
	if (!child.pid) {
		execv("/bin/sh", (char *const *)argv);
		_exit(127);
	}
	waitpid(child.pid, &status, 0);
	trace2_child_exit(&child, WEXITSTATUS(status));
	trace2_region_leave("load", "spawn", NULL);
}

int main(int argc, char **argv)
{
	pthread_t threads[16];
	int n = atoi(argv[1]), code;

	rounds = atoi(argv[2]);
	trace2_initialize();
	trace2_cmd_start((const char **)argv);
	trace2_cmd_name("load");
	trace2_region_enter("load", "whole", NULL);
	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	if (argc > 4)
		run_child(argv[4]);
	if (argc > 3 && !strcmp(argv[3], "forks")) {
		trace2_flush();   /* what the child writes comes behind it in their file */
		if (fork())
			wait(NULL);
	}
	if (argc > 3 && !strcmp(argv[3], "killed"))
		raise(SIGKILL);
	trace2_region_leave("load", "whole", NULL);
	code = argc > 3 && !strcmp(argv[3], "fails") ? 3 : 0;
	trace2_cmd_exit(code);
	return code;
}
END
	"${CC:-cc}" -Wall -I"$top/runtime" -o load load.c -pthread -L"$out" -Wl,-rpath,"$out" -ltrace2
}

# texts: each text wherever a text can be, and between two of them none: as a message, a value, a name, an argument.
write_texts()
{
	cat >texts.c <<'END'
#include <stddef.h>
#include <trace2.h>

static const char *const texts[] = {
	"plain", "", "=1+1", "+1", "-1", "@SUM(1)", "\tTAB", "\rCR", "\n=1", "a,b", "\"quoted\"", "a \"b\" c", "back\\slash", "'",
	"caf\xc3\xa9", "bad\xff", "cut\xe2\x82", "\xed\xa0\x80", "\x1b[31mred", "\x7f", "-", "=", "", "", "7", "1e5", " ", "\xef\xbb\xbf",
	"{\"a\": [1, null]}", "a;b", "</script>", "1234567", "12345678", "1234567,", "1234567\xff",
};
enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };

static void use(const char *text, int i)
{
	const char *words[] = { "sh", text, "", text, NULL };
	struct trace2_child child = { .argv = words + i % 3, .dir = i % 2 ? text : NULL, .trace2_child_class = i % 3 ? text : NULL };

	trace2_region_enter_printf("texts", text, NULL, "%s", text);
	trace2_region_enter(text, "none", NULL);
	trace2_data_string("texts", NULL, text, text);
	trace2_data_string(text, NULL, "key", "");
	trace2_data_json("texts", NULL, "json", text);
	trace2_data_intmax("texts", NULL, "number", i % 2 ? -i : i);
	trace2_printf("%s", text);
	trace2_printf("x");
	trace2_printf("%s", "");
	trace2_cmd_mode(text);
	trace2_def_param(text, text, NULL);
	trace2_child_start(&child);
	trace2_child_exit(&child, i);
	trace2_exec_result(trace2_exec(i % 2 ? text : NULL, words), i);
	trace2_region_leave(text, "none", NULL);
	trace2_region_leave_printf("texts", text, NULL, "%s", text);
}

int main(void)
{
	const char *argv[] = { "texts", "", "=1", NULL };

	trace2_initialize();
	trace2_cmd_start(argv);
	trace2_cmd_name("=texts");
	for (int i = 0; i < 3 * TEXTS; i++)
		use(texts[i % TEXTS], i);
	trace2_cmd_exit(0);
	return 0;
}
END
	"${CC:-cc}" -Wall -I"$top/runtime" -o texts texts.c -L"$out" -Wl,-rpath,"$out" -ltrace2
}

# The trace of these, texts.tlg
make_texts()
{
	cd "$tmp" && write_texts && TRACE2_RAW=$tmp/texts.tlg ./texts
}

# The traces, which $traces names: a program that works, processes, one that lost events, one that was killed
make_traces()
{
	local victim rounds

	cd "$tmp" || return
	write_load || return
	mkdir tree
	TRACE2_RAW=$tmp/index.tlg "$out/examples/t2index" "$top/expand" >/dev/null || return
	TRACE2_RAW=$tmp/tree ./load 2 300 "" "exec ./load 1 100 '' 'exec ./load 1 10 fails'" || return
	for rounds in 2000 5000 20000; do   # as few as lose something on this machine: each comparison reads them all
		rm -f lossy.tlg
		TRACE2_RAW=$tmp/lossy.tlg TRACE2_RAW_MEMORY=256k TRACE2_RAW_RING=64k ./load 3 "$rounds" || return
		"$expand" --format=perf lossy.tlg 2>/dev/null >lossy.perf
		! grep -q lost-events lossy.perf || break
	done
	# only what this one left: others on this machine leave something, too
	{ TRACE2_RAW=$tmp/killed.tlg ./load 2 500 killed & victim=$!; wait "$victim"; } 2>/dev/null
	"$expand" --recover-all --ring-pid="$victim" --delete --format=raw -o rest.tlg 2>/dev/null
	[ ! -s rest.tlg ] || cp rest.tlg killed.tlg
	traces="index.tlg tree lossy.tlg killed.tlg"
	grep -q lost-events lossy.perf || echo "nothing was lost in lossy.tlg"
}
