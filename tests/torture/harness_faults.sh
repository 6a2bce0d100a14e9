#!/bin/bash
# SPDX-License-Identifier: MIT
# P11: whatever goes wrong with files, sockets, descriptors, memory and threads, the program runs as ever (exit status,
# output, errno, descriptors), ends in bounded time, and what it recorded is stored or counted: emitted = stored + lost.
# Errors by strace, short writes by the program itself, full file systems, limits, planted files, peers that do not read, a drain
# that is stopped (stall.c).  The system calls that a program makes are those that it makes without us (calls.c).
set -u
. tests/torture/common.sh
trap 'rm -rf "$work" "$rings"; jobs -p | xargs -r kill 2>/dev/null' EXIT
export XDG_RUNTIME_DIR=$work/run
mkdir "$work/run" && chmod 755 "$work"
raw=$work/raw.tlg tools=$PWD/$out/torture events=$((1000 * scale))
program=$tools/faults whole=$((4 * (events / 2 + 2) + 2))
export TRACE2_RAW=$raw

# account NAME EMITTED ARGUMENT...: what t2expand makes of them (counters, and lines of category trace2, are its own, of
# what was lost).
# Where the end of the trace is lost, too, as into a socket that is full, the number of dropped events is not known: then
# stored + lost may be less.
account()
{
	local name=$1 sum=$2 stored lost
	shift 2

	stored=$("$out/t2expand" --format=perf "$@" 2>"$work/said" | grep -vcE '\| counter |\| trace2 +\| lost-')
	lost=$(sed -n 's/^t2expand: \([0-9]*\) checkpoints lost by the program.*/\1/p' "$work/said" |
		awk '{ n += $1 } END { print n + 0 }')
	if [[ $name == *'no end' ]] && grep -q 'did not end' "$work/said"; then
		[ $((stored + lost)) -le "$sum" ]
	else
		[ "$sum" -eq $((stored + lost)) ]
	fi
	verdict "$name: accounted" $?
	echo "$name: $sum emitted = $stored stored + $lost lost"
}

# account_if_traced NAME: where no file could be made, the program ran without being traced
account_if_traced()
{
	if [ -s "$raw" ]; then
		account "$1" "$whole" "$raw"
	else
		skip "$1: accounted" "nothing is traced"
	fi
}

