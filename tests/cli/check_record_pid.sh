#!/bin/bash
# SPDX-License-Identifier: MIT
# t2 record --dormant, --pid, --delay, --seconds: a program is recorded for a time, with the processes below it, and goes
# on as before.  Who is not prepared is left alone, with one line.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC

. "$(dirname "$0")/../common.sh"
need_profiler
export PATH=$out:$PATH
cd "$tmp" || exit 1
unset TRACE2_CTL

# spin SECONDS: a program that knows nothing of Trace2, which ends earlier when there is a file "over"; tree SECONDS:
# with two children of it
cat >spin.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

volatile double x;

__attribute__((noinline)) static void hot_function(void)
{
	for (int i = 0; i < 100000; i++)
		x += i * 0.5;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double end = now() + atof(argv[1]);

	if (strstr(argv[0], "tree"))
		for (int i = 0; i < 2; i++)
			if (!fork()) {
				execl("./spin", "./spin", argv[1], (char *)NULL);
				_exit(9);
			}
	while (now() < end && access("over", F_OK))
		hot_function();
	while (wait(NULL) > 0)
		continue;
	printf("done %d\n", argc);
	return 5;
}
END
quiet "compile" ${CC:-cc} -g -O1 -o spin spin.c
ln -s spin tree
${CC:-cc} -O2 -Wall -I"$top/runtime" -o steered "$top/tests/cli/steer/steered.c" -L"$out" -Wl,-rpath,"$out" -ltrace2 -pthread ||
	fail "steered.c does not compile"

# samples FILE [WHAT]: how many are in a trace
samples()
{
	t2 export --format=ndjson "$1" 2>/dev/null | grep '"event":"sample"' | grep -c "${2:-}"
}
# processes FILE: how many have samples
processes()
{
	t2 export --format=ndjson "$1" 2>/dev/null | grep '"event":"sample"' | grep -oE '"pid":"?[0-9]+' | sort -u | wc -l
}
# between NAME LEAST MOST NUMBER
between()
{
	check "$1: $4 is from $2 to $3" [ "$4" -ge "$2" -a "$4" -le "$3" ]
}
# await COMMAND...: until it is so, ten seconds at most
await()
{
	local i
	for ((i = 0; i < 500; i++)); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.02
	done
	return 1
}
# dormant PROGRAM...: in the background; its id is $pid
dormant()
{
	t2 record --dormant -- "$@" >said 2>&1 &
	pid=$!
	await t2 ctl "$pid" status
}

# ---- a program that is started
expect "--seconds" 5 '' t2 record --cpu=100 --seconds=0.5 -o early.tlg -- ./spin 1.5
check "it has run to its end" grep -qx 'done 2' stdout
between "samples of the first half second" 5 60 "$(samples early.tlg)"
expect "--delay" 5 '' t2 record --cpu=100 --delay=0.7 -o late.tlg -- ./spin 1.2
between "samples of the last half second" 5 60 "$(samples late.tlg)"
expect "--delay and --seconds" 5 '' t2 record --cpu=100 --delay=0.3 --seconds=0.5 -o middle.tlg -- ./spin 1.5
between "samples in between" 5 60 "$(samples middle.tlg)"
expect "a tree of processes" 5 '' t2 record --cpu=100 --delay=0.3 --seconds=0.7 -o tree.tlg -- ./tree 2
check "all three are in the trace" [ "$(processes tree.tlg)" -eq 3 ]
between "none before, none behind" 10 150 "$(samples tree.tlg)"
expect "--seconds of a tree" 5 '' t2 record --cpu=100 --seconds=0.5 -o many/ -- ./tree 1.5
check "each has a file" [ "$(find many -type f | wc -l)" -eq 3 ]
between "samples of all of them" 10 150 "$(samples many)"
expect "an end before the beginning" 5 'ended before the recording began' t2 record --delay=5 -o never.tlg -- ./spin 0.1
check "leaves no trace" [ ! -e never.tlg ]
t2 record --seconds=0.2 -o killed.tlg -- sh -c 'sleep 0.5; kill -TERM $$' 2>/dev/null &
wait $! 2>/dev/null
check "its signal" [ $? -eq 143 ]
# shellcheck disable=SC2016
expect "as a service's main process" 5 '' sh -c 'SYSTEMD_EXEC_PID=$$ exec \
	t2 record --cpu=100 --delay=0.3 --seconds=0.4 -o service.tlg -- ./spin 1.5'
