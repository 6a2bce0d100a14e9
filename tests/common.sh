# SPDX-License-Identifier: MIT
# Sourced by check scripts, which count with it what holds and what does not.
#   $passed, $failed  so far
#   $top, $out        this tree, and what was built of it (T2_OUT)
#   $tmp              a directory of the script's own, removed when it ends
#   $rings            one for ring files, which is XDG_RUNTIME_DIR
# shellcheck shell=bash disable=SC2034

passed=0 failed=0
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=${T2_OUT:-build}
[ "${out#/}" != "$out" ] || out=$top/$out
tmp=$(mktemp -d) || exit 1
# Processes that are killed leave their ring files, which should not stay in memory for longer than the script runs.
rings=$(mktemp -d -p /dev/shm trace2-check.XXXXXX 2>/dev/null) || rings=$tmp
chmod 1777 "$rings"
export XDG_RUNTIME_DIR=$rings
trap 'rm -rf "$tmp" "$rings"' EXIT

pass()
{
	passed=$((passed + 1))
}

fail()
{
	failed=$((failed + 1))
	echo "FAIL $*"
}

# need WHAT TEST...: without it the check is skipped
need()
{
	"${@:2}" >/dev/null && return
	echo "no $1"
	exit 77
}
need_shared_library()
{
	need "shared library in $out" [ -e "$out/libtrace2.so" ]
}

# need_profiler: $library is what LD_PRELOAD takes; nothing is traced but what says so
need_profiler()
{
	need_shared_library
	library=$(readlink -f "$out/libtrace2-prof.so.0")
	need "libtrace2-prof in $out" [ -e "$library" ]
	unset LD_PRELOAD TRACE2_RAW TRACE2_PROF TRACE2_DST_DEBUG GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME
}

# total: the last line of a check, and its exit status
total()
{
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ]
}

# well_said: what t2expand has said to expect is in plain words, names what it is about, and knows two units
well_said()
{
	none "nothing is named that is not there" "$(grep -nE ':[[:space:]]*:|: *$' "$tmp/errors")"
	none "errors of liblz4 by its names" "$(grep -nE 'ERROR_|LZ4F' "$tmp/errors")"
	none "units other than checkpoints and raw events" \
		"$(grep -nE 'HIT|[0-9] (hits|events)' "$tmp/errors" | grep -v 'raw events')"
	none "lines that do not say whose they are" "$(grep -nv 't2expand: ' "$tmp/errors")"
}

# check NAME COMMAND...: its exit status is the verdict
check()
{
	if "${@:2}"; then pass; else fail "$1"; fi
}

# none NAME LINES: there are no lines
none()
{
	if [ -z "$2" ]; then
		pass
	else
		fail "$1:"
		printf '%.3000s\n' "$2" | sed 's/^/    /'
	fi
}

# quiet NAME COMMAND...: the same; only if it fails its output is shown
quiet()
{
	if "${@:2}" >"$tmp/log" 2>&1; then
		pass
	else
		fail "$1:"
		head -n 10 "$tmp/log"
	fi
}

# expect NAME STATUS PATTERN COMMAND...: exit status, and a line on stderr that matches ("": stderr is empty).  What
# the command printed is in the files stdout and err; what all of them printed on stderr, in $tmp/errors
expect()
{
	local name=$1 status=$2 pattern=$3 got

	shift 3
	"$@" >stdout 2>err </dev/null
	got=$?
	cat err >>"$tmp/errors"
	if [ "$got" -ne "$status" ]; then
		fail "$name: exit status $got, not $status: $(head -n 3 err)"
	elif [ -z "$pattern" ] && [ -s err ]; then
		fail "$name: stderr is not empty: $(head -n 3 err)"
	elif [ -n "$pattern" ] && ! grep -qE -- "$pattern" err; then
		fail "$name: nothing on stderr like \"$pattern\": $(head -n 3 err)"
	elif [ "$(wc -l <err)" -gt 14 ]; then
		fail "$name: $(wc -l <err) lines on stderr"
	else
		pass
	fi
}
