#!/bin/bash
# SPDX-License-Identifier: MIT
# What cannot be tried is said, and in the sum; a tool that is missing is a failure where everything has to be installed
# (CI=true): of harnesses, by tests/torture/run.sh and what they share, and of checks, by tests/run.sh.
# Ends with "N passed, N failed".
set -u

. "$(dirname "$0")/../common.sh"

mkdir -p "$tmp/tests/torture"
cp tests/torture/run.sh tests/torture/common.sh "$tmp/tests/torture/"
cp tests/run.sh tests/failed.sh tests/addresses.sh "$tmp/tests/"

# script FILE: stdin, what the script does
script()
{
	{ printf '#!/bin/bash\n'; cat; } >"$tmp/$1"
	chmod +x "$tmp/$1"
}

# sum NAME CI STATUS SUM COMMAND...: with that setting of CI, its exit status and its last lines, in one
sum()
{
	local name=$1 ci=$2 wanted="$3 $4" got

	shift 4
	(cd "$tmp" && env -u T2_V CI="$ci" T2_OUT=built "$@" >log 2>&1)
	got="$? $(tail -n 2 "$tmp/log" | grep -E '^[0-9]+ (skipped|passed, [0-9]+ failed)$' | tr '\n' ' ')"
	if [ "${got% }" = "$wanted" ]; then
		pass
	else
		fail "$name: ${got% }, expected $wanted"
		cat "$tmp/log"
	fi
}

script tests/torture/harness_some.sh <<-'END'
	. tests/torture/common.sh
	need no-such-tool "what it does"
	need bash "what bash does" && verdict "it" 0
	skip "another thing" "not here"
	total
END
script tests/torture/harness_none.sh <<-'END'
	. tests/torture/common.sh
	need no-such-tool "all of it" || { total; exit; }
	verdict "it" 0
	total
END
sum "a harness says what it skips" "" 0 "2 skipped 1 passed, 0 failed" tests/torture/run.sh some
sum "in CI a tool that is missing is a failure" true 1 "1 skipped 1 passed, 1 failed" tests/torture/run.sh some
sum "a harness that can do nothing has not passed" "" 0 "1 skipped 0 passed, 0 failed" tests/torture/run.sh none
sum "nor in CI" true 1 "0 passed, 1 failed" tests/torture/run.sh none

script check_tool.sh <<-'END'
	echo "no mandoc"
	exit 77
END
script check_other.sh <<-'END'
	echo "skipped: not x86-64"
	exit 77
END
script check_good.sh <<-'END'
	exit 0
END
sum "checks say what they skip" "" 0 "2 skipped 1 passed, 0 failed" tests/run.sh ./check_{tool,other,good}.sh
sum "in CI a check's tool that is missing is a failure" true 1 "1 skipped 1 passed, 1 failed" \
	tests/run.sh ./check_{tool,other,good}.sh
total
