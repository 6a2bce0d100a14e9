#!/bin/bash
# SPDX-License-Identifier: MIT
# P3: handlers record in the middle of a call that records, at any depth, and jump out of it; a signal that ends the
# program comes in the middle of one.  Every event whose call returned is stored or counted, and the reservations
# that abandoned calls leave do not use up the ring.  See signals.c.
set -u
. tests/torture/common.sh

# run MODE AMOUNT SEED: the program's last line is its sum
run()
{
	local p f

	timeout -s KILL 900 "$out/torture/signals" "$1" "$2" "$3" >"$out/log/signals_$1.log"
	sed '$d' "$out/log/signals_$1.log"
	read -r p _ f _ < <(tail -n 1 "$out/log/signals_$1.log")
	add "${p:-0}" "${f:-1}"
}

# at full length every instruction of the call; where its handler is interrupted is random, so several times
for ((i = 0; i < (scale + 19) / 20; i++)); do
	run jumps $((100 / scale)) $((seed + i))
done
run chunks $((100 / scale)) "$seed"
# no more than one chunk has room for
for ((i = 0; i < (scale + 9) / 10; i++)); do
	run end 4 $((seed + i))
done
run timers $((10000 * scale)) "$seed"
run crash $((100 / scale)) "$seed"
total
