#!/bin/bash
# SPDX-License-Identifier: MIT
# Names from elfutils' debuginfod, a server on this host: of a program that is stripped, of one that is gone.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC

. "$(dirname "$0")/../common.sh"
need_profiler
need debuginfod command -v debuginfod
need debuginfod-find command -v debuginfod-find
need objcopy command -v objcopy
export PATH=$out:$PATH XDG_RUNTIME_DIR=$tmp
unset DEBUGINFOD_URLS
cd "$tmp" || exit 1

cat >work.c <<'END'
#include <stdint.h>
__attribute__((noinline)) static uint64_t spin_around(uint64_t n)
{
	volatile uint64_t x = 1;

	while (n--)
		x = x * 31 + n;
	return x;
}
int main(void)
{
	return !spin_around(200000000);
}
END
mkdir served
quiet "compile" ${CC:-cc} -g -O1 -Wl,--build-id -o work work.c
objcopy --only-keep-debug work served/work.debug
strip work
timeout -s KILL 60 t2 record --cpu=250 -o work.tlg -- ./work || fail "it does not run"

# A port that is free; it is only on loopback that somebody may ask
port=$((20000 + $$ % 20000))
timeout -s KILL 120 debuginfod -p $port -d "$tmp/database" -F -t 0 "$tmp/served" >server.log 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$tmp" "$rings"' EXIT
build_id=$(readelf -n work | sed -n 's/.*Build ID: //p')
export DEBUGINFOD_URLS=http://127.0.0.1:$port DEBUGINFOD_CACHE_PATH=$tmp/first
for ((i = 0; i < 100; i++)); do
	debuginfod-find debuginfo "$build_id" >/dev/null 2>&1 && break
	rm -rf "$tmp/first"     # it remembers what was not there
	sleep 0.2
done
check "the server has the debug file" [ "$i" -lt 100 ]

export DEBUGINFOD_CACHE_PATH=$tmp/cache
names()
{
	t2 export --format=folded --profile=cpu "$@" work.tlg
}
check "stripped: nobody asks" [ -z "$(names | grep spin_around)" ]
check "stripped: --debuginfod" grep -q 'main;spin_around ' <(names --debuginfod)
rm -r work cache
check "gone: nobody asks" [ -z "$(names | grep spin_around)" ]
check "gone: --debuginfod" grep -q 'main;spin_around ' <(names --debuginfod)
kill $server
wait $server 2>/dev/null
check "the server is gone: what the cache has" grep -q 'main;spin_around ' <(names --debuginfod)
rm -r cache
check "the server is gone: no names, no failure" [ -n "$(names --debuginfod)" -a -z "$(names --debuginfod | grep spin_around)" ]
total
