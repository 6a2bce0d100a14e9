#!/bin/bash
# SPDX-License-Identifier: MIT
# Processes together: a tree of traced programs, one of which is killed, one forks, one is replaced, leaves its
# files in a directory; t2expand makes one text and the tree of them.  Directories with other files, none, too
# many at once.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC
unset GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME

. "$(dirname "$0")/../common.sh"
need_shared_library
expand=$out/t2expand
cd "$tmp" || exit 1

# proc END [COMMAND...]: start the commands one after the other, then end: with a code, by a signal that nobody
# can tell, in a fork that goes on alone, or as /bin/true.
cat >proc.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <trace2.h>
#include <unistd.h>

static void run(const char *command)
{
	const char *argv[] = { "sh", "-c", command, NULL };
	struct trace2_child child = { .argv = argv, .use_shell = 1 };
	int status = 0;

	trace2_child_start(&child);
	child.pid = fork();
	if (!child.pid) {
		execv("/bin/sh", (char *const *)argv);
		_exit(127);
	}
	waitpid(child.pid, &status, 0);
	trace2_child_exit(&child, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	static const char *words[] = { "true", NULL };

	trace2_initialize();
	argv[0] = "proc";
	trace2_cmd_start(argv);
	for (int i = 2; i < argc; i++)
		run(argv[i]);
	trace2_flush();
	if (!strcmp(argv[1], "kill"))
		raise(SIGKILL);
	if (!strcmp(argv[1], "exec")) {
		trace2_exec("true", words);
		trace2_flush();
		execv("/bin/true", (char *const *)words);
	}
	if (!strcmp(argv[1], "fork")) {
		int is_child = !fork();

		if (!is_child)
			wait(NULL);
		trace2_cmd_exit(is_child ? 7 : 6);
		return 0;
	}
	trace2_cmd_exit(atoi(argv[1]));
	return 0;
}
END
${CC:-cc} -Wall -I"$top/runtime" -o proc proc.c -L"$out" -Wl,-rpath,"$out" -ltrace2 || exit 1

# same NAME GOT EXPECTED
same()
{
	if diff "$2" "$3" >difference; then pass; else fail "$1"; sed 's/^/    /' difference | head -n 40; fi
}

# A tree without times and process ids
mask()
{
	sed -E 's/^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6} +[0-9]+\.[0-9]{6}/T/; s/pid:[0-9]+ +/PID /
		s/^(T\+?) +([^ ]+) +/\1 \2 /'
}

# ---- one text ---------------------------------------------------------------------------------------
mkdir dir
TRACE2_RAW=$tmp/dir ./proc 0 "exec ./proc 3 'exec ./proc 4; :' 'exec ./proc kill'" "sort -k1 /dev/null" \
	"exec ./proc fork" "exec ./proc exec" "exec ./proc kill; :" 2>stderr
same "nobody says anything" stderr /dev/null
if [ "$(find dir -name '*.tlg' | wc -l)" -eq 7 ]; then pass; else fail "not 7 files: $(ls dir)"; fi

expect "a directory" 0 "did not end" "$expand" dir/
cp stdout dir.perf
sort -s -k1,1 dir.perf >sorted
same "one text, by time" dir.perf sorted
"$expand" --brief dir 2>err | sed -nE 's/^(d[0-9]).*\| start .*\| (proc .*)/\1 \2/p' >starts
cat >expected <<'END'
d0 proc 0 'exec ./proc 3 '\''exec ./proc 4; :'\'' '\''exec ./proc kill'\''' 'sort -k1 /dev/null' 'exec ./proc fork' 'exec ./proc exec' 'exec ./proc kill; :'
d1 proc 3 'exec ./proc 4; :' 'exec ./proc kill'
d2 proc 4
d2 proc kill
d1 proc fork
d1 proc exec
d1 proc kill
END
same "the depths" starts expected
"$expand" --format=event dir/*.tlg >named.event 2>err
expect "as the files that are named" 0 "did not end" "$expand" --format=event dir
same "as the files that are named" stdout named.event
"$expand" --format=raw dir >all.tlg 2>err
"$expand" all.tlg >all.perf 2>err
sort dir.perf >sorted
sort all.perf >all.sorted
same "as one file that has them all" sorted all.sorted

# ---- the tree ---------------------------------------------------------------------------------------
expect "the tree" 0 "did not end" "$expand" --format=tree dir
cp stdout tree
mask <tree >masked
cat >expected <<'END'
T code:0 PID proc 0 'exec ./proc 3 '\''exec ./proc 4; :'\'' '\''exec ./proc kill'\''' 'sort -k1 /dev/null' 'exec ./proc fork' 'exec ./proc exec' 'exec ./proc kill; :'
T code:3 PID |-- proc 3 'exec ./proc 4; :' 'exec ./proc kill'
T code:4 PID |   |-- proc 4
T code:137 PID |   `-- proc kill
T code:0 PID |-- sh -c 'sort -k1 /dev/null' [untraced]
T code:6 PID |-- proc fork
T code:7 PID |   `-- proc fork [fork]
T exec PID |-- proc exec
T code:137 PID `-- proc kill
END
same "who started whom, and how they ended" masked expected
if [ "$(grep -cE '^[0-9:.]{15} +[0-9]+\.[0-9]{6}' tree)" -eq 9 ]; then pass; else fail "start and duration of each"; fi

# the process ids, as the perf format does not say them but the names of the files do
for file in dir/*.tlg; do
	pid=$((16#$(sed -E 's/.*-P([0-9a-f]{8}).*/\1/' <<<"$file")))
	grep -q "pid:$pid " tree || echo "$pid"
done >missing
same "every process is there" missing /dev/null

"$expand" --format=tree dir/*.tlg >named.tree 2>err
same "the tree of the files that are named" tree named.tree
"$expand" --format=tree all.tlg >all.tree 2>err
same "the tree of one file that has them all" tree all.tree
"$expand" --format=tree --brief dir 2>err | sed -E 's/^/x/' >brief
cut -c17- tree | sed -E 's/^/x/' >expected
same "--brief: without the start" brief expected

# without the file of the root, its children are roots; nobody knows any more how the killed one ended
mkdir part
cp dir/*.tlg part
rm "$(find part -name '*.tlg' | sort | head -n 1)"
"$expand" --format=tree part 2>err | mask >masked
cat >expected <<'END'
T code:3 PID proc 3 'exec ./proc 4; :' 'exec ./proc kill'
T code:4 PID |-- proc 4
T code:137 PID `-- proc kill
T code:6 PID proc fork
T code:7 PID `-- proc fork [fork]
T exec PID proc exec
T+ open PID proc kill
END
same "without the root" masked expected

# ---- directories ------------------------------------------------------------------------------------
mkdir mixed mixed/below.tlg
cp dir/*.tlg mixed
cp all.tlg mixed/ignored
echo "d0 | main | a text of git's" >mixed/git-trace2-discard
"$expand" mixed >stdout 2>err
same "other files and directories are not looked at" stdout dir.perf
echo text >mixed/text.tlg
: >mixed/empty.tlg
expect "what is no trace is reported" 3 "mixed/text.tlg: .*not a .tlg" "$expand" mixed
same "and the rest expanded" stdout dir.perf
if grep -q "mixed/empty.tlg: .*empty" err; then pass; else fail "an empty file is reported"; fi
expect "it is damage in the tree too" 3 "mixed/text.tlg" "$expand" --format=tree mixed
same "and the rest is shown" stdout tree

mkdir nothing useless
expect "an empty directory" 1 "nothing: no .tlg files" "$expand" nothing
expect "beside another one" 1 "nothing: no .tlg files" "$expand" nothing dir
same "which is expanded" stdout dir.perf
echo text >useless/text.tlg
expect "a directory without any trace" 1 "not a .tlg" "$expand" useless
expect "a file by the name of a directory" 1 "all.tlg/: Not a directory" "$expand" all.tlg/
expect "a directory that is not there" 1 "none/: No such file" "$expand" none/
cp -r dir output
expect "an input as output" 1 "input and the output" "$expand" output -o "$(find output -name '*.tlg' | head -n 1)"
"$expand" output >stdout 2>err
same "is not touched" stdout dir.perf

# the sentinel holds the trace of the process that found the directory full
mkdir full
for _ in 1 2 3 4; do TRACE2_RAW=$tmp/full TRACE2_MAX_FILES=4 ./proc 0; done
expect "a full directory" 0 "" "$expand" --format=tree full
if [ -s full/git-trace2-discard ] && [ "$(wc -l <stdout)" -eq 3 ]; then pass; else fail "3 of 4: $(cat stdout)"; fi

# ---- many ---------------------------------------------------------------------------------------------
mkdir many
for _ in $(seq 100); do TRACE2_RAW=$tmp/many ./proc 0; done
expect "processes one after the other, with few open files" 0 "" bash -c "ulimit -n 10; '$expand' many"
sort -s -k1,1 stdout >sorted
same "are in order" stdout sorted
mkdir once
mkdir there
for i in $(seq 20); do
	TRACE2_RAW=$tmp/once ./proc 0 "touch there/$i; until [ -e all ]; do sleep 0.1; done" &
done
until [ "$(find there -type f | wc -l)" -eq 20 ]; do sleep 0.1; done
touch all
wait
expect "processes at the same time" 0 "" "$expand" once
cp stdout all-at-once
expect "with few open files" 0 "" bash -c "ulimit -n 16; '$expand' once"
same "are all read" stdout all-at-once

total
