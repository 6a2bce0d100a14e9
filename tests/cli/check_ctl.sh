#!/bin/bash
# SPDX-License-Identifier: MIT
# t2 ctl: running programs are asked how they are, switched on and off, flushed, rotated, given other settings; whoever
# cannot be asked is left alone, with one clear error.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC

. "$(dirname "$0")/../common.sh"
need_profiler
export TRACE2_CTL=1
export PATH=$out:$PATH
cd "$tmp" || exit 1
chmod 1777 "$tmp"   # nobody writes there, too
${CC:-cc} -O2 -Wall -I"$top/runtime" -o steered "$top/tests/cli/steer/steered.c" -L"$out" -Wl,-rpath,"$out" -ltrace2 -pthread ||
	fail "steered.c does not compile"

# begin VARIABLE...: a program of steered.c, whose id is $pid.  tell LINE: it obeys.  finish: it ends
mkfifo to from
begin()
{
	env "$@" ./steered <to >from 2>>said &
	job=$!
	exec 7>to 8<from
	read -r pid <&8
}
tell()
{
	echo "$1" >&7
	read -r -t 10 answer <&8
}
finish()
{
	echo end >&7
	exec 7>&- 8<&-
	wait "$job" 2>/dev/null
}
# gone: a child of a program that has ended, too
gone()
{
	exec 7>&- 8<&-
	for ((i = 0; i < 200; i++)); do [ -e "/proc/$pid" ] || break; sleep 0.02; done
	[ ! -e "/proc/$pid" ]
}
# killed: the same by kill -9
killed()
{
	kill -9 "$pid"
	exec 7>&- 8<&-
	wait "$job" 2>/dev/null
}
# numbers FILE: what was recorded by "call"
numbers()
{
	t2 export --format=event "$@" 2>/dev/null | sed -n 's/.*"key":"number","value":"*\([0-9]*\).*/\1/p'
}
# says NAME PATTERN: what the last command printed
says()
{
	check "$1: $(head -n 3 stdout)" grep -qE -- "$2" stdout
}

# ---- a traced program
begin TRACE2_RAW="$tmp/run.tlg" TRACE2_RAW_THREAD=init TRACE2_RAW_FLUSH=60s
tell "call 10"
expect "status" 0 "" t2 ctl "$pid"
says "status has the state" '^state: on$'
says "status has the file" "^file: $tmp/run.tlg\$"
says "status has settings" '^flush: 60000$'
says "status has a rate" '^rate: [0-9]+ raw events a second$'
tell "call 10"
expect "flush" 0 "" t2 ctl "$pid" flush
check "what was recorded before is in the file" [ "$(numbers run.tlg | wc -l)" -eq 20 ]
expect "off" 0 "" t2 ctl "$pid" off
tell "call 5"
expect "off twice" 1 "is off already" t2 ctl "$pid" off
expect "flush while it is off" 0 "" t2 ctl "$pid" flush
expect "status while it is off" 0 "" t2 ctl "$pid" status
says "it is off" '^state: off$'
expect "on" 0 "" t2 ctl "$pid" on
expect "on twice" 1 "is on already" t2 ctl "$pid" on
tell "call 5"
expect "set" 0 "" t2 ctl "$pid" set flush=100ms policy=block wait=2s memory=8m
expect "status with the new settings" 0 "" t2 ctl "$pid"
says "flush is set" '^flush: 100$'
says "policy is set" '^policy: block$'
says "memory is set" '^memory: 8388608$'
expect "a value out of range" 1 "flush=0 is out of range" t2 ctl "$pid" set flush=0
expect "a key that cannot change" 1 "redact=0 is not KEY=VALUE" t2 ctl "$pid" set redact=0
expect "overwrite" 1 "cannot become overwrite" t2 ctl "$pid" set wait=3s policy=overwrite
expect "more memory than at the start" 1 "cannot be more" t2 ctl "$pid" set memory=1g
expect "status once more" 0 "" t2 ctl "$pid"
says "of a command that is refused nothing is done" '^wait: 2000$'
expect "a rotation that nobody calls for" 0 "" t2 ctl "$pid" rotate
says "it is later" "happens with the program's next call"
tell "call 1"
# until_status PATTERN WHO: the status says so
until_status()
{
	local i
	for ((i = 0; i < 200; i++)); do
		t2 ctl "$2" 2>/dev/null | grep -qE -- "$1" && return
		sleep 0.05
	done
	return 1
}
check "the next call rotates" until_status "^file: $tmp/run.1.tlg\$" "$pid"
tell "threads"
expect "a rotation under load" 0 "" t2 ctl "$pid" rotate
says "it says where it goes on" "rotated to $tmp/run.2.tlg"
expect "no profiler" 1 "libtrace2-prof is not in this process" t2 ctl "$pid" profile cpu
expect "no flight recorder" 1 "no flight recorder" t2 ctl "$pid" snapshot
finish
check "nothing but what was called while it was on, each once" \
	[ "$(numbers run.tlg run.1.tlg run.2.tlg | sort -n | tr '\n' ' ')" = "$(echo {1..20} {26..31}) " ]
