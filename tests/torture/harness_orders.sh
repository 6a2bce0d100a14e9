#!/bin/bash
# SPDX-License-Identifier: MIT
# P10: the memory ordering of [M1] to [M3] and [M13] is what the ring needs, and the product has it.
#   1. ring.pml, the ring's protocol, is explored by spin to its last state: clean, and each weakened ordering is an error
#   2. a build with ThreadSanitizer runs orders.c with each policy, and threads that share the profiler's buckets: no report
# The mutants orders-*.patch weaken one memory ordering of the product each: then the second part must fail.
set -u
. tests/torture/common.sh
model=$PWD/tests/torture/ring.pml

# explore WHAT DEFINES...: in a directory of its own.  Prints the states; sets errors
explore()
{
	mkdir -p "$work/$1" && cd "$work/$1" || exit 1
	spin -a "${@:2}" "$model" >spin.log &&
		${CC:-cc} -O1 -w -DSAFETY -DCOLLAPSE -DVECTORSZ=4096 -o pan pan.c && ./pan -m100000 >pan.log
	errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.log)
	echo "model $*: $(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.log) states, $errors errors"
}

clean()
{
	explore "$@"
	[ "$errors" = 0 ] && ! grep -q 'error: max search depth\|out of memory\|Search not completed' pan.log
}

weakened()
{
	explore "$@"
	[ "${errors:-0}" -gt 0 ] && grep -q 'assertion violated' pan.log
}

# watch POLICY: by the sanitizer
watch()
{
	local log=$PWD/$out/log/orders_$1.log status events=$((6000 * (scale > 5 ? scale : 5)))

	mkdir "$rings/$1"
	TSAN_OPTIONS="halt_on_error=1 exitcode=66" XDG_RUNTIME_DIR=$rings/$1 TRACE2_RAW=$work/$1.tlg \
		TRACE2_RAW_RING=128k timeout 900 "${plain[@]}" build/thread/torture/orders "$1" "$events" >"$log" 2>&1
	status=$?
	grep -m 3 -E 'WARNING: ThreadSanitizer|^    #0' "$log"
	echo "tsan, policy $1: $events events of each thread, status $status"
	return "$status"
}

# share: what tests/unit/prof does with threads, by the sanitizer
share()
{
	local log=$PWD/$out/log/orders_share.log status

	TSAN_OPTIONS="halt_on_error=1 exitcode=66" timeout 900 "${plain[@]}" build/thread/tests/test_tr2p_bucket >"$log" 2>&1
	status=$?
	grep -m 3 -E 'WARNING: ThreadSanitizer|^    #0' "$log"
	echo "tsan, buckets of the profiler: status $status"
	return "$status"
}

# the sanitizer's build is a variant of its own, below the other one
${MAKE:-make} -s SAN=thread build/thread/torture/orders build/thread/tests/test_tr2p_bucket >"$out/log/orders_build.log" 2>&1
status=$?
verdict "a build with ThreadSanitizer: $(tail -n 3 "$out/log/orders_build.log")" $status
begin share
for policy in discard block overwrite; do
	begin watch $policy
done
if need spin "the model of the ring"; then
	begin clean drained
	begin clean overwritten -DOVERWRITE
	for order in HDR_REL HDR_ACQ FREE_REL FREE_ACQ LINK_REL LINK_ACQ; do
		begin weakened "$order" -D$order=0
	done
	for order in HDR_REL HDR_ACQ FENCE_REL FENCE_ACQ; do
		begin weakened "overwritten-$order" -DOVERWRITE -D$order=0
	done
fi
finish
total
