#!/bin/bash
# SPDX-License-Identifier: MIT
# P4: every checkpoint that was emitted is stored, or counted as lost under its thread and reason; with every policy,
# with a drain that keeps up and one that does not, with snapshots at random.  Tolerance 0.  See account.c.
set -u
. tests/torture/common.sh

rounds=$((20 * scale / 100 > 1 ? 20 * scale / 100 : 1))
for policy in discard block slow wait overwrite; do
	begin timeout -s KILL 900 "$out/torture/account" "$policy" "$rounds" "$seed" "$out/t2expand"
done
finish
total