expect "the pause is told" 0 "switched off" t2 summary run.tlg run.1.tlg run.2.tlg
check "no page is left" [ -z "$(ls "$rings")" ]
expect "a process that has ended" 1 "process $pid: there is no such process" t2 ctl "$pid" flush

# ---- live text outputs
begin TRACE2_PERF="$tmp/live.perf" TRACE2_RAW="$tmp/texts.tlg" TRACE2_RAW_THREAD=init TRACE2_RAW_FLUSH=60s
# live: the numbers in the text
live()
{
	sed -n 's/.*number:\([0-9]*\).*/\1/p' live.perf | tr '\n' ' '
}
tell "call 3"
expect "a text output stops" 0 "" t2 ctl "$pid" set perf=off
check "what was recorded before is there" [ "$(live)" = "1 2 3 " ]
tell "call 3"
expect "it goes on" 0 "" t2 ctl "$pid" set perf=on flush=50s
tell "call 2"
expect "an output that is not there" 1 "needs an output that was there from the start" t2 ctl "$pid" set event=on
expect "what is neither" 1 "neither on nor off" t2 ctl "$pid" set perf=maybe
finish
check "what was recorded in between is not" [ "$(live)" = "1 2 3 7 8 " ]
check "each line is whole" [ "$(grep -c '^[0-9:.]* .*|' live.perf)" -eq "$(wc -l <live.perf)" ]
check "the trace has all" [ "$(numbers texts.tlg | tr '\n' ' ')" = "1 2 3 4 5 6 7 8 " ]
# ---- a traced program that records nothing, and says nothing of its thread
begin TRACE2_RAW="$tmp/still.tlg"
expect "status of who has recorded nothing" 0 "" t2 ctl "$pid"
says "it is on, too" '^state: on$'
expect "off before the first call" 0 "" t2 ctl "$pid" off
tell "call 5"
expect "on after it" 0 "" t2 ctl "$pid" on
tell "call 5"
finish
check "what was called while it was on" [ "$(numbers still.tlg | tr '\n' ' ')" = "$(echo {6..10}) " ]

# ---- a program that knows nothing of it, with a trace, which is quiet
TRACE2_RAW=$tmp/sleep.tlg LD_PRELOAD=$out/libtrace2-prof.so.0 sleep 100 &
pid=$!
for ((i = 0; i < 100; i++)); do t2 ctl "$pid" >/dev/null 2>&1 && break; sleep 0.05; done
expect "status of a preloaded program with a trace" 0 "" t2 ctl "$pid"
says "it is on as well" '^state: on$'
expect "flush of it" 0 "" t2 ctl "$pid" flush
check "its file has its start" eval 't2 export --format=event sleep.tlg 2>/dev/null | grep -q "\"argv\":\[\"sleep"'
kill "$pid"
wait "$pid" 2>/dev/null

