#!/bin/bash
# SPDX-License-Identifier: MIT
# The table "What of Git's Trace2 there is" in trace2-env(7): each row says what state it is in and names tests,
# and these exist and are run: functions test_... of a test program, conformance cases git/... and own/..., cases
# of check_git.sh.  Every event of the format, every setting and every function is in some row.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C

cd "$(dirname "$0")/../.." || exit 1
page=runtime/trace2-env.7
. tests/common.sh
test_sources=$(find tests -name "test_*.c")

# check NAME COMMAND...
check()
{
	local name=$1

	shift
	if "$@"; then
		pass
	else
		fail "$name"
	fi
}

sed -n "/^\.Sh CONFORMANCE TO GIT'S TRACE2/,/^\.Sh SEE ALSO/p" "$page" | sed 's/\\-/-/g' >"$tmp/section"
# Lines "row|state|tests"
awk '
	function row() { if (what != "") print what "|" state "|" tests; what = state = tests = "" }
	/^\.It / { row(); what = substr($0, 5); next }
	/^\.(El|Pp|S[hs])/ { row(); next }
	/^(test_|git\/|own\/|check_git:)/ { tests = tests " " $0; next }
	!/^\./ && what != "" { state = state " " $0 }' "$tmp/section" >"$tmp/rows"

exists()
{
	case $1 in
	test_*) grep -qE "^(static )?void $1\(" $test_sources && grep -qE "(TEST|unit_test[a-z_]*)\($1\b" $test_sources ;;
	git/* | own/*) [ -e "tests/conformance/$1/calls.api" ] ;;
	check_git:*) grep -qE "^[[:space:]]*(same|warned|quiet|related) ${1#*:} " tests/library/check_git.sh ;;
	*) false ;;
	esac
}

while IFS='|' read -r what state tests; do
	check "state of: $what" grep -qE '^ (As in git|Differs|Not in git)\b' <<<"$state"
	check "tests of: $what" [ -n "$tests" ]
	for test in $tests; do
		check "$test, for: $what" exists "$test"
	done
done <"$tmp/rows"
check "there are rows" [ -s "$tmp/rows" ]

cut -d'|' -f1 "$tmp/rows" | tr ' ,' '\n' | sort -u >"$tmp/words"
# Steps, samples and integers as such are ours; git prints an integer as data.
for event in $(sed -n 's/^TLG_STYLE([0-9]*, \([a-z_]*\),.*/\1/p' format/tlg_styles.def | grep -vxE 'step|sample|data_intmax'); do
	check "a row for the event $event" grep -qx "$event" "$tmp/words"
done
for name in $(sed -n 's/^\.It Ev \([A-Z0-9_]*\).*/\1/p' "$page" | sort -u); do
	check "a row for the setting $name" grep -qxE "(GIT_)?$name" "$tmp/words"
done
for key in $(grep -oE '\btrace2\.[A-Za-z0-9]+' "$page" | sort -u); do
	check "a row for the key $key" grep -qx "$key" "$tmp/words"
done
# What git's header has; the functions that are ours alone are described in trace2(3).
for name in $(sed -n 's/^\.It Fn \(trace2_[a-z0-9_]*\).*/\1/p' runtime/trace2.3 |
	grep -vE '_(define|step|set_env_prefix|use_git_config|set_program_version|next_cycle|flush|finish|rotate|snapshot)$'); do
	base=${name%_va}
	check "a row for $name()" grep -qxE "$name|$base|${base%_printf}" "$tmp/words"
done

total
