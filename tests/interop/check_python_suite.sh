#!/bin/bash
# SPDX-License-Identifier: MIT
# CPython's own tests, of processes, signals, threads, files and sockets, pass as without us: in a Python whose reads,
# writes and forks a preloaded shim records, and under `t2 record` with each profile.  The three run side by side.  A test
# that does not pass without us is not judged; one that fails with us only counts if it does so again, alone (these
# tests are flaky on busy machines).  Ends with "N passed, N failed"; takes 3 to 4 minutes on two processors.
set -u
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1

. "$(dirname "$0")/../common.sh"
need_profiler
python=/usr/bin/python3
[ -x $python ] || python=$(command -v python3)
need python3 [ -n "$python" ]
need "tests of CPython" "$python" -c 'import test.test_subprocess'

modules="test_asyncio test_atexit test_eintr test_exceptions test_faulthandler test_fcntl test_fork1 test_gc test_io
	test_mmap test_multiprocessing_fork test_openpty test_os test_poll test_popen test_posix test_pty test_resource
	test_select test_selectors test_signal test_socket test_subprocess test_sys test_sys_setprofile test_thread
	test_threading test_threadsignals test_time test_tracemalloc test_wait3 test_wait4"
# not: what hangs in containers; what is slow and says nothing of processes
ignored="*VSOCK* test.test_asyncio.test_locks.* test.test_asyncio.test_queues.* test.test_asyncio.test_ssl.*
	test.test_asyncio.test_sslproto.* test.test_asyncio.test_taskgroups.* test.test_asyncio.test_tasks.*
	test.test_asyncio.test_timeouts.*"
# The tests have handlers of their own for USR2.
profiles="--cpu=250 --wall=100 --heap --block --mutex=1 --threadcreate --threads=USR2"
# It lists the descriptors of a process, of which the ring file is one.
expected=test.test_subprocess.POSIXProcessTestCase.test_pass_fds_redirected

chmod 711 "$tmp"   # some tests become nobody
${CC:-cc} -D_GNU_SOURCE -O2 -fPIC -shared -I"$top/runtime" -o "$tmp/shim.so" "$top/tests/interop/python/shim.c" \
	-L"$out" -Wl,-rpath,"$out" -ltrace2 -ldl || fail "shim.c does not compile"
set -f
printf '%s\n' $ignored >"$tmp/ignored"

# suite DIR WAY OPTION...: run the modules that way; results in DIR/WAY.xml
suite()
{
	local dir=$1 way=$2 before=()

	mkdir -p "$dir/$way" "$tmp/raw.$way"
	chmod 1777 "$dir/$way" "$tmp/raw.$way"
	case $way in
	shim) before=(env TRACE2_RAW="$tmp/raw.shim/" LD_PRELOAD="$tmp/shim.so") ;;
	record) before=("$out/t2" record $profiles -o "$tmp/raw.record/" --) ;;
	esac
	# INT: then regrtest ends its workers, each of which has a session of its own
	(cd "$dir/$way" && TMPDIR=$dir/$way HOME=$dir/$way timeout -s INT -k 20 480 "${before[@]}" "$python" -m test \
		--junit-xml="$dir/$way.xml" --ignorefile="$tmp/ignored" --timeout=120 "${@:3}" $modules) \
		>"$dir/$way.log" 2>&1 </dev/null
}

# again WAY: what it has lost once more, both ways; those that it loses again
again()
{
	local dir=$tmp/again.$1

	mkdir -m 711 "$dir"
	suite "$dir" without -j1 --matchfile="$tmp/$1.lost"
	suite "$dir" "$1" -j1 --matchfile="$tmp/$1.lost"
	"$python" "$top/tests/interop/python/compare.py" "$dir/without.xml" "$dir/$1.xml" | tail -n +2
}

# judge WAY
judge()
{
	local lost

	"$python" "$top/tests/interop/python/compare.py" "$tmp/without.xml" "$tmp/$1.xml" >"$tmp/$1.compared"
	passed=$((passed + $(head -n 1 "$tmp/$1.compared")))
	tail -n +2 "$tmp/$1.compared" | grep -vxF "$expected" >"$tmp/$1.lost"
	check "$1: more than 2,000 tests are compared" [ "$(head -n 1 "$tmp/$1.compared")" -gt 2000 ]
	[ -s "$tmp/$1.lost" ] || return
	echo "$1: once more: $(tr '\n' ' ' <"$tmp/$1.lost")"
	again "$1" >"$tmp/$1.again"
	while read -r lost; do
		if grep -qxF "$lost" "$tmp/$1.again"; then
			fail "$1: $lost"
		else
			pass
		fi
	done <"$tmp/$1.lost"
	[ ! -s "$tmp/$1.again" ] || grep -hEA 30 '^(test .* failed --|.* crashed |Traceback)' "$tmp/again.$1/$1.log" | head -n 80
}

# traced WAY PATTERN...: what it has recorded can be read, but for processes that the tests have killed or left behind, and
# for what test_resource loses, which limits the size of files; lines like these are in its summary
traced()
{
	local way=$1 pattern told

	told=': empty$|did not end|died before|more damaged places|checkpoints in its rings|(is|are) running: --live='
	told+='| [0-9]{1,3} checkpoints lost by the program: write error$'
	"$out/t2" summary "$tmp/raw.$way/" >"$tmp/$way.summary" 2>"$tmp/$way.errors"
	# What was not written is missing between what was: test_resource limits the size of files to 1,024 bytes
	! grep -q 'lost by the program: write error$' "$tmp/$way.errors" || told+='|: [0-9]{1,3} raw events missing in [0-9]+ places$'
	none "$way: damaged traces" \
		"$(grep -vE "$told" "$tmp/$way.errors")"
	for pattern in "${@:2}"; do
		check "$way: $pattern is in the traces" grep -qE "$pattern" "$tmp/$way.summary"
	done
}

for way in without shim record; do
	suite "$tmp" $way -j2 &
done
wait
judge shim
judge record
traced shim 'io +read' 'io +write' 'process +fork'
traced record ' cpu$' ' heap$' ' block$' ' mutex$' ' threadcreate$'
total
