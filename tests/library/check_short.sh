#!/bin/bash
# SPDX-License-Identifier: MIT
# What tracing adds to a process that records ten events and ends, counted: a gate that a busy machine cannot fool.
#   calls    system calls, by strace, without those that a busy machine adds, sleeps among them
#   faults   new pages, the least of many runs: where the loader puts things decides about one or two
# More than is recorded here has to be paid for, or to be said why.  And it starts no thread.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC

. "$(dirname "$0")/../common.sh"
need_shared_library
need strace strace -V
need python3 command -v python3
need "architecture with recorded counts" [ "$(uname -m)" = x86_64 ]
cd "$tmp" || exit 1

# A new file, an existing file, a text: calls and faults
new_calls=90 new_faults=25
old_calls=93 old_faults=25
text_calls=101 text_faults=47
# Where the time stamp counter is not the system's clock, the library learns that from the vDSO and /sys: 5 more calls
if [ "$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource 2>/dev/null)" != tsc ]; then
	new_calls=$((new_calls + 5)) old_calls=$((old_calls + 5)) text_calls=$((text_calls + 5))
fi

cat >short.c <<'END'
#include <trace2.h>

int main(void)
{
	trace2_initialize();
	for (int i = 0; i < 10; i++)
		trace2_data_intmax("short", 0, "number", i);
	return 0;
}
END
${CC:-cc} -O2 -I"$top/runtime" -o short short.c -L"$out" -Wl,-rpath,"$out" -ltrace2 || exit 1

# count_calls SETTING...: the least of nine runs that were done while the process was young; strace is slow
count_calls()
{
	local tries least= done=0 n
	for ((tries = 0; tries < 60 && done < 9; tries++)); do
		[ -z "$prepare" ] || eval "$prepare"
		env "$@" strace -f -qq -o calls ./short || return
		# one process in sixteen looks for what others have left
		grep -qE '(clone3?|getdents(64)?)\(' calls && continue
		n=$(grep -vcE 'ENOENT|restart_syscall|clock_nanosleep' calls)
		[ -n "$least" ] && [ "$least" -le "$n" ] || least=$n
		done=$((done + 1))
	done
	[ -n "$least" ] && echo "$least" || echo "a thread in each of 60 runs" >&2
}

# count_faults SETTING...
count_faults()
{
	PREPARE=$prepare env "$@" python3 -c 'import os
least = None
for i in range(40):
    os.system(os.environ["PREPARE"] or ":")
    pid = os.posix_spawn("./short", ["./short"], os.environ)
    faults = os.wait4(pid, 0)[2].ru_minflt
    least = faults if least is None else min(least, faults)
print(least)'
}

# added WHAT CALLS FAULTS SETTING...: more than the process without tracing
added()
{
	local calls faults
	calls=$(($(count_calls "${@:4}") - off_calls))
	faults=$(($(count_faults "${@:4}") - off_faults))
	echo "$1: $calls system calls, $faults page faults"
	check "$1: system calls, $2 are recorded" [ "$calls" -gt 0 -a "$calls" -le "$2" ]
	check "$1: page faults, $3 are recorded" [ "$faults" -gt 0 -a "$faults" -le $(($3 + 2)) ]
}

prepare=
off_calls=$(count_calls A=0)
off_faults=$(count_faults A=0)
prepare='rm -f new.tlg'
added "new file" $new_calls $new_faults TRACE2_RAW="$tmp/new.tlg"
prepare=
added "existing file" $old_calls $old_faults TRACE2_RAW="$tmp/new.tlg"
added "text" $text_calls $text_faults TRACE2_PERF="$tmp/perf"
check "all is there" [ "$("$out/t2expand" --format=event new.tlg 2>/dev/null | grep -c '"key":"number"')" -ge 400 ]
total