between "samples of a service" 5 50 "$(samples service.tlg)"

# ---- a program that runs
dormant ./spin 60
check "the program has the id" grep -qx spin "/proc/$pid/comm"
expect "it is dormant" 0 '' t2 ctl "$pid"
check "so" grep -qx 'state: dormant' stdout
expect "recorded for a time" 0 '' t2 record --pid="$pid" --cpu=100 --seconds=0.5
between "samples" 5 60 "$(samples spin.tlg)"
check "it is off again" grep -qx 'state: off' <(t2 ctl "$pid")
before=$(samples spin.tlg)
sleep 0.3
check "nothing more is recorded" [ "$(samples spin.tlg)" -eq "$before" ]
expect "another file is not possible" 1 'goes on in the file that it has, so without -o' \
	t2 record --pid="$pid" -o other.tlg --seconds=0.1
t2 record --pid="$pid" --cpu=100 2>err &
recorder=$!
await sh -c "t2 ctl $pid | grep -qx 'state: on'"
sleep 0.5
kill -INT "$recorder"
wait "$recorder"
check "a signal ends the recording: $?" [ "$(samples spin.tlg)" -gt "$before" ]
check "it says where" grep -q "goes on in the file that it has: $tmp/spin.tlg" err
check "it is off again" grep -qx 'state: off' <(t2 ctl "$pid")
t2 record --pid="$pid" 2>err &
recorder=$!
await sh -c "t2 ctl $pid | grep -qx 'state: on'"
touch over
wait "$pid"
check "the program ends as ever" [ $? -eq 5 ]
wait "$recorder"
check "and the recorder with it" [ $? -eq 0 ]
rm over
none "on standard error of the program" "$(grep -vx 'done 2' said)"

dormant ./tree 60
expect "with the processes below it" 0 '' t2 record --pid="$pid" --cpu=100 --seconds=0.7 -o below.tlg
check "are three" [ "$(processes below.tlg)" -eq 3 ]
t2 record --pid="$pid" --cpu 2>/dev/null &
recorder=$!
await sh -c "t2 ctl $pid | grep -qx 'state: on'"
children=$(cat "/proc/$pid/task/$pid/children")
kill -9 "$pid"
wait "$recorder"
check "one that is killed ends it" [ $? -eq 0 ]
wait "$pid" 2>/dev/null
# shellcheck disable=SC2086
kill -9 $children

TRACE2_RAW_POLICY=overwrite dormant ./spin 60
expect "a flight recorder" 0 '' t2 record --pid="$pid" --cpu=100 --seconds=0.5 -o flight.tlg
between "samples of its snapshot" 5 60 "$(samples flight.tlg)"
touch over
wait "$pid"
rm over

mkfifo to
env TRACE2_CTL=1 ./steered <to >from 2>said &
pid=$!
exec 7>to
await t2 ctl "$pid" status
while [ ! -e over ]; do echo "call 1"; sleep 0.02; done >&7 &
expect "a program with libtrace2 alone" 0 '' t2 record --pid="$pid" --seconds=0.7 -o calls.tlg
touch over
check "its calls are recorded" [ "$(t2 export --format=event calls.tlg 2>/dev/null | grep -c '"key":"number"')" -gt 10 ]
expect "which has no profiler" 1 'libtrace2-prof is not in this process' \
	t2 record --pid="$pid" --heap --seconds=0.1
check "it is off, as before" grep -qx 'state: off' <(t2 ctl "$pid")
exec 7>&-
wait "$pid"
dormant sleep 3
expect "a program that does nothing" 1 'nothing was recorded' t2 record --pid="$pid" --seconds=0.2 -o nothing.tlg
check "has no trace" [ ! -e nothing.tlg ]
expect "where no file can be" 1 'nowhere' t2 record --pid="$pid" -o /nowhere/trace.tlg --seconds=0.1
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	expect "another user" 1 "only its user and root|another user's" \
		setpriv --reuid=65534 --regid=65534 --clear-groups t2 record --pid="$pid" -o no.tlg
fi
wait "$pid"

