#!/bin/bash
# SPDX-License-Identifier: MIT
# t2 state says where each thread is, at an instant, now, or when its process was killed.  t2 top draws what runs: once
# into a pipe, again and again in a terminal (tmux), where its keys sort, filter and drill.  Ends with "N passed, N failed".
set -u
. "$(dirname "$0")/../common.sh"
need_shared_library
cd "$tmp" || exit 1
unset LD_PRELOAD TRACE2_PROF GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME TMUX
cat >stands.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <trace2.h>

static void complain(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	trace2_cmd_error_va(format, ap);
	va_end(ap);
}

static void *work(void *unused)
{
	trace2_thread_start("worker");
	trace2_region_enter("net", "wait", NULL);
	trace2_data_string("net", NULL, "peer", "host1");
	pause();
	return unused;
}

/* Ten blocks of 20 ms, an error, and then its end: kill, segv, exit; or wait. */
int main(int argc, char **argv)
{
	pthread_t thread;

	trace2_initialize();
	trace2_cmd_start((const char **)argv);
	pthread_create(&thread, NULL, work, NULL);
	usleep(100000);
	trace2_region_enter("index", "read", NULL);
	for (int i = 0; i < 10; i++) {
		trace2_region_enter("index", "block", NULL);
		trace2_data_intmax("index", NULL, "number", i);
		usleep(20000);
		trace2_region_leave("index", "block", NULL);
	}
	complain("cannot open %s", "x\033[31m");
	trace2_region_enter("index", "last", NULL);
	puts("stands");
	fflush(stdout);
	for (int i = 0; argc > 1 && !strcmp(argv[1], "wait"); i++) {
		trace2_region_enter("busy", "turn", NULL);
		usleep(1000);
		trace2_region_leave("busy", "turn", NULL);
	}
	if (argc > 1 && !strcmp(argv[1], "kill"))
		raise(SIGKILL);
	if (argc > 1 && !strcmp(argv[1], "segv"))
		raise(SIGSEGV);
	exit(3);
}
END
${CC:-cc} -w -pthread -I"$top/runtime" -o stands stands.c -L"$out" -Wl,-rpath,"$out" -ltrace2 || exit 1

# ---- state ------------------------------------------------------------------------------------------

# says WHAT PATTERN...: each is in the page
says()
{
	local pattern missing=
	for pattern in "${@:2}"; do
		grep -Eq -- "$pattern" page || missing+=" '$pattern'"
	done
	[ -z "$missing" ] || cat page
	none "$1" "$missing"
}
# regions THREAD: those that are open in it, outermost first
regions()
{
	awk -v t="$1" '$1 == "thread" { is = index($0, t ",") } is && $1 == "in" { printf "%s ", $5 }' page
}

TRACE2_RAW=$tmp/kill.tlg ./stands kill >/dev/null 2>&1
"$out/t2" state kill.tlg >page
says "a killed process: its last words" '^process [0-9]+ has no end: killed' 'command  ./stands kill' 'error +cannot open x' \
	'data_intmax +index/number 9' 'data +net/peer host1'
check "a killed process: regions of the main thread" [ "$(regions main)" = "index/read index/last " ]
check "a killed process: regions of the other" [ "$(regions th01:worker)" = "net/wait " ]
"$top/tests/cli/terminal.py" 1 "$out/t2" state --no-pager kill.tlg >page
check "on a terminal: the same" grep -q 'index/last' page
none "on a terminal no control character of a message comes out" "$(grep $'\033\\[31m' page)"
check "the ring file is still there" ls "$rings"/*.ring >/dev/null

TRACE2_RAW=$tmp/segv.tlg TRACE2_SIGNALS=SEGV ./stands segv >/dev/null 2>&1
"$out/t2" state segv.tlg >page
says "a crash: the signal" '^process [0-9]+ ended by signal 11, Segmentation fault'
check "a crash: regions" [ "$(regions main)" = "index/read index/last " ]

TRACE2_RAW=$tmp/exit.tlg ./stands exit >/dev/null
"$out/t2" state --last=2 exit.tlg >page
says "a process that ended" '^process [0-9]+ ended, code'
check "--last: so many events of each thread" [ "$(grep -c '^    event' page)" -eq 4 ]

# A forked child has its parent's clock and its parent's open regions.
cat >forks.c <<'END'
#include <sys/wait.h>
#include <trace2.h>
#include <unistd.h>
int main(void)
{
	trace2_initialize();
	trace2_region_enter("server", "serve", NULL);
	usleep(10000);
	if (fork())
		return wait(NULL) < 0;
	trace2_region_enter("server", "request", NULL);
	trace2_flush();
	_exit(0);
}
END
${CC:-cc} -I"$top/runtime" -o forks forks.c -L"$out" -Wl,-rpath,"$out" -ltrace2 || fail "forks.c does not compile"
TRACE2_RAW=$tmp/forks.tlg ./forks
"$out/t2" state forks.tlg >page
check "the parent: when it started" [ "$(grep -c '^  started  ' page)" -eq 1 ]
check "a forked child: by when it was forked" [ "$(grep -c '^  forked   before ' page)" -eq 1 ]
says "a forked child: its regions" '^    in     1 region entered earlier, before the fork$' '^    in     for .* server/request'
check "only there" [ "$(grep -c 'entered earlier' page)" -eq 1 ]

# At each event's time as many regions are open as were entered and not left by then.
"$out/t2" export --format=ndjson --thread=main exit.tlg |
	sed -n 's/^{"time":"\([0-9]*\)",.*"event":"\([a-z_]*\)".*/\1 \2/p' >events
