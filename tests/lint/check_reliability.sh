#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/RELIABILITY.md: the promises are P1 to P21, each names a harness (or a script) that exists; every harness is
# named.  Ends with "N passed, N failed".
set -u
. tests/common.sh
file=tests/RELIABILITY.md

# verdict WHAT STATUS
verdict()
{
	check "$1" [ "$2" -eq 0 ]
}

for n in $(seq 21); do
	named=$(sed -n "s/^| P$n | [^|]* | \([^|]*\) |.*/\1/p" $file | tr -d '\`')
	[ -n "$named" ]
	verdict "P$n is in the table" $?
	for name in $named; do
		[ -x "tests/torture/harness_$name.sh" ] || [ -x "$name" ]
		verdict "P$n: there is no harness '$name'" $?
	done
done
for path in tests/torture/harness_*.sh; do
	name=${path##*/harness_}
	name=${name%.sh}
	[ "$name" != mutants ] || continue
	grep -q "^| P.*\`$name\`" $file
	verdict "harness $name shows no promise" $?
done
# a command that is substituted in front of it makes $? its own
! grep -rnE --include='*.sh' '\$\([^(].*\)" (\[ )?\$\?( |$)' tests
verdict "\$? behind a \$(command) is not the status that it looks like" $?
grep -q 'tests/RELIABILITY.md' README.md
verdict "README.md names $file" $?
total