# run NAME COMMAND...: the program's exit status and what it prints are as ever.  Sets emitted.
run()
{
	local name=$1
	shift

	rm -f "$raw" "$work"/run/*.ring
	timeout -s KILL 600 "$@" >"$work/printed" 2>"$work/stderr"
	verdict "$name: exit status" $(($? != 7))
	emitted=$(cat "$work/printed")
	[ "$emitted" = "$whole" ] && [ ! -s "$work/stderr" ]
	verdict "$name: output" $?
}

# run_whole NAME COMMAND...: the same, and what it recorded is in the file
run_whole()
{
	run "$@"
	account "$1" "$whole" "$raw"
}

# run_late NAME COMMAND...: the same, and what could not be written within the time of the end is in the ring file
run_late()
{
	local ring

	run "$@"
	ring=$(find "$work/run" -name '*.ring')
	account "$1" "$whole" ${ring:+--recover="$ring"} ${ring:-"$raw"}
}

# ---- errors of write(2): for a while, then the disk is well again.  The program sees to it that there are writes then
for error in ENOSPC EIO EDQUOT EINTR EAGAIN; do
	run_whole "$error" strace -f -qq -o /dev/null -P "$raw" -e inject=write:error=$error:when=2..13 \
		"$program" "$events" flush
done
# of some write whole blocks are in the file, and a part of one
for growth in 5000 12000 20000 30000 45000; do
	GROWTH=$growth TRACE2_RAW_LZ4=0 run_whole "RLIMIT_FSIZE, plain, $growth" "$program" "$events" file-limit
	# that file is cut back; what the program has opened is not
	GROWTH=$growth TRACE2_RAW_LZ4=0 run_whole "RLIMIT_FSIZE, a descriptor, $growth" bash -c \
		'exec 9>>"$TRACE2_RAW" && TRACE2_RAW=9 exec "$@"' - "$program" "$events" file-limit
done
TRACE2_RAW_LZ4=1 run_whole "RLIMIT_FSIZE, LZ4" "$program" "$events" file-limit

# ---- writes that take less than they are given; no thread for the drain
for fault in -5000 -300000; do
	FAULT=$fault TRACE2_PERF=$work/perf run_late "short writes $fault" "$program" "$events"
	"$out/t2expand" --format=perf "$raw" 2>/dev/null | cmp -s - "$work/perf"
	verdict "short writes $fault: the text is the same" $?
	rm -f "$work/perf"
done
FAULT=1 TRACE2_EVENT=$work/event run_late "a byte at a time" "$program" "$events"
FAULT=thread run_whole "no thread for the drain" "$program" "$events"

# ---- places that have no room
TRACE2_RAW=/dev/full run "/dev/full" "$program" "$events"
TRACE2_RAW=$work/none/raw.tlg run "no directory" "$program" "$events"
mkdir "$work/read-only" && chmod 555 "$work/read-only"
TRACE2_RAW=$work/read-only/ run "read-only directory" setpriv --reuid 65534 --clear-groups "$program" "$events" \
	2>/dev/null
run "RLIMIT_FSIZE below all needs" bash -c 'ulimit -f 64; exec "$@"' - "$program" "$events"
for kilobytes in 65536 131072 262144 524288 1048576; do
	run "$kilobytes KB of addresses" bash -c 'ulimit -v "$1"; shift; exec "$@"' - $kilobytes "$program" "$events"
	account_if_traced "$kilobytes KB of addresses"
done
if unshare -m true 2>/dev/null; then
	mkdir -p "$work/small"
	# the rings' file system is full; the trace's is; there is none for rings; it cannot be written to
	run_whole "full tmpfs for the rings" unshare -m bash -c 'mount -t tmpfs -o size=256k none "$XDG_RUNTIME_DIR" &&
		mount -t tmpfs -o size=300k none /dev/shm && exec "$@"' - "$program" "$events"
	run "full tmpfs for the trace" unshare -m bash -c 'mount -t tmpfs -o size=64k none "$1" || exit 1
		TRACE2_RAW=$1/raw.tlg "$2" "$3"; status=$?; cp "$1/raw.tlg" "$TRACE2_RAW"; exit $status' \
		- "$work/small" "$program" "$events"
	"$out/t2expand" --format=perf "$raw" >"$work/text" 2>"$work/said"
	[ -s "$work/text" ] && ! grep -q 'bytes skipped' "$work/said"
	verdict "full tmpfs for the trace: whole blocks" $?
	run_whole "read-only /dev/shm" unshare -m bash -c 'mount -t tmpfs -o ro none /dev/shm && unset XDG_RUNTIME_DIR &&
		exec "$@"' - "$program" "$events"
	run_whole "no /dev/shm" unshare -m bash -c 'mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 &&
		unset XDG_RUNTIME_DIR && exec "$@"' - "$program" "$events"
	echo hpet >"$work/clock"
	run_whole "no time stamp counter" unshare -m bash -c 'mount --bind "$1" \
		/sys/devices/system/clocksource/clocksource0/current_clocksource && shift && exec "$@"' \
		- "$work/clock" "$program" "$events"
else
	skip "file systems that are full, read-only or absent" "no mounts without more privileges"
fi

# ---- what the program does to itself
run_whole "closefrom(3)" "$program" "$events" closefrom
run_whole "no descriptor for the next file" "$program" "$events" no-rotation
for left in no-descriptor one-descriptor few-descriptors; do
	run "$left" "$program" "$events" $left
	account_if_traced "$left"
done
rm -f "$raw"
timeout -s KILL 600 "$program" "$events" closed
verdict "descriptors 0 to 2 closed: exit status" $(($? != 7))
account "descriptors 0 to 2 closed" "$whole" "$raw"
mkdir "$work/gone" "$work/gone/run" && touch "$work/gone/raw.tlg" && ln "$work/gone/raw.tlg" "$work/kept.tlg"
TRACE2_RAW=$work/gone/raw.tlg XDG_RUNTIME_DIR=$work/gone/run run "directory removed" "$program" "$events" removed
account "directory removed" "$whole" "$work/kept.tlg"
rm -f "$raw"
timeout -s KILL 600 "$program" "$events" storm >"$work/printed" 2>"$work/stderr"
verdict "storm of signals: exit status" $(($? != 7))
emitted=$(cat "$work/printed")
[ "$emitted" -gt "$whole" ] && [ ! -s "$work/stderr" ]
verdict "storm of signals: output" $?
account "storm of $((emitted - whole)) signals, no SA_RESTART" "$emitted" "$raw"
run "descriptor 9 is not open" bash -c 'OWN=$TRACE2_RAW TRACE2_RAW=9 exec "$@" 9>&-' - "$program" "$events" nine
run "descriptor 9 becomes another" bash -c 'OWN=$TRACE2_RAW.own TRACE2_RAW=9 exec "$@" 9>"$TRACE2_RAW.given"' - "$program" \
	"$events" nine

# ---- stopped: the whole program, its drain's thread alone
# The program may end before the last of these
run_whole "stopped and continued" bash -c '"$@" & for _ in 1 2 3 4 5; do sleep 0.01; kill -STOP $!; sleep 0.02
	kill -CONT $!; done 2>/dev/null; wait $!' - "$program" "$events"
for where in anywhere writing; do
	for policy in discard block; do
		export TRACE2_RAW_POLICY=$policy TRACE2_RAW_WAIT=20
		run_late "drain stopped $where, $policy" "$tools/stall" $where "$program" "$events" stop
	done
done
unset TRACE2_RAW_POLICY TRACE2_RAW_WAIT

# ---- a directory that many use, and where others have planted things
mkdir "$work/many"
touch "$work/precious" && ln "$work/precious" "$work/many/hard" && ln -s "$work/precious" "$work/many/soft"
for _ in $(seq 50); do
	TRACE2_RAW=$work/many "$program" 500 >/dev/null &
	processes+=($!)
done
wait "${processes[@]}"
[ "$(find "$work/many" -name '*.tlg' | wc -l)" -eq 50 ] && [ ! -s "$work/precious" ]
verdict "50 processes, 50 files in one directory" $?
for file in "$work"/many/*.tlg; do
	account "$(basename "$file")" $((4 * 252 + 2)) "$file"
done | awk '/FAIL/ { bad++ } /emitted/ { n += $2 } END { print "50 processes:", n, "emitted,", bad + 0, "files wrong"; exit bad > 0 }'
verdict "50 processes: accounted" $?

# ---- peers: they do not read, go away, stop for a while; a FIFO that nobody empties
# peer TYPE HOW: a socket at $work/socket.  HOW: unread; gone; stopped: takes 100 KB, and when there is a file $work/go
# the rest
peer()
{
	rm -f "$work/socket" "$work/got"
	python3 - "$work/socket" "$1" "$2" "$work/got" <<-'END' &
		import os, socket, sys, time
		path, kind, how, got = sys.argv[1:]
		listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM if kind == 'dgram' else socket.SOCK_STREAM)
		listener.bind(path)
		if kind != 'dgram':
		    listener.listen(2)
		open(path + '.ready', 'w').close()
		peer = listener if kind == 'dgram' else listener.accept()[0]
		if how == 'gone':
		    peer.close()
		if how == 'stopped':
		    with open(got, 'wb') as out:
		        n = 0
		        while data := peer.recv(1 << 18):
		            out.write(data)
		            while n < 100000 <= n + len(data) and not os.path.exists(os.path.dirname(path) + '/go'):
		                time.sleep(0.01)
		            n += len(data)
		    sys.exit(0)
		time.sleep(100)
	END
	peer=$!
	while [ ! -e "$work/socket.ready" ]; do sleep 0.01; done
	rm "$work/socket.ready"
}

for kind in stream dgram; do
	for how in unread gone; do
		peer $kind $how
		TRACE2_RAW=af_unix:$kind:$work/socket run "$kind peer $how" "$program" "$events"
		TRACE2_RAW=0 TRACE2_PERF=af_unix:$kind:$work/socket run "$kind peer $how, text" "$program" "$events"
		kill $peer 2>/dev/null
	done
done
peer stream stopped
TRACE2_RAW_LZ4=0 TRACE2_RAW_ENCODING=plain TRACE2_RAW=af_unix:stream:$work/socket \
	run "peer stopped for a while" bash -c 'go=$1; shift; "$@" &
		while [ "$(cut -d " " -f 3 /proc/$!/stat)" != T ]; do sleep 0.01; done
		touch "$go"; sleep 0.1; kill -CONT $!; wait $!' - "$work/go" "$program" "$events" stop
wait $peer
account "peer stopped for a while, perhaps no end" "$whole" "$work/got"
rm -f "$raw" && mkfifo "$work/fifo"
sleep 100 <>"$work/fifo" &
TRACE2_RAW=$work/fifo run "FIFO that nobody empties" "$program" "$events"
TRACE2_RAW=0 TRACE2_EVENT=$work/fifo run "FIFO that nobody empties, text" "$program" "$events"

# ---- privileges: the superuser's program run by somebody, somebody's run by the superuser
mkdir -m 777 "$work/public"
for owner in 0 65534; do
	cp "$program" "$work/privileged" && chown $owner "$work/privileged" && chmod 4755 "$work/privileged"
	for target in TRACE2_RAW TRACE2 TRACE2_PERF TRACE2_EVENT; do
		for value in "$work/public/secret" "$work/public" 2; do
			env -u TRACE2_RAW "$target=$value" XDG_RUNTIME_DIR="$work/public" setpriv --reuid $((65534 - owner)) \
				--clear-groups "$work/privileged" 10 >"$work/printed" 2>"$work/stderr"
			[ $? -eq 7 ] && [ "$(cat "$work/printed")" -eq 30 ] && [ ! -s "$work/stderr" ] &&
				[ -z "$(ls -A "$work/public")" ]
			verdict "setuid to $owner, $target=$value: no settings" $?
		done
	done
done

# ---- the program's own system calls, those of its threads and of its children
# Of a task's trace: what is not compared is memory, signals being blocked, asked for or arriving, waiting for threads,
# identities, whether there is a sandbox or another thread, and what belongs to descriptors from 200 on, to a ring file,
# to SIGPIPE, which has a handler with tracing.
# fork() waits for a drain that is at work: with signals blocked, for 100 naps at most (tr2_lock_briefly()).  These are not
# compared either; other naps are.  One process in 16 looks for rings that others have left: it asks about a directory's
# file system, reads the directory, and removes files.
own_calls()
{
	awk '/^rt_sigprocmask/ { naps = /\(SIG_SETMASK, ~\[/ ? 100 : 0 }
	     /^clock_nanosleep\(CLOCK_REALTIME, 0, [{]tv_sec=0, tv_nsec=100000[}], NULL\)/ && naps-- > 0 { next } { print }' |
	sed 's/ (DELAYED)$//' |
	awk '/^openat.*\.ring"/ { ring = $NF; next }
	     ring != "" && $0 ~ "[(, ]" ring "[,)]" { if (/^close/) ring = ""; next } { print }' |
	awk '/^statfs\(/ { looks = 1; next }
	     looks && /^openat.*O_DIRECTORY/ { directory = $NF; next }
	     looks && (/^geteuid\(/ || /^unlink\(".*\.ring"/) { next }
	     directory != "" && $0 ~ "[(, ]" directory "[,)]" { if (/^close/) directory = ""; next } { print }' |
		grep -vE '^(rt_sigprocmask|rt_sigpending|madvise|mmap|munmap|mremap|mprotect|brk|getpid|gettid|getrandom|futex)\(|^---' |
		grep -vE '^[a-z0-9]+\(2[0-9][0-9],|^prlimit64\(0, RLIMIT_(FSIZE|AS), NULL|^clone3\(.*CLONE_THREAD|^rt_sigaction\((SIGPIPE|SIGRT_1|[A-Z0-9_]+, NULL, )|^sigaltstack\(NULL|^prctl\(PR_GET_(SECCOMP|NO_NEW_PRIVS)|^tgkill\([0-9]+, [0-9]+, 0\)|"/proc/self/task"' |
		sed -E 's/0x[0-9a-f]+/P/g; s/[0-9]{3,}/N/g; s/^(execve\([^[]*\[[^]]*\]).*/\1/'
}

