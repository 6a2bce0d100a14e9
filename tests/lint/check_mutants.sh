#!/bin/bash
# SPDX-License-Identifier: MIT
# The planted bugs of tests/mutants still fit the source: only `make torture` builds them, and a change
# that moves what they break should notice at once.  Nothing is changed.  Ends with "N passed, N failed".
set -u
. "$(dirname "$0")/../common.sh"

for plant in tests/mutants/*.patch; do
	if patch -p1 -s -f --dry-run <"$plant" >/dev/null 2>&1; then
		pass
	else
		fail "$plant does not apply"
	fi
done
total
