#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: tests/torture/harness_mutants.sh [MUTANT...]
#
# Mutation tests: a harness that cannot fail proves nothing.  Each mutant, tests/mutants/HARNESS-what.patch, breaks in
# the product what that harness watches.  It is applied to a copy of the tracked tree in $T2_OUT/mutants and built, and
# the harness must fail there; it stops at its first failure.  A line "scale: N" before the patch sets its T2_SCALE
# (default 5), a line "needs: root" that others skip it.  Only the library, t2expand and the programs in tests/torture
# are built.  One mutant per processor.
# How long a harness takes is nothing that is judged: it has all the time that run.sh gives to this one.
# With T2_UNTIL those that have not begun by then are skipped (run.sh).
# MUTANT: HARNESS-what, or a harness.  Default: all of them, or, where T2_SCALE is below 100, one of each harness, which
# T2_SEED chooses.  Ends with "N passed, N failed".
set -u
. tests/torture/common.sh
top=$PWD

# fail MUTANT WHY [LOG]
fail()
{
	printf '%-40s FAIL %s\n' "$1" "$2"
	[ -z "${3:-}" ] || tail -n 5 "$3" | sed 's/^/    /'
	return 1
}

# Whether harness $1 uses what is in $out/$2: not the tests, nor other variants than its own
uses()
{
	case $2 in
	mutants | log | fuzz | tests | bench | interop | clang | address* | thread | afl-* | sysroot | *-gcc)
		case $1-$2 in
		orders-thread | arch-sysroot | arch-*-gcc | fuzz-afl-*) ;;
		*) return 1 ;;
		esac
		;;
	esac
}

# copy_tree DIRECTORY HARNESS: the tree and what has been built of it, times preserved, so that only what the patch
# changes is built anew
copy_tree()
{
	local what

	rm -rf "$1"
	mkdir -p "$1/$out"
	git ls-files -z | xargs -0 cp -p --parents -t "$1" || return 1
	for what in "$out"/*; do
		! uses "$2" "${what##*/}" || cp -a "$what" "$1/$out/" || return 1
	done
}

# try MUTANT
try()
{
	local mutant=$1 patch=$top/tests/mutants/$1.patch harness=${1%%-*} dir=$top/$out/mutants/$1
	local log=$top/$out/mutants/$1.log scale start=$SECONDS

	copy_tree "$dir" "$harness" || { fail "$mutant" "the tree cannot be copied"; return; }
	cd "$dir" || exit 1
	scale=$(sed -n 's/^scale: *//p' "$patch" | head -n 1)
	if ! patch -p1 -s <"$patch" >"$log" 2>&1; then
		fail "$mutant" "the patch does not apply" "$log"
	elif ! ${MAKE:-make} -s CC="${CC:-cc}" NODE=false torture-tools >"$log" 2>&1; then
		fail "$mutant" "does not build" "$log"
	elif T2_FIRST=1 T2_SCALE=${scale:-5} timeout -s KILL "${T2_TIMEOUT:-3600}" "tests/torture/harness_$harness.sh" \
		</dev/null >"$log" 2>&1; then
		fail "$mutant" "not caught: the harness passed" "$log"
	elif ! grep -qE '^[0-9]+ passed, [1-9][0-9]* failed$' "$log"; then
		fail "$mutant" "the harness broke before it could judge" "$log"
	else
		printf '%-40s caught, %s s\n' "$mutant" $((SECONDS - start))
		rm -rf "$dir"
		return
	fi
	rm -rf "$dir"
	return 1
}

# one_of_each: the name of one mutant of each harness
one_of_each()
{
	local harness mutants

	for harness in $(basename -s .patch tests/mutants/*.patch | sed 's/-.*//' | sort -u); do
		mutants=("tests/mutants/$harness"-*.patch)
		basename -s .patch "${mutants[seed % ${#mutants[@]}]}"
	done
}

mkdir -p "$out/mutants"
if [ $# -eq 0 ] && [ "$scale" -lt 100 ]; then
	mapfile -t chosen < <(one_of_each)
	set -- "${chosen[@]}"
fi
[ $# -gt 0 ] || set -- ''
for wanted; do
	for path in tests/mutants/*.patch; do
		name=$(basename "$path" .patch)
		case $name in
		'*') continue ;;
		"$wanted" | "${wanted:-${name%%-*}}"-*)
			if [ "$(date +%s)" -ge "${T2_UNTIL:-$((1 << 40))}" ]; then
				skip "$name" "no time is left"
			elif [ "$(id -u)" -ne 0 ] && grep -qx 'needs: root' "$path"; then
				skip "$name" "not run as root"
			else
				begin try "$name"
			fi
			;;
		esac
	done
done
finish
total
