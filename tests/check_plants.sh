#!/bin/bash
# SPDX-License-Identifier: MIT
# The planted bugs of tests/torture/plants still fit the source: only `make torture` builds them, and a change
# that moves what they break should notice at once.  Nothing is changed.  Ends with "N passed, N failed".
set -u
passed=0 failed=0

for plant in tests/torture/plants/*.patch; do
	if patch -p1 -s -f --dry-run <"$plant" >/dev/null 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL $plant does not apply"
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
