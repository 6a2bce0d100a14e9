#!/bin/bash
# SPDX-License-Identifier: MIT
# P5: 100,000 short threads, which end in every way there is: nothing unaccounted, memory flat.  The promise is 10 s
# for them on two idle processors; the time is printed, not judged.  See threads.c.
set -u
. tests/torture/common.sh

# storm POLICY RING THREADS: one at a time, for the time that they take
storm()
{
	begin timeout -s KILL 900 "$out/torture/threads" "$1" "$2" "$3" "$seed"
	finish
}

storm discard 1536k $((1000 * scale))
storm overwrite 128k $((200 * scale))
total
