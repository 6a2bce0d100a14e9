#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: tests/run.sh PROGRAM...
#
# Run test programs (cmocka) and check scripts from the top directory, and sum up.  T2_JOBS at a time (default: two per
# processor, for most of them wait more than they compute); those that must have the machine to themselves, which
# alone() names, one by one at the end.
# A program counts as many tests as cmocka's totals in its output say; a script as its last line
# "N passed, N failed" says, or one if there is none; one of tests/lint counts as one, however many files it looks at.
# Exit status 77: skipped, for the reason in its last line; with CI=true it is a failure if that is "no TOOL", for
# there everything has to be installed.  A program that fails
# without a failed test, prints no totals, or takes longer than T2_TIMEOUT seconds (default 1200, for what hangs: a busy
# machine may need many) counts as one failure.  So does a sanitizer's report, also one of a process that the test started.
# Output goes to $T2_OUT/log/NAME.log, and here if T2_V is set or something failed.
# With T2_TRIES=2 a program that failed runs once more, when all others are through, and what it does then counts: on a
# machine whose clock and processors belong to others, time goes wrong by itself.  Not one of which a sanitizer reported
# something: that is a bug however rare.  What failed the first time only is repeated, too ("unsteady: NAME: LINE").
# At the end each line that says what failed is repeated ("failed: NAME: LINE").
# The last line is "N passed, N failed"; exit status 0 if none failed and at least one passed.
set -u
. "$(dirname "$0")/failed.sh"
. "$(dirname "$0")/addresses.sh"

out=${T2_OUT:-build} most=${T2_JOBS:-$((2 * $(nproc)))}
[[ $out =~ address|thread ]] || plain=()
tries=${T2_TRIES:-1}
passed=0 failed=0 skipped=0 why=
programs=() pids=() shown=0 again=()
mkdir -p "$out/log"

# In memory, as ring files are in life.  $work/N: ring files and sanitizers' reports of program N
work=$(mktemp -d /dev/shm/trace2-tests.XXXXXX) || exit 1
trap 'jobs -rp | xargs -r kill; wait; rm -rf "$work"' EXIT

# The sanitizers measure the rest of the text in every strstr(): quadratic, and no bug of ours.  That a handler
# allocates is what SIGPIPE's does when it prints live texts, on purpose: that signal comes out of a write.  A child
# that is forked from a process with threads starts a drain of its own.
options=intercept_strstr=0:report_signal_unsafe=0

# alone PROGRAM: does it judge how long something takes (test_...), recover whatever has died on this machine, or call
# make, which may build again what others are using?
alone()
{
	case ${1##*/} in
	test_runtime_idle | test_runtime_pool | test_runtime_record) return 0 ;;
	check_recover.sh | check_install.sh | check_tutorial.sh | check_page_in_browser.sh) return 0 ;;
	*) return 1 ;;
	esac
}

log_of()
{
	echo "$out/log/$(basename "$1" .sh).log"
}

# run N: become program N
run()
{
	local dir=$work/$1 reports begun=$SECONDS

	mkdir -m 700 "$dir"
	reports=log_path=$dir/report
	export XDG_RUNTIME_DIR=$dir   # tests kill processes, whose ring files then stay
	export ASAN_OPTIONS=$options:$reports:${ASAN_OPTIONS:-}
	export TSAN_OPTIONS=$options:$reports:die_after_fork=0:${TSAN_OPTIONS:-}
	export UBSAN_OPTIONS=print_stacktrace=1:$options:$reports:${UBSAN_OPTIONS:-}
	# Who started this may ignore signals, and a shell has its background commands do so.  KILL reaches the whole
	# group: nothing that the program started stays behind.
	env --default-signal -u T2_TRIES timeout -s KILL "${T2_TIMEOUT:-1200}" "${plain[@]}" "${programs[$1]}" \
		>"$(log_of "${programs[$1]}")" 2>&1 </dev/null &
	trap 'kill $!' TERM
	wait $!
	echo $? $((SECONDS - begun)) >"$work/$1.status"
}

# Sum of N over the lines "[  $1  ] N test(s)" in file $2
cmocka_total()
{
	sed -n "s/^\[  $1 *\] \([0-9][0-9]*\) test.*/\1/p" "$2" | awk '{ n += $1 } END { print n + 0 }'
}

# Set p, f, s, r (passed, failed, skipped, reported) from the log $1, the exit status $2, the sanitizers' reports $3.*,
# and the program's name $4
count()
{
	local last

	p=0 f=0 s=0 r=0
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
	if [[ $4 == */lint/* ]]; then
		f=$((f > 0)) p=$((p > 0 && !f))
	fi
	if grep -qsE 'ERROR: |WARNING: |runtime error: ' "$3".*; then
		f=$((f + 1)) r=1
		head -n 40 "$3".* >>"$1"
	fi
}

# show N: wait for program N, count it, print its result
show()
{
	local program=${programs[$1]} log status took p f s r name

	# The shell forgets some of many children, and their statuses.
	wait "${pids[$1]}" 2>/dev/null
	read -r status took < <(cat "$work/$1.status" 2>/dev/null || echo 127 0)
	log=$(log_of "$program")
	count "$log" "$status" "$work/$1/report" "$program"
	rm -rf "${work:?}/$1"
	name=$(basename "$program" .sh)
	printf '%-28s %s passed, %s failed, %s s%s%s\n' "$name" "$p" "$f" "$took" \
		"$([ "$s" -gt 0 ] && echo ", $s skipped")" \
		"$([ "$status" -eq 77 ] && tail -n 1 "$log" | sed 's/^skipped: //; s/^/: /')"
	if [ "$f" -gt 0 ] && [ "$r" -eq 0 ] && [ "$tries" -gt 1 ]; then
		again+=("$program")
		why+=$(failed_lines "$name" "$log" | sed 's/^failed:/unsteady:/')$'\n'
	else
		passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
		[ "$f" -eq 0 ] || why+=$(failed_lines "$name" "$log")$'\n'
	fi
	if [ "$f" -gt 0 ] || [ -n "${T2_V:-}" ]; then
		[ "$f" -gt 0 ] && echo "--- $program: exit status $status, $log ends with:"
		tail -n "$([ -n "${T2_V:-}" ] && echo +1 || echo 40)" "$log"
	fi
}

# begin COUNT PROGRAM...: run them, up to COUNT at a time; print the results in this order, each as soon as it can be
begin()
{
	local most=$1 program

	shift
	for program; do
		while [ "$(jobs -rp | wc -l)" -ge "$most" ]; do
			wait -n
		done
		while [ "$shown" -lt "${#pids[@]}" ] && ! jobs -rp | grep -qx "${pids[$shown]}"; do
			show $((shown++))
		done
		programs+=("$program")
		run $((${#programs[@]} - 1)) &
		pids+=($!)
	done
	while [ "$shown" -lt "${#pids[@]}" ]; do
		show $((shown++))
	done
}

together=() in_turn=()
for program; do
	if alone "$program"; then
		in_turn+=("$program")
	else
		together+=("$program")
	fi
done
begin "$most" "${together[@]}"
begin 1 "${in_turn[@]}"
tries=1
begin 1 "${again[@]}"

printf '%s' "$why"
[ "$skipped" -gt 0 ] && echo "$skipped skipped"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
