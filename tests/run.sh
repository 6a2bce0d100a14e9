#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: tests/run.sh PROGRAM...
#
# Run test programs (cmocka) and check scripts one after the other, from the top directory, and sum up.
# A program counts as many tests as cmocka's totals in its output say; a script as its last line
# "N passed, N failed" says, or one if there is none.  Exit status 77: skipped, for the reason in its last line; with
# CI=true it is a failure if that is "no TOOL", for there everything has to be installed.  A program that fails
# without a failed test, prints no totals, or takes longer than T2_TIMEOUT seconds counts as one failure.
# So does a sanitizer's report, also one of a process that the test started.
# Output goes to $T2_OUT/log/NAME.log, and here if T2_V is set or something failed.
# The last line is "N passed, N failed"; exit status 0 if none failed and at least one passed.
set -u

out=${T2_OUT:-build}
passed=0 failed=0 skipped=0
mkdir -p "$out/log"
reports=$PWD/$out/log/sanitizer
rm -f "$reports".*

# Tests kill processes, whose ring files then stay.
XDG_RUNTIME_DIR=$(mktemp -d /dev/shm/trace2-tests.XXXXXX) || exit 1
export XDG_RUNTIME_DIR
trap 'rm -rf "$XDG_RUNTIME_DIR"' EXIT

# The sanitizers measure the rest of the text in every strstr(): quadratic, and no bug of ours.  That a handler
# allocates is what SIGPIPE's does when it prints live texts, on purpose: that signal comes out of a write.  A child
# that is forked from a process with threads starts a drain of its own.
options=intercept_strstr=0:report_signal_unsafe=0:log_path=$reports
export ASAN_OPTIONS=$options:${ASAN_OPTIONS:-} TSAN_OPTIONS=$options:die_after_fork=0:${TSAN_OPTIONS:-}
export UBSAN_OPTIONS=print_stacktrace=1:$options:${UBSAN_OPTIONS:-}

# Sum of N over the lines "[  $1  ] N test(s)" in file $2
cmocka_total()
{
	sed -n "s/^\[  $1 *\] \([0-9][0-9]*\) test.*/\1/p" "$2" | awk '{ n += $1 } END { print n + 0 }'
}

# Set p, f, s (passed, failed, skipped) from the log $1 and the exit status $2.
count()
{
	local last

	p=0 f=0 s=0
	last=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$1" | tail -n 1)
	if [ "$2" -eq 77 ] && [ "${CI:-}" = true ] && tail -n 1 "$1" | grep -qE '^(skipped: )?no '; then
		f=1
	elif [ "$2" -eq 77 ]; then
		s=1
	elif grep -q '^\[==========\]' "$1"; then
		p=$(cmocka_total PASSED "$1") f=$(cmocka_total FAILED "$1") s=$(cmocka_total SKIPPED "$1")
	elif [ -n "$last" ]; then
		read -r p _ f _ <<<"$last"
	elif [ "$2" -eq 0 ] && [[ $1 == */check_*.log ]]; then
		p=1
	else
		f=1
	fi
	if [ "$2" -ne 0 ] && [ "$2" -ne 77 ] && [ "$f" -eq 0 ]; then
		f=1
	fi
	if grep -qsE 'ERROR: |WARNING: |runtime error: ' "$reports".*; then
		f=$((f + 1))
		head -n 40 "$reports".* >>"$1"
	fi
	rm -f "$reports".*
}

for program; do
	name=$(basename "$program" .sh)
	log=$out/log/$name.log
	# KILL reaches the whole group: nothing that the program started stays behind.
	timeout -s KILL "${T2_TIMEOUT:-300}" "$program" >"$log" 2>&1 </dev/null
	status=$?
	count "$log" "$status"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	printf '%-28s %s passed, %s failed%s%s\n' "$name" "$p" "$f" "$([ "$s" -gt 0 ] && echo ", $s skipped")" \
		"$([ "$status" -eq 77 ] && tail -n 1 "$log" | sed 's/^skipped: //; s/^/: /')"
	if [ "$f" -gt 0 ] || [ -n "${T2_V:-}" ]; then
		[ "$f" -gt 0 ] && echo "--- $program: exit status $status, $log ends with:"
		tail -n "$([ -n "${T2_V:-}" ] && echo +1 || echo 40)" "$log"
	fi
done

[ "$skipped" -gt 0 ] && echo "$skipped skipped"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
