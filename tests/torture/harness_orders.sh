#!/bin/bash
# SPDX-License-Identifier: MIT
# P10: the orders [M1] to [M3] and [M13] are what the ring needs, and the product has them.
#   1. ring.pml, the ring's protocol, is explored by spin to its last state: clean, and each weakened order is an error
#   2. a build with ThreadSanitizer runs orders.c with each policy: no report
# The planted patches orders-*.patch weaken the product's orders, one each: then the second part must fail.
set -u
top=$PWD scale=${T2_SCALE:-100} out=${T2_OUT:-build}
passed=0 failed=0

verdict()
{
	if [ "$1" -eq 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL $2"
	fi
}

# explore DEFINES...: prints the states; sets errors
explore()
{
	rm -f pan*
	spin -a "$@" "$top/tests/torture/ring.pml" >spin.log &&
		${CC:-cc} -O2 -w -DSAFETY -DCOLLAPSE -DVECTORSZ=4096 -o pan pan.c && ./pan -m100000 >pan.log
	errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.log)
	states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.log)
	grep -q 'error: max search depth\|out of memory\|Search not completed' pan.log && errors=${errors:-x}
}

model()
{
	local weak

	explore "$@"
	echo "model${*:+ $*}: $states states, $errors errors"
	[ "$errors" = 0 ] && ! grep -q 'Search not completed' pan.log
	verdict $? "the model${*:+ $*} is not clean"
	for weak in $orders; do
		explore "$@" "-D$weak=0"
		[ "${errors:-0}" -gt 0 ] && grep -q 'assertion violated' pan.log
		verdict $? "the model${*:+ $*} with $weak weakened is clean"
	done
	echo "model${*:+ $*}: weakened, one at a time: $orders"
}

command -v spin >/dev/null || { echo "no spin"; echo "0 passed, 1 failed"; exit 1; }
mkdir -p "$out/log" "$out/spin"
cd "$out/spin" || exit 1
orders="HDR_REL HDR_ACQ FREE_REL FREE_ACQ LINK_REL LINK_ACQ" model
orders="HDR_REL HDR_ACQ FENCE_REL FENCE_ACQ" model -DOVERWRITE
cd "$top" || exit 1

# The sanitizer's build is a variant of its own, below the other one.
if ! ${MAKE:-make} -s SAN=thread build/thread/torture/orders >"$out/log/orders_build.log" 2>&1; then
	tail -n 5 "$out/log/orders_build.log"
	verdict 1 "no build with ThreadSanitizer"
else
	tmp=$(mktemp -d) || exit 1
	trap 'rm -rf "$tmp"' EXIT
	events=$((6000 * (scale > 5 ? scale : 5)))
	for policy in discard block overwrite; do
		TSAN_OPTIONS="halt_on_error=1 exitcode=66" XDG_RUNTIME_DIR=$tmp TRACE2_RAW=$tmp/raw.tlg \
			TRACE2_RAW_RING=128k timeout 300 build/thread/torture/orders "$policy" "$events" \
			>"$out/log/orders_$policy.log" 2>&1
		status=$?
		grep -m 3 -E 'WARNING: ThreadSanitizer|^    #0' "$out/log/orders_$policy.log"
		verdict "$status" "ThreadSanitizer, policy $policy: status $status"
		echo "tsan, policy $policy: $events events of each thread, status $status"
	done
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