# ---- those that cannot be recorded, and what is wrong
expect "a process that is not prepared" 1 'it is not prepared: start it with TRACE2_CTL=1' t2 record --pid=$$
check "says how" grep -q 't2 record --dormant' err
expect "no process" 1 'no such process' t2 record --pid=999999999
expect "no number" 2 '--pid needs the id of a process, not: spin' t2 record --pid=spin
expect "--pid and a program" 2 'no program, please' t2 record --pid=$$ true
expect "--pid and what is for the start" 2 'with the start of a program, not with --pid: frames=3' \
	t2 record --pid=$$ --frames=3
expect "--dormant and a profile" 2 'profiles go with --pid: cpu=100' t2 record --dormant --cpu=100 true
expect "--dormant and a trace" 2 'records nothing' t2 record --dormant -o x.tlg true
expect "--dormant and a time" 2 'records nothing' t2 record --dormant --seconds=3 true
for wrong in --seconds=0 --seconds=x --seconds= --seconds=1. --seconds=-1 --seconds=1e3 --delay=.5 --delay=99999999999; do
	expect "$wrong" 2 "^t2 record: ${wrong%%=*} needs seconds, such as 3 or 0.5, not: " t2 record "$wrong" -o x.tlg true
done
expect "--dormant with what is for the start" 0 '' t2 record --dormant --frames=30 --unwind=fp -- \
	sh -c '[ "$TRACE2_PROF $TRACE2_CTL ${TRACE2_RAW-none}" = "frames=30,unwind=fp 1 none" ]'

# ---- servers of others: asleep, recorded for a second while they work, and they go on
# serve NAME PORT COMMAND...: $pid
serve()
{
	dormant "${@:3}"
	check "$1 listens" await bash -c "exec 3<>/dev/tcp/127.0.0.1/$2"
}
# free_port: of 20 tries
free_port()
{
	local i
	for ((i = 0; i < 20; i++)); do
		port=$((20000 + RANDOM))
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || return
	done
}
if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null; then
	free_port
	serve redis "$port" redis-server --port "$port" --bind 127.0.0.1 --save '' --appendonly no
	timeout 20 redis-benchmark -p "$port" -n 10000000 -q -t get >/dev/null 2>&1 &
	load=$!
	expect "redis is recorded" 0 '' t2 record --pid="$pid" --cpu=100 --seconds=1 -o redis.tlg
	between "samples of redis" 10 400 "$(samples redis.tlg)"
	kill "$load"
	wait "$load" 2>/dev/null
	check "it goes on" [ "$(timeout 5 redis-cli -p "$port" ping)" = PONG ]
	kill "$pid"
	wait "$pid"
	check "and ends well" [ $? -eq 0 ]
	none "redis says nothing of us" "$(grep -i trace2 said)"
fi
nginx=$(PATH=$PATH:/usr/sbin command -v nginx)
if [ -n "$nginx" ] && command -v ab >/dev/null; then
	free_port
	mkdir -p www/logs
	head -c 20000 /dev/zero >www/file
	cat >nginx.conf <<END
worker_processes 2;
daemon off;
pid $tmp/www/pid;
error_log stderr;
user $(id -un) $(id -gn);
events { worker_connections 100; }
http {
	access_log off;
	client_body_temp_path $tmp/www/body; proxy_temp_path $tmp/www/proxy; fastcgi_temp_path $tmp/www/fastcgi;
	uwsgi_temp_path $tmp/www/uwsgi; scgi_temp_path $tmp/www/scgi;
	server { listen 127.0.0.1:$port; root $tmp/www; }
}
END
	serve nginx "$port" "$nginx" -p "$tmp/www" -c "$tmp/nginx.conf"
	timeout 20 ab -q -c 4 -n 10000000 "http://127.0.0.1:$port/file" >/dev/null 2>&1 &
	load=$!
	expect "nginx is recorded, with its workers" 0 '' t2 record --pid="$pid" --cpu=100 --seconds=1 -o nginx.tlg
	between "samples of nginx" 10 400 "$(samples nginx.tlg)"
	kill "$load"
	wait "$load" 2>/dev/null
	check "it goes on" timeout 5 bash -c "exec 3<>/dev/tcp/127.0.0.1/$port; printf 'GET /file HTTP/1.0\r\n\r\n' >&3; grep -qa '200 OK' <&3"
	kill -QUIT "$pid"
	wait "$pid"
	check "and ends well" [ $? -eq 0 ]
	none "nginx says nothing of us" "$(grep -i trace2 said)"
fi
total