# ---- kill -9 behind an answer
begin TRACE2_RAW="$tmp/killed.tlg" TRACE2_RAW_THREAD=init TRACE2_RAW_FLUSH=60s
tell "call 1000"
expect "flush, then kill" 0 "" t2 ctl "$pid" flush
killed
check "all of it is in the file" [ "$(numbers killed.tlg | wc -l)" -eq 1000 ]
expect "a killed process" 1 "there is no such process" t2 ctl "$pid" flush
check "its page is removed" [ -z "$(ls "$rings" | grep ctl)" ]
rm -f "$rings"/*.ring

# ---- a dormant program
begin TRACE2_CTL=1
tell "region"
expect "status of a dormant one" 0 "" t2 ctl "$pid"
says "it is dormant" '^state: dormant$'
expect "flush of a dormant one" 1 "nothing is recorded" t2 ctl "$pid" flush
expect "on without a file" 1 "needs the path" t2 ctl "$pid" on
check "it has one page and one more thread" [ "$(ls "$rings" | wc -l) $(ls "/proc/$pid/task" | wc -l)" = "1 2" ]
expect "on, and nobody calls" 0 "" t2 ctl "$pid" on -o dormant.tlg
says "it is later" "happens with the program's next call"
expect "off again" 0 "" t2 ctl "$pid" off
tell "call 3"
check "nothing was recorded" [ ! -e dormant.tlg ]
tell "threads"
expect "on where no file can be" 1 "the session cannot begin" t2 ctl "$pid" on -o /nowhere/dormant.tlg
expect "on" 0 "" t2 ctl "$pid" on -o dormant.tlg
says "it says where" "on: it records to $tmp/dormant.tlg"
tell "call 4"
tell "leave"
finish
check "what was called since" [ "$(numbers dormant.tlg | tr '\n' ' ')" = "4 5 6 7 " ]
t2 export --format=event dormant.tlg >events 2>err
check "the command line is in it" grep -q '"event":"start".*steered' events
check "a region that was open has no time" grep -q '"region_leave".*"label":"early"' events
check "... none that is wrong" [ "$(grep '"label":"early"' events | grep -c '"t_rel":')" -eq 0 ]
check "a region behind it has one" grep -q '"region_leave".*"t_rel":.*"label":"late"' events
check "the main thread is main" grep -q '"event":"data","[^}]*"thread":"main"' <(grep '"key":"number"' events)
check "no page is left" [ -z "$(ls "$rings")" ]

begin TRACE2_CTL=0 TRACE2_RAW="$tmp/none.tlg" TRACE2_RAW_THREAD=init
tell "call 1"
expect "TRACE2_CTL=0" 1 "no control page" t2 ctl "$pid"
finish

# ---- forked, executed
begin TRACE2_CTL=1
parent=$pid
tell "fork"
pid=${answer#ok }
check "the child answers" [ "$pid" != "$parent" ]
wait "$job" 2>/dev/null
expect "a dormant child has a page of its own" 0 "" t2 ctl "$pid" on -o child.tlg
tell "call 2"
expect "its parent has none any more" 1 "no such process" t2 ctl "$parent"
expect "the child is flushed" 0 "" t2 ctl "$pid" flush
check "the child records" [ "$(numbers child.tlg | wc -l)" -eq 2 ]
echo "exec $(command -v sleep)" >&7
for ((i = 0; i < 100; i++)); do [ "$(cat "/proc/$pid/comm")" = sleep ] && break; sleep 0.02; done
expect "another program since exec" 1 "no control page any more: it has executed another program" t2 ctl "$pid"
kill "$pid"
check "it ends" gone
rm -f "$rings"/*

begin TRACE2_RAW="$tmp/forks.tlg" TRACE2_RAW_THREAD=init
tell "call 2"
expect "a session pauses" 0 "" t2 ctl "$pid" off
tell "fork"
pid=${answer#ok }
wait "$job" 2>/dev/null
expect "a child of a pause is off" 0 "" t2 ctl "$pid"
says "it is off" '^state: off$'
expect "it is switched on" 0 "" t2 ctl "$pid" on
tell "call 3"
expect "it is flushed" 0 "" t2 ctl "$pid" flush
check "both have recorded" [ "$(numbers forks.tlg | wc -l)" -eq 5 ]
check "it ends" gone

# ---- those that cannot be asked
expect "a process without the library" 1 "not prepared: start it with TRACE2_CTL=1" t2 ctl $$
expect "no process" 1 "there is no such process" t2 ctl 999999999
expect "no name" 1 "no process of this name" t2 ctl no-such-program
expect "none at all" 1 "no process has a control page" t2 ctl all
begin TRACE2_CTL=1
kill -STOP "$pid"
expect "a process that is stopped" 1 "did not answer in time" t2 ctl --timeout=1 "$pid"
kill -CONT "$pid"
expect "it answers when it goes on" 0 "" t2 ctl steered
expect "all" 0 "" t2 ctl all status
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	expect "another user" 1 "only its user and root" setpriv --reuid=65534 --regid=65534 --clear-groups t2 ctl "$pid"
	chmod 644 "$rings"/*.ctl
	expect "a page that is open to others" 1 "open to others" t2 ctl "$pid"
	chmod 600 "$rings"/*.ctl
	cp steered privileged && chown 65534 privileged && chmod 4755 privileged
	setpriv --reuid=65533 --regid=65533 --clear-groups env TRACE2_CTL=1 ./privileged </dev/null >setuid_pid
	check "a program with other rights has no page" [ "$(ls "$rings" | grep -c ctl)" -eq 1 ]
fi
tell "lock"
expect "a sandbox: what opens a file" 1 "locked itself in" t2 ctl "$pid" on -o locked.tlg
expect "a sandbox: what does not" 0 "" t2 ctl "$pid" status
finish
page=$rings/trace2-$(printf %016x $$)-0000000000000001.ctl
head -c 4096 /dev/zero >"$page"
chmod 600 "$page"
expect "a page that nobody has mapped" 1 "no control page any more" t2 ctl $$
rm -f "$page"

# ---- the profiler, preloaded
cat >spin.c <<'END'
#include <time.h>
volatile double x;
__attribute__((noinline)) void hot_function(void) { for (int i = 0; i < 100000; i++) x += i * 0.5; }
int main(void) { for (time_t end = time(0) + 200; time(0) < end;) hot_function(); return 0; }
END
${CC:-cc} -O1 -o spin spin.c
LD_PRELOAD=$library TRACE2_CTL=1 ./spin &
job=$!
for ((i = 0; i < 100; i++)); do [ -n "$(ls "$rings")" ] && break; sleep 0.02; done
expect "a program that knows nothing of Trace2" 0 "" t2 ctl spin on -o spin.tlg
expect "a profile starts" 0 "" t2 ctl "$job" profile cpu=250hz --seconds=4
check "is on soon" until_status '^state: on$' "$job"
expect "status with a profile" 0 "" t2 ctl "$job" status
says "it names the profile" '^profiles: cpu$'
expect "no such profile" 1 "no profile, or no rate" t2 ctl "$job" profile cpu=0
check "it ends by itself" until_status '^profiles: none$' "$job"
expect "flush" 0 "" t2 ctl "$job" flush
check "it is in the trace, with the function" grep -q hot_function <(t2 summary spin.tlg 2>/dev/null)
samples=$(t2 export --format=ndjson spin.tlg 2>/dev/null | grep -c '"sample"')
sleep 0.5
expect "flush again" 0 "" t2 ctl "$job" flush
expect "status behind its time" 0 "" t2 ctl "$job" status
says "it names no profile" '^profiles: none$'
check "it has stopped behind its time" [ "$(t2 export --format=ndjson spin.tlg 2>/dev/null | grep -c '"sample"')" -eq "$samples" ]
kill -9 "$job"
wait 2>/dev/null

# ---- a flight recorder
begin TRACE2_RAW="$tmp/flight.tlg" TRACE2_RAW_POLICY=overwrite
tell "call 10"
expect "snapshot" 0 "" t2 ctl "$pid" snapshot
check "it is in the file" [ "$(numbers flight.tlg | wc -l)" -eq 10 ]
expect "snapshot with a reason" 0 "" t2 ctl "$pid" snapshot "somebody asked"
for format in perf event ndjson csv; do
	check "the reason is in it, $format" grep -q "somebody asked" <(t2 export --format=$format flight.tlg 2>/dev/null)
done
expect "rotation of a flight recorder" 1 "flight recorder" t2 ctl "$pid" rotate
tell "call 5"
expect "flush of a flight recorder" 1 "writes snapshots only" t2 ctl "$pid" flush
expect "it is switched off" 0 "" t2 ctl "$pid" off
says "nothing is written by that" "writes snapshots only"
check "so it is" [ "$(numbers flight.tlg | wc -l)" -eq 10 ]
finish

# ---- command lines
expect "no process named" 2 "no process: PID, NAME or all" t2 ctl
expect "unknown command" 2 "unknown command: explode" t2 ctl all explode
expect "set without a value" 2 "needs an argument: set" t2 ctl all set
expect "flush with an argument" 2 "too many arguments: now" t2 ctl all flush now
expect "--output with another command" 2 "--output goes with on" t2 ctl all flush -o file
expect "--seconds with another command" 2 "--seconds goes with profile" t2 ctl all flush --seconds=3
expect "seconds that are none" 2 "seconds are 1 to 86400" t2 ctl all profile cpu --seconds=x
none "programs said something" "$(cat said)"
# ---- what kill -9 leaves is collected by later processes of the user: one in sixteen looks for it
rm -f "$rings"/*
begin TRACE2_RAW="$tmp/killed.tlg" TRACE2_RAW_THREAD=init
tell "call 1"
t2 ctl "$pid" flush >/dev/null
killed
check "a killed process leaves its page" [ "$(find "$rings" -name '*.ctl' | wc -l)" -eq 1 ]
for ((i = 0; i < 2000; i++)); do
	[ -z "$(find "$rings" -name '*.ctl')" ] && break
	TRACE2_RAW="$tmp/later.tlg" TRACE2_RAW_THREAD=init ./steered </dev/null >/dev/null
done
check "later processes remove it" [ -z "$(find "$rings" -name '*.ctl')" ]

total