depth=0
while read -r time event; do
	case $event in
	region_enter) depth=$((depth + 1)) ;;
	region_leave) depth=$((depth - 1)) ;;
	atexit | exit) break ;;
	esac
	"$out/t2" state --at="$time" --last=1 exit.tlg >page
	have=$(regions main | wc -w)
	[ "$have" -eq $depth ] || echo "$event at $time: $have regions, not $depth"
done <events >wrong
check "each instant: there were some" [ "$(wc -l <events)" -ge 30 ]
none "each instant: as many regions as were open" "$(cat wrong)"

# Root may look at one process of another user; `all' stays with his own.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$tmp"
	mkdir -m 777 theirs
	setpriv --reuid=65534 --regid=65534 --clear-groups env -u XDG_RUNTIME_DIR TRACE2_RAW="$tmp/theirs" ./stands wait >said &
	program=$!
	until [ -s said ]; do sleep 0.01; done
	"$out/t2" state $program >page
	says "root: a process of another user" "^process $program runs" 'command  ./stands wait'
	check "root: follows it" eval '"$out/t2" follow --seconds=1 --format=ndjson $program | grep -q "\"read\""'
	check "root: another process is another one" eval '! "$out/t2" state $$ 2>said'
	kill $program
	wait $program 2>/dev/null
	rm -f said "/dev/shm/trace2-$(printf %016x $program)"-*.ring

	env -u XDG_RUNTIME_DIR TRACE2_RAW="$tmp/ours.tlg" ./stands wait >said &
	program=$!
	until [ -s said ]; do sleep 0.01; done
	env -u XDG_RUNTIME_DIR setpriv --reuid=65534 --regid=65534 --clear-groups "$out/t2" state $program 2>page
	says "another user: that he may not look at it" 'only root may look at it'
	kill $program
	wait $program 2>/dev/null
	rm -f said "/dev/shm/trace2-$(printf %016x $program)"-*.ring
fi

TRACE2_RAW=$tmp/wait.tlg ./stands wait >said &
program=$!
until [ -s said ]; do sleep 0.01; done
sleep 0.3
"$out/t2" state $program >page
says "a process that runs" "^process $program runs" 'command  ./stands wait'
check "a process that runs: regions of the other thread" [ "$(regions th01:worker)" = "net/wait " ]

# ---- top --------------------------------------------------------------------------------------------

"$out/t2" top --once $program >page
says "into a pipe: rates, durations" '^ +[0-9]{2,} +[0-9]+ +[0-9.]+ m?s +[0-9.]+ [mu]s +[01] +.* busy/turn$'
says "what is open, and since when" ' 1 +[0-9.]+ m?s  net/wait$' ' 1 +[0-9.]+ m?s  index/last$'
"$out/t2" top all </dev/null >page2
check "into a pipe it is drawn once" [ "$(grep -c '^t2 top all' page2)" -eq 1 ]

if command -v tmux >/dev/null; then
	tmux="tmux -S $tmp/tmux -f /dev/null"
	# screen PATTERN: until it is on the screen
	screen()
	{
		for ((i = 0; i < 200; i++)); do
			$tmux capture-pane -p >page 2>/dev/null
			grep -Eq -- "$1" page && return
			sleep 0.05
		done
		cat page
		return 1
	}
	$tmux new-session -d -x 100 -y 30 "XDG_RUNTIME_DIR=$rings '$out/t2' top $program; echo over; stty -a | grep -o ' echo '; sleep 60"
	check "a terminal: labels" screen ' busy/turn'
	check "a terminal: the head" grep -q "^t2 top $program: " page
	$tmux send-keys t
	check "threads" screen 'th01:worker .* net/wait'
	$tmux send-keys l
	$tmux send-keys /
	$tmux send-keys net
	$tmux send-keys Enter
	check "a filter" screen '^by rate, /net'
	check "a filter: what it lets through" screen 'net/wait'
	none "a filter: the rest is gone" "$(grep busy/turn page)"
	$tmux send-keys s s
	check "sort" screen '^by time'
	$tmux send-keys / busy Enter
	screen '/busy' && screen 'busy/turn'
	$tmux send-keys Enter
	check "one label" screen '99 % took at most'
	$tmux send-keys Escape
	check "back" screen 'category/label'
	$tmux send-keys q
	check "q ends it" screen '^over'
	check "the terminal is as before" screen '^ echo'
	$tmux kill-server
else
	echo "no tmux: the keys were not tried"
fi
kill $program
wait $program 2>/dev/null

# refuses WHAT TEXT COMMAND ARGUMENT...
refuses()
{
	"$out/t2" "${@:3}" >page 2>errors && fail "$1: exit status"
	check "$1" grep -q -- "$2" errors
}
refuses "state of nothing" "needs a process id or a file" state
refuses "state of a directory" "neither a process id nor a file" state "$tmp"
refuses "an instant from the end" "--at is no time" state --at=-1s exit.tlg
refuses "--at elsewhere" "--at for t2 state" show --at=+1s exit.tlg
refuses "--once elsewhere" "--once for t2 top" show --once exit.tlg
total
