# SPDX-License-Identifier: MIT
# Sourced by what runs others and sums up: of long output often only the end is kept, so what failed is said there again.
# shellcheck shell=bash

# failed_lines NAME LOG: "failed: NAME: LINE" for the lines of the log that say what failed, or else for its last ones
failed_lines()
{
	local lines

	lines=$(grep -aE -A 2 'FAIL |^\[  (ERROR|FAILED) |ERROR: |WARNING: |error: ' "$2" | grep -avx -e -- | head -n 12)
	[ -n "$lines" ] || lines=$(tail -n 5 "$2")
	printf '%s\n' "${lines:-no output}" | cut -c 1-300 | sed "s|^|failed: $1: |"
}
