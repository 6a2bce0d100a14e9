#!/bin/bash
# SPDX-License-Identifier: MIT
# t2 record: the program gets each signal that is sent to t2, as often as without t2, whoever sends it to whomever: to
# t2 alone, to the process group, from the program itself.  Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
need python3 command -v python3
need_profiler
export PATH=$out:$PATH
cd "$tmp" || exit 1

# hears          prints its process id, then a line for each signal: number, value; ends with the last one
# hears ACTION   sends USR1 to its group, or USR2 to its parent, before
# hears send PID SIGNAL VALUE...
cat >hears.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void on_signal(int signal, siginfo_t *info, void *context)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "%d %d\n", signal, info->si_code == SI_QUEUE ? info->si_value.sival_int : 0);

	(void)context;
	if (write(1, line, (size_t)n) < 0 || signal == SIGRTMAX)
		_exit(0);
}

static void hear(void)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	sigfillset(&action.sa_mask);
	for (int signal = 1; signal <= SIGRTMAX; signal++)
		if (signal != SIGCHLD)
			sigaction(signal, &action, NULL);
	printf("pid %d\n", (int)getpid());
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const time_t end = time(NULL) + 100;

	for (int i = 4; i < argc; i++)
		if (sigqueue(atoi(argv[2]), atoi(argv[3]), (union sigval){ .sival_int = atoi(argv[i]) }))
			return 1;
	if (argc > 4)
		return 0;
	hear();
	if (argc > 1 && !strcmp(argv[1], "group"))
		kill(0, SIGUSR1);
	if (argc > 1 && !strcmp(argv[1], "parent"))
		kill(getppid(), SIGUSR2);
	while (time(NULL) < end)
		sleep(1);
	return 1;
}
END
quiet "compile" ${CC:-cc} -o hears hears.c

last=$(kill -l RTMAX) first=$(kill -l RTMIN) usr1=$(kill -l USR1) usr2=$(kill -l USR2)
# CHLD is also what t2's own children cause; the kernel forgets a CONT that waits when a stop signal comes
signals=$(for ((i = 1; i < last; i++)); do
	case $i in "$(kill -l KILL)" | "$(kill -l STOP)" | "$(kill -l CHLD)" | "$(kill -l CONT)") ;; *)
		[ "$i" -ge 32 ] && [ "$i" -lt "$first" ] || echo "$i" ;;
	esac
done)

# wait_for LINE: until the program has said so
wait_for()
{
	for ((i = 0; i < 300; i++)); do
		grep -qx -- "$1" heard && return
		sleep 0.1
	done
	fail "the program has not heard: $1"
}
# begin [ARGUMENT]: $t2 is the id of t2 and of its process group
begin()
{
	: >heard
	setsid t2 record -o hears.tlg -- ./hears "$@" >heard 2>errors &
	wait_for 'pid [0-9]*'
	t2=$(ps -o ppid= -p "$(sed -n 's/pid //p' heard)" | tr -d ' ')
}
# ended: the program has had all that was sent before, for the last signal is handled last
ended()
{
	kill -s "$last" "$t2"
	wait_for "$last 0"
	wait $!
}

# ---- to t2 ----------------------------------------------------------------------------------------
begin
for signal in $signals; do
	kill -s "$signal" "$t2"
done
ended
check "each signal is forwarded, once" diff - <(sed '/pid/d; s/ .*//; /^'"$last"'$/d' heard | sort -n) <<<"$signals"

begin
./hears send "$t2" "$first" 11 22 33 44
./hears send "$t2" "$usr1" 55
ended
check "with its value, those of real time as often as they came" diff - <(sort heard | sed '/pid/d') <<END
$usr1 55
$first 11
$first 22
$first 33
$first 44
$last 0
END

# ---- to all ---------------------------------------------------------------------------------------
begin
group=$(ps -o pgid= -p "$t2" | tr -d ' ')
for signal in $usr1 $(kill -l WINCH) $(kill -l CONT); do
	kill -s "$signal" -- "-$group"
done
kill -s "$usr2" "$t2"
wait_for "$usr2 0"
check "what all got the program gets once" [ "$(grep -cvx "pid .*\|$usr2 0" heard)" -eq 3 ]
sleep 0.5
kill -s "$usr1" "$t2"
ended
check "what t2 alone gets later is forwarded" [ "$(grep -cx "$usr1 0" heard)" -eq 2 ]

# ---- from the program itself ----------------------------------------------------------------------
begin group
ended
check "a signal to its own group it gets once" [ "$(grep -cx "$usr1 0" heard)" -eq 1 ]
begin parent
ended
check "one for its parent it does not get" [ "$(grep -cx "$usr2 0" heard)" -eq 0 ]

# ---- when t2 is killed ----------------------------------------------------------------------------
begin
group=$(ps -o pgid= -p "$t2" | tr -d ' ')
check "beside the program there are t2 and its witness" [ "$(pgrep -c -g "$group")" -eq 3 ]
kill -KILL "$t2"
wait $! 2>/dev/null
for ((i = 0; i < 300; i++)); do
	[ "$(pgrep -c -g "$group")" -gt 1 ] || break
	sleep 0.1
done
check "the program goes on alone" [ "$(pgrep -g "$group")" = "$(sed -n 's/pid //p' heard)" ]
t2=$(pgrep -g "$group")
kill -s "$last" "$t2"
wait_for "$last 0"

# ---- from a terminal ------------------------------------------------------------------------------
# ^Z in a session that nobody else controls stops nobody; ^C reaches the program once
cat >terminal.py <<'END'
import os, pty, signal, sys

signal.alarm(60)
pid, terminal = pty.fork()
if not pid:
    os.execvp("t2", ["t2", "record", "-o", "hears.tlg", "--"] + sys.argv[1:])
said = b""
def until(what):
    global said
    while what not in said:
        said += os.read(terminal, 1000)
until(b"ready")
os.write(terminal, b"\x1a")
os.write(terminal, b"\x03")
until(b"interrupted")
ended, status = os.waitpid(pid, os.WUNTRACED)
sys.exit(1 if os.WIFSTOPPED(status) else os.waitstatus_to_exitcode(status) - 4)
END
# shellcheck disable=SC2016
expect "a terminal" 0 '' python3 terminal.py bash -c \
	'n=0; trap "n=\$((n + 1)); echo interrupted" INT; echo ready; while [ $n -eq 0 ]; do sleep 0.1; done; sleep 0.5; exit $((n + 3))'

# ---- from nobody ----------------------------------------------------------------------------------
cat >alarmed.c <<'END'
#include <unistd.h>

int main(int argc, char **argv)
{
	(void)argc;
	alarm(1);
	execvp(argv[1], argv + 1);
	return 127;
}
END
quiet "compile" ${CC:-cc} -o alarmed alarmed.c
timeout -s KILL 60 ./alarmed t2 record -o hears.tlg -- sh -c 'trap "exit 9" ALRM; while :; do sleep 0.1; done' 2>errors
check "alarm(), of before" [ $? -eq 9 ]
total
