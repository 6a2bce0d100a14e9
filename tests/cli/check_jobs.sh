#!/bin/bash
# SPDX-License-Identifier: MIT
# What t2expand prints, says and returns does not depend on --jobs: for whole traces, damaged ones, several at
# once, a pipe, a directory, an output that is full or closed.  Ends with "N passed, N failed".
set -u
export LC_ALL=C
. "$(dirname "$0")/../common.sh"
export XDG_RUNTIME_DIR=$tmp
seed=${T2_SEED:-$RANDOM}
RANDOM=$seed

# check NAME ARGUMENTS...: one thread, and more
several="2 4"
check()
{
	local name=$1 jobs want
	shift
	"$out/t2expand" "$@" <"$tmp/lz4.tlg" >"$tmp/text.1" 2>"$tmp/notes.1"
	want=$?
	for jobs in $several; do
		"$out/t2expand" --jobs=$jobs "$@" <"$tmp/lz4.tlg" >"$tmp/text.2" 2>"$tmp/notes.2"
		if [ $? -eq $want ] && cmp -s "$tmp/text.1" "$tmp/text.2" && cmp -s "$tmp/notes.1" "$tmp/notes.2"; then
			pass
		else
			fail "$name --jobs=$jobs, seed $seed"
			diff "$tmp/notes.1" "$tmp/notes.2" | head -n 5
		fi
	done
}

# damage FILE COUNT: overwrite bytes here and there
damage()
{
	local size i
	size=$(stat -c %s "$1")
	for ((i = 0; i < $2; i++)); do
		printf 'X' | dd of="$1" bs=1 seek=$(((RANDOM * 32768 + RANDOM) % size)) conv=notrunc status=none
	done
}

# Threads, messages, many cycles, several processes in a file
mkdir "$tmp/tree" "$tmp/dir"
for i in 1 2 3; do
	mkdir "$tmp/tree/$i"
	cp -r format runtime "$tmp/tree/$i"
done
record()
{
	TRACE2_RAW=$tmp/$1.tlg TRACE2_RAW_LZ4=$2 TRACE2_RAW_CYCLE=$3 "$out/examples/t2index" "$tmp/tree" >/dev/null || exit 1
}
for i in $(seq 12); do
	record plain 0 20k
	record lz4 1 50k
	record "dir/$i" $((i % 2)) 100k
done
for i in few many; do
	cp "$tmp/plain.tlg" "$tmp/$i.tlg"
	cp "$tmp/lz4.tlg" "$tmp/lz4-$i.tlg"
done
for i in "" lz4-; do
	damage "$tmp/${i}few.tlg" 3
	damage "$tmp/${i}many.tlg" 40
done
head -c 100000 "$tmp/plain.tlg" >"$tmp/cut.tlg"

for format in $("$out/t2expand" --list-formats | awk '{ print $1 }'); do
	for trace in plain lz4; do
		check "$format $trace" --format=$format "$tmp/$trace.tlg"
	done
	check "$format of a directory" --format=$format "$tmp/dir"
done
for trace in few many lz4-few lz4-many cut; do
	check "$trace" --format=perf "$tmp/$trace.tlg"
done
check "everything at once" --format=event "$tmp"/*.tlg "$tmp/dir"
several="2 3 8"         # in ranges, where that can be done
for trace in plain.tlg lz4.tlg few.tlg many.tlg lz4-few.tlg lz4-many.tlg cut.tlg dir; do
	check "summary of $trace" --summary=json --by=thread "$tmp/$trace"
	check "summary of messages of $trace" --summary=json --by=message "$tmp/$trace"
	check "summary of data of $trace" --summary=json --by=data:reader/bytes "$tmp/$trace"
	check "folded of $trace" --format=folded "$tmp/$trace"
	check "pprof of $trace" --format=pprof "$tmp/$trace"
done
several="2 4"
check "xml" --format=xml "$tmp/few.tlg"
check "raw" --format=raw "$tmp/lz4-few.tlg"
check "standard input" -
check "nothing usable" /dev/null "$tmp/none"
check "full output" --output=/dev/full "$tmp/plain.tlg"
for jobs in 1 2; do
	"$out/t2expand" --jobs=$jobs "$tmp/dir" 2>"$tmp/notes.$jobs" | head -n 1 >"$tmp/text.$jobs"
	echo "${PIPESTATUS[0]}" >>"$tmp/text.$jobs"
done
if cmp -s "$tmp/text.1" "$tmp/text.2" && [ -s "$tmp/text.1" ]; then
	pass
else
	fail "a reader that leaves:"
	tail "$tmp"/text.[12]
fi

# A pipe is widened, if that is allowed
if python3 - "$out/t2expand" "$tmp/dir/1.tlg" <<'END'; then
import fcntl, os, subprocess, sys
F_SETPIPE_SZ, F_GETPIPE_SZ = 1031, 1032
reader, writer = os.pipe()
try:
    fcntl.fcntl(reader, F_SETPIPE_SZ, 1 << 20)
except OSError:
    sys.exit(0)
fcntl.fcntl(reader, F_SETPIPE_SZ, 4096)
subprocess.run([sys.argv[1], "--format=tree", sys.argv[2]], stdout=writer, check=True)
sys.exit(fcntl.fcntl(reader, F_GETPIPE_SZ) < 1 << 20)
END
	pass
else
	fail "a pipe is widened"
fi

total
