#!/bin/bash
# SPDX-License-Identifier: MIT
# P11: whatever goes wrong with files, sockets and descriptors, the program runs as ever, and what it recorded is
# stored or counted: emitted = stored + lost.  Errors by strace, full file systems, limits, planted files, peers that
# do not read.  A program's own system calls are those that it makes without us.
set -u
scale=${T2_SCALE:-100} out=${T2_OUT:-build} passed=0 failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export XDG_RUNTIME_DIR=$work/run
mkdir "$work/run"
raw=$work/raw.tlg program=$PWD/$out/torture/faults events=$((1000 * scale))

# verdict WHAT STATUS
verdict()
{
	if [ "$2" -eq 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL $1"
	fi
}

# account NAME FILE EMITTED (a counter in the text is t2expand's, of what was lost)
account()
{
	local stored lost

	stored=$("$out/t2expand" --format=perf "$2" 2>"$work/said" | grep -vc '| counter ')
	lost=$(sed -n 's/^t2expand: \([0-9]*\) checkpoints lost by the program.*/\1/p' "$work/said" |
		awk '{ n += $1 } END { print n + 0 }')
	[ "$3" -eq $((stored + lost)) ]
	verdict "$1: accounted" $?
	echo "$1: $3 emitted = $stored stored + $lost lost"
}

# run NAME COMMAND...: the program's exit status and what it prints are as ever.  Sets emitted.
run()
{
	local name=$1
	shift

	rm -f "$raw"
	timeout 120 "$@" >"$work/printed" 2>"$work/stderr"
	verdict "$name: exit status" $(($? != 7))
	emitted=$(cat "$work/printed")
	[ "$emitted" = $((2 * (events + 2) + 2)) ] && [ ! -s "$work/stderr" ]
	verdict "$name: output" $?
}

# ---- errors of write(2): for a while, then the disk is well again
for error in ENOSPC EIO EDQUOT EINTR EAGAIN; do
	run "$error" strace -f -qq -o /dev/null -P "$raw" -e inject=write:error=$error:when=2..13 \
		env TRACE2_RAW="$raw" "$program" "$events"
	account "$error" "$raw" "$emitted"
done

# ---- places that have no room
export TRACE2_RAW=/dev/full
run "/dev/full" "$program" "$events"
TRACE2_RAW=$work/none/raw.tlg run "no directory" "$program" "$events"
mkdir "$work/read-only" && chmod 555 "$work/read-only"
TRACE2_RAW=$work/read-only/ run "read-only directory" setpriv --reuid 65534 --clear-groups "$program" "$events" \
	2>/dev/null
TRACE2_RAW=$raw run "RLIMIT_FSIZE" bash -c 'ulimit -f 64; exec "$@"' - "$program" "$events"
export TRACE2_RAW=$raw
if unshare -m true 2>/dev/null; then
	mkdir -p "$work/small"
	# the rings' file system is full; the trace's is
	run "full tmpfs for the rings" unshare -m bash -c 'mount -t tmpfs -o size=256k none "$XDG_RUNTIME_DIR" &&
		mount -t tmpfs -o size=300k none /dev/shm && exec "$@"' - "$program" "$events"
	account "full tmpfs for the rings" "$raw" "$emitted"
	run "full tmpfs for the trace" unshare -m bash -c 'mount -t tmpfs -o size=64k none "$1" || exit 1
		TRACE2_RAW=$1/raw.tlg "$2" "$3"; status=$?; cp "$1/raw.tlg" "$TRACE2_RAW"; exit $status' \
		- "$work/small" "$program" "$events"
	"$out/t2expand" --format=perf "$raw" >"$work/text" 2>"$work/said"
	[ -s "$work/text" ] && ! grep -q 'bytes skipped' "$work/said"
	verdict "full tmpfs for the trace: whole blocks" $?
fi

# ---- a directory that many use, and where others have planted things
mkdir "$work/many" "$work/elsewhere"
touch "$work/precious" && ln "$work/precious" "$work/many/hard" && ln -s "$work/precious" "$work/many/soft"
for _ in $(seq 50); do
	TRACE2_RAW=$work/many "$program" 500 >/dev/null &
done
wait
[ "$(find "$work/many" -name '*.tlg' | wc -l)" -eq 50 ] && [ ! -s "$work/precious" ]
verdict "50 processes, 50 files in one directory" $?
for file in "$work"/many/*.tlg; do
	account "$(basename "$file")" "$file" $((2 * 502 + 2))
done | awk '/FAIL/ { bad++ } /emitted/ { n += $2 } END { print "50 processes:", n, "emitted,", bad + 0, "files wrong"; exit bad > 0 }'
verdict "50 processes: accounted" $?

# ---- a peer that does not read, and one that goes away
python3 - "$work/socket" <<-'END' &
	import socket, sys, time
	listener = socket.socket(socket.AF_UNIX)
	listener.bind(sys.argv[1])
	listener.listen(2)
	first = listener.accept()[0]
	second = listener.accept()[0]
	second.close()
	time.sleep(100)
END
peer=$!
while [ ! -S "$work/socket" ]; do :; done
TRACE2_RAW=af_unix:$work/socket run "stopped peer" "$program" "$events"
TRACE2_RAW=af_unix:$work/socket run "peer gone" "$program" "$events"
kill $peer 2>/dev/null

# ---- privileges
cp "$program" "$work/privileged" && chown 65534 "$work/privileged" && chmod 4755 "$work/privileged" && chmod 755 "$work"
TRACE2_RAW=$work/secret.tlg "$work/privileged" 10 >/dev/null
[ ! -e "$work/secret.tlg" ]
verdict "setuid: no settings" $?

# ---- the program's own system calls, from its first to its last
calls()
{
	strace -qq -o "$work/strace" "$@"
	# a ring that grows blocks the signals and asks for memory
	sed -n "/^openat.*own/,/^close/p" "$work/strace" | grep -vE '^(rt_sigprocmask|madvise)\('
}
calls env TRACE2_RAW="$raw" "$program" quiet "$work/own" >"$work/with"
calls env -u TRACE2_RAW "$program" quiet "$work/own" >"$work/without"
[ "$(wc -l <"$work/with")" -eq 82 ] && cmp "$work/with" "$work/without"
verdict "the same system calls with tracing and without" $?
echo "system calls: $(wc -l <"$work/with") of the program with tracing, $(wc -l <"$work/without") without, the same"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
