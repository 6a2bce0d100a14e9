#!/bin/bash
# SPDX-License-Identifier: MIT
# Checks tests/run.sh.  It runs programs at the same time and prints their results in the order of the arguments, and
# the totals.  Each program has a runtime directory of its own and the default signals.  Programs that need the machine
# for themselves run last, one by one.  Ends with "N passed, N failed".
set -u

. "$(dirname "$0")/../common.sh"
mkdir -p "$tmp/tests"
cp "$top"/tests/{run,failed,addresses}.sh "$tmp/tests/"
cd "$tmp" || exit 1

# program NAME: stdin, what it does
program()
{
	{ printf '#!/bin/bash\n'; cat; } >"$1"
	chmod +x "$1"
}

# run JOBS PROGRAM...: into the file said; the exit status.  On a busy machine any of them may take seconds
run()
{
	env -u T2_V CI='' T2_OUT=built T2_JOBS="$1" T2_TIMEOUT="${timeout:-200}" T2_TRIES="${tries:-1}" \
		tests/run.sh "${@:2}" >said 2>&1
}

# says NAME LINES: that is what run.sh said, but for the seconds
says()
{
	none "$1" "$(diff <(sed -E 's/( failed), [0-9]+ s/\1/' said) - <<<"$2")"
}

# Each of these waits for the other: they end only side by side, and the second one first.
program check_first.sh <<'END'
mkfifo fifo
read -r line <fifo
sleep 0.2
echo "$line passed, 0 failed"
END
program check_second.sh <<'END'
while [ ! -p fifo ]; do sleep 0.01; done
echo 3 >fifo
echo "4 passed, 0 failed"
END
check "two at a time" run 2 ./check_first.sh ./check_second.sh
says "results come in the order of the arguments" "check_first                  3 passed, 0 failed
check_second                 4 passed, 0 failed
7 passed, 0 failed"

program check_one.sh <<'END'
mkdir running && sleep 0.1 && rmdir running
END
cp check_one.sh check_two.sh
check "one at a time" run 1 ./check_one.sh ./check_two.sh

cp check_one.sh check_recover.sh
check "a test that needs the machine to itself has it" run 4 ./check_recover.sh ./check_one.sh
says "and comes last" "check_one                    1 passed, 0 failed
check_recover                1 passed, 0 failed
2 passed, 0 failed"
check "each with its seconds" [ "$(grep -cE '^check_.* failed, [0-9]+ s$' said)" -eq 2 ]

program check_directory.sh <<'END'
echo "$XDG_RUNTIME_DIR" >>directories
[ -z "$(ls "$XDG_RUNTIME_DIR")" ] && [ "$(stat -c %a "$XDG_RUNTIME_DIR")" = 700 ] &&
	touch "$XDG_RUNTIME_DIR/mine" && sleep 0.2
END
cp check_directory.sh check_other.sh
check "a runtime directory of its own" run 2 ./check_directory.sh ./check_other.sh
check "which is removed" test "$(sort -u directories | wc -l)" -eq 2 -a ! -e "$(head -n 1 directories)"

# Signals 32 and 33 are the C library's own: who was begun by posix_spawn() ignores them, and nobody can tell it not to.
program check_signals.sh <<'END'
ignored=$(sed -n 's/^SigIgn:[[:space:]]*//p' /proc/self/status)
[ $((16#$ignored & 0x7fffffff)) -eq 0 ]
END
check "no signal is ignored" run 2 ./check_signals.sh

program check_bad.sh <<'END'
echo "what went wrong"
echo "2 passed, 1 failed"
exit 1
END
run 2 ./check_bad.sh ./check_one.sh
check "a failure is in the exit status" test $? -eq 1
check "what failed says why" grep -qx 'what went wrong' said
check "and is in the sum" test "$(tail -n 1 said)" = "3 passed, 1 failed"

program check_endless.sh <<'END'
sleep 1000
END
timeout=1 run 1 ./check_endless.sh
check "what takes too long has failed" grep -q '^check_endless  *0 passed, 1 failed' said
check "and is in the sum" test "$(tail -n 1 said)" = "0 passed, 1 failed"

program check_late.sh <<'END'
echo "FAIL the second of three"
echo "    with this"
echo "2 passed, 1 failed"
exit 1
END
program test_cmocka <<'END'
echo "[==========] Running 2 test(s)."
echo "[ RUN      ] test_a"
echo "[  ERROR   ] --- 1 != 2"
echo "[   LINE   ] --- a.c:7: error: Failure!"
echo "[  FAILED  ] test_a"
echo "[ RUN      ] test_b"
echo "[       OK ] test_b"
echo "[==========] 2 test(s) run."
echo "[  PASSED  ] 1 test(s)."
echo "[  FAILED  ] 1 test(s), listed below:"
exit 1
END
run 2 ./check_late.sh ./check_bad.sh ./test_cmocka ./check_one.sh
grep -A 20 -m 1 '^failed' said >end
mv end said
says "at the end stands once more what failed" "failed: check_late: FAIL the second of three
failed: check_late:     with this
failed: check_late: 2 passed, 1 failed
failed: check_bad: what went wrong
failed: check_bad: 2 passed, 1 failed
failed: test_cmocka: [  ERROR   ] --- 1 != 2
failed: test_cmocka: [   LINE   ] --- a.c:7: error: Failure!
failed: test_cmocka: [  FAILED  ] test_a
failed: test_cmocka: [ RUN      ] test_b
failed: test_cmocka: [       OK ] test_b
failed: test_cmocka: [  FAILED  ] 1 test(s), listed below:
6 passed, 3 failed"

program check_unsteady.sh <<'END'
[ -e was_run ] && echo "2 passed, 0 failed" && exit
touch was_run
echo "FAIL the first time"
echo "1 passed, 1 failed"
exit 1
END
tries=2 run 2 ./check_unsteady.sh ./check_one.sh
check "what passes the second time has passed" test $? -eq 0
grep -vE '^(---|FAIL|[0-9]* passed)' said >lines
tail -n 1 said >>lines
mv lines said
says "and is said to be unsteady" "check_unsteady               1 passed, 1 failed
check_one                    1 passed, 0 failed
check_unsteady               2 passed, 0 failed
unsteady: check_unsteady: FAIL the first time
unsteady: check_unsteady: 1 passed, 1 failed
3 passed, 0 failed"
tries=2 run 2 ./check_bad.sh ./check_one.sh
check "what fails twice has failed once" test "$(tail -n 1 said)" = "3 passed, 1 failed"

program check_reported.sh <<'END'
[ -e was_reported ] && exit
report=${TSAN_OPTIONS#*log_path=}   # the first: behind it is what run.sh itself was given
echo "WARNING: ThreadSanitizer: data race" >"${report%%:*}.1"
touch was_reported
END
tries=2 run 1 ./check_reported.sh
check "what a sanitizer has reported has failed" test "$(tail -n 1 said)" = "1 passed, 1 failed"

total