strace_options=()

# calls DIRECTORY COMMAND...: into files 1.calls, 2.calls, ... those of the program from opening to closing a file of its
# own, and those of the thread and the children that it creates between, in this order.  (Numbers of tasks may begin anew.)
calls()
{
	local directory=$work/$1 own task n=1
	shift

	mkdir "$directory"
	strace "${strace_options[@]}" -ff -qq -o "$directory/by" "$@"
	verdict "system calls: exit status" $(($? != 7))
	own=$(grep -lE '^openat\(.*/own"' "$directory"/by.*)
	sed -n '/^openat.*own/,/^close(3)/p' "$own" >"$directory/own"
	own_calls <"$directory/own" >"$directory/1.calls"
	for task in $(sed -nE 's/^(clone3?|v?fork)\(.* = ([0-9]+)$/\2/p' "$directory/own"); do
		# a young process may start the consumer thread just now
		grep -q '"trace2-drain"' "$directory/by.$task" && continue
		n=$((n + 1))
		own_calls <"$directory/by.$task" >"$directory/$n.calls"
	done
}

calls with "$tools/calls" "$work/own"
calls without env -u TRACE2_RAW "$tools/calls" "$work/own"
# the drain writes all the time, slowly
strace_options=(-e inject=write:delay_enter=3000)
TRACE2_RAW_FLUSH=1 calls busy "$tools/calls" "$work/own"
for n in 1 2 3 4 5 6; do
	for with in with busy; do
		[ "$(wc -l <"$work/without/$n.calls")" -gt 2 ] && diff "$work/without/$n.calls" "$work/$with/$n.calls"
		verdict "the same system calls with tracing ($with) and without, of task $n" $?
	done
done
[ ! -e "$work/with/7.calls" ] && [ "$(cat "$work"/with/*.calls | grep -cE '^(write|lseek)')" -ge 240 ]
verdict "six tasks" $?
echo "system calls: $(cat "$work"/with/*.calls | wc -l) of a program, a thread, four children, with tracing and without"
total
