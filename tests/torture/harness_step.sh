#!/bin/bash
# SPDX-License-Identifier: MIT
# P2: nothing that was recorded is lost, torn or doubled, at whatever instruction the process is killed or
# interrupted: with gcc -O2, gcc -O3 and clang -O2, each with a library and a harness of its own in $T2_OUT/step.
# x86-64 only: elsewhere there is one call path less, and stepping is not everywhere to be had.  See step.c.
set -u
scale=${T2_SCALE:-100} seed=${T2_SEED:-1} out=${T2_OUT:-build}
passed=0 failed=0
[ "$(uname -m)" = x86_64 ] || { echo "not x86-64: skipped"; echo "1 passed, 0 failed"; exit 0; }

# run COMPILER OPTIMIZATION: the program's last line is its sum
run()
{
	local dir=$out/step/$1$2 p f

	mkdir -p "$dir"
	if ! ${MAKE:-make} -s -j2 out="$dir" CC="$1" CFLAGS="$2 -g" "$dir/torture/step" >"$dir/log" 2>&1; then
		echo "$1 $2: does not build"
		tail -n 5 "$dir/log"
		failed=$((failed + 1))
		return
	fi
	echo "$1 $2:"
	timeout -s KILL 900 "$dir/torture/step" $((2000 / scale)) $((10 * scale)) "$seed" >"$dir/log" 2>&1
	sed '$d' "$dir/log"
	read -r p _ f _ < <(tail -n 1 "$dir/log")
	passed=$((passed + ${p:-0})) failed=$((failed + ${f:-1}))
}

run gcc -O2
run gcc -O3
if command -v clang >/dev/null; then
	run clang -O2
else
	echo "clang -O2: no clang here"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
