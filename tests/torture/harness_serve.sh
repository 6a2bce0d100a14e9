#!/bin/bash
# SPDX-License-Identifier: MIT
# P19: t2 serve leaves each process as it was, whatever its clients do: many at a time, gone in the middle, hostile; also
# when the server itself ends or is killed.  Four programs of served.c: one dormant, one traced, one whose user has a
# profile on, one flight recorder.
set -u
. tests/torture/common.sh
need curl "the storm of requests" || { total; exit; }
export XDG_RUNTIME_DIR=$rings HOME=$work LC_ALL=C
unset LD_PRELOAD TRACE2_PROF XDG_STATE_HOME STATE_DIRECTORY LISTEN_PID LISTEN_FDS GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME
built=$PWD/$out
[ "${out#/}" = "$out" ] || built=$out
t2=$built/t2
RANDOM=$seed
${CC:-cc} -O1 -Iruntime -o "$work/served" tests/cli/serve/served.c -L"$built" -Wl,-rpath,"$built" -ltrace2-prof -ltrace2 -pthread
verdict "served.c compiles" $?
socket=$rings/trace2-serve.sock
mkfifo "$work/input"
exec 7<>"$work/input"

# start NAME VARIABLE...
start()
{
	env TRACE2_CTL=1 "${@:2}" "$work/served" <&7 7>&- &
	pids[$1]=$!
}
declare -A pids=()
server=
trap 'kill -9 $server "${pids[@]}" 2>/dev/null; wait; rm -rf "$work" "$rings"' EXIT
start dormant
start traced TRACE2_RAW="$work/traced.tlg" TRACE2_RAW_THREAD=init
start profiled TRACE2_RAW="$work/profiled.tlg" TRACE2_RAW_THREAD=init TRACE2_PROF=heap=64k,cpu=50hz
start flight TRACE2_RAW="$work/flight.tlg" TRACE2_RAW_POLICY=overwrite
for name in "${!pids[@]}"; do
	for ((i = 0; i < 500; i++)); do "$t2" ctl "${pids[$name]}" >/dev/null 2>&1 && break; sleep 0.02; done
done

serve()
{
	"$t2" serve "$work" 2>"$work/announced" </dev/null &
	server=$!
	for ((i = 0; i < 500; i++)); do grep -q listens "$work/announced" 2>/dev/null && break; sleep 0.02; done
}
# states: what each process says of its state and its profiles; a dormant one may be off now
states()
{
	local name
	for name in dormant flight profiled traced; do
		"$t2" ctl "${pids[$name]}" 2>&1 |
			sed -n "s/^state: dormant/state: off/; /^state:\|^profiles:/s/^/$name /p"
	done
}
# await_states SECONDS: they are as before in that time
await_states()
{
	local end=$((SECONDS + $1))

	while ((SECONDS <= end)); do
		[ "$(states)" = "$before" ] && return
		sleep 0.1
	done
	diff <(echo "$before") <(states)
	return 1
}
# ask: one client
ask()
{
	local kinds=(profile wall heap allocs block mutex threadcreate goroutine trace) names=("${!pids[@]}")
	local path=/pid/${pids[${names[RANDOM % 4]}]}/debug/pprof/${kinds[RANDOM % 9]}?seconds=0.$((RANDOM % 9 + 1))
	case $((RANDOM % 8)) in
	0) path=/metrics ;;
	1) path=/ ;;
	2) path=/pid/${pids[${names[RANDOM % 4]}]}/ ;;
	3) path=/$(head -c 30 /dev/urandom | base64 -w 0) ;;
	esac
	curl -s --max-time $((RANDOM % 3 ? 30 : 0)).$((RANDOM % 9 + 1)) --unix-socket "$socket" -o /dev/null "http://localhost$path"
}

before=$(states)
check_first=$(grep -c . <<<"$before")
verdict "all four answer: $check_first lines" "$((check_first != 8))"
serve
for ((round = 0; round < (40 * scale + 99) / 100; round++)); do
	clients=()
	for ((n = RANDOM % 12 + 1; n > 0; n--)); do
		ask &
		clients+=($!)
	done
	how=waits
	case $((RANDOM % 4)) in
	0)
		how=killed
		sleep 0.$((RANDOM % 9))
		kill -9 $server
		wait $server   # until it is dead, its socket accepts, and the next server would leave it alone
		;;
	1)
		how=ended
		sleep 0.$((RANDOM % 9))
		kill -TERM $server
		wait $server
		verdict "round $round: it ends with status 0" $?
		;;
	esac
	wait "${clients[@]}"
	# What it cannot switch off any more the process itself does 5 s behind the time; the next server does the rest.
	[ $how = waits ] || serve
	await_states $([ $how = killed ] && echo 15 || echo 2)
	verdict "round $round, $how: each process is as it was" $?
done
for name in "${!pids[@]}"; do
	kill -0 "${pids[$name]}" 2>/dev/null
	verdict "$name runs" $?
done
kill -TERM $server
wait $server
verdict "the server ends with status 0" $?
kill -9 "${pids[@]}" 2>/dev/null
wait 2>/dev/null
rm -f "$rings"/*
total
