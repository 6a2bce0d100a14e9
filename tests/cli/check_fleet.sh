#!/bin/bash
# SPDX-License-Identifier: MIT
# t2 ship, t2 collect, with one server of NATS on a port of the loopback that is free: what is in the store is what was
# in the directory, byte for byte, also if ship is killed between publishing and receipt, or files of the store were
# removed; a quota drops the oldest, and counts it; every mistake has one line.  harness_fleet.sh kills servers and
# collectors.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC

. "$(dirname "$0")/../common.sh"
need nats-server command -v nats-server
need lz4 command -v lz4
need_shared_library
work=$tmp
. "$top/tests/fleet.sh"
export PATH=$out:$PATH
unset NATS_URL TRACE2_RAW GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME
cd "$tmp" || exit 1
trap 'kill -9 $(jobs -p) 2>/dev/null; wait 2>/dev/null; rm -rf "$tmp" "$rings"' EXIT
t2 ship --nats=nats://127.0.0.1:1 --once /nowhere >stdout 2>err </dev/null
if grep -q 'was built without libnats' err; then
	cat err
	echo "no libnats"
	exit 77
fi
grep -q "No such file" err && pass || fail "a directory that is not there: $(cat err)"
${CC:-cc} -O1 -I"$top/runtime" -o fleet "$top/tests/torture/fleet.c" -L"$out" -Wl,-rpath,"$out" \
	-ltrace2 -pthread || fail "fleet.c does not compile"

# ---- mistakes ---------------------------------------------------------------------------------------

# refused WHY COMMAND...: one line, exit status 2
refused()
{
	"${@:2}" >stdout 2>err </dev/null
	[ $? -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q -- "$1" err && pass || fail "not refused: ${*:2}: $(cat err)"
}
url=nats://127.0.0.1:1
refused 'a directory is missing' t2 ship --nats=$url
refused '--nats=URL' t2 ship "$tmp"
refused 'no argument' t2 ship --nats=nats://me:secret@127.0.0.1 "$tmp"
refused '--host has letters' t2 ship --nats=$url --host=a.b "$tmp"
refused '--quota needs --delete' t2 ship --nats=$url --quota=1g "$tmp"
refused '--quota is a size' t2 ship --nats=$url --delete --quota=much "$tmp"
refused 'need each other' t2 collect --nats=$url --nkey=UABC "$tmp"
refused '--replicas' t2 collect --nats=$url --replicas=9 "$tmp"
touch key
chmod 644 key
t2 ship --nats=$url --once --creds=key "$tmp" 2>err && fail "credentials that others can read"
[ "$(wc -l <err)" -eq 1 ] && grep -q 'chmod 600' err && pass || fail "credentials that others can read: $(cat err)"

# Nobody is there: both go on trying, and say so once
mkdir dir.nobody
timeout 3 t2 ship --nats=$url --once dir.nobody 2>err
[ $? -eq 0 ] && [ ! -s err ] && pass || fail "an empty directory needs no server: $(cat err)"
TRACE2_RAW=$tmp/dir.nobody ./fleet 20 1000 1
timeout 3 t2 ship --nats=$url --once dir.nobody 2>err
[ "$(wc -l <err)" -eq 1 ] && grep -q "NATS: $url" err && pass || fail "ship without a server: $(cat err)"
timeout 3 t2 collect --nats=$url none 2>err
[ "$(wc -l <err)" -eq 1 ] && grep -q "NATS: $url" err && pass || fail "collect without a server: $(cat err)"

library=$(ldconfig -p 2>/dev/null | sed -n 's/.*libnats\.so\.3\.4 .*=> //p' | head -n 1)
if [ -n "$library" ] && unshare -m true 2>/dev/null; then
	unshare -m sh -c 'mount --bind /dev/null "$1" && exec t2 ship --nats="$2" --once dir.nobody' - \
		"$(readlink -f "$library")" $url 2>err
	[ $? -eq 1 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q 'Debian package libnats3.4' err && pass ||
		fail "without libnats: $(cat err)"
fi
check "t2x_nats.c compiles without libnats" "${CC:-cc}" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wmissing-prototypes \
	-Werror -fsyntax-only -I"$top/expand" -I"$top/format" "$top/expand/fleet/t2x_nats.c"

# ---- a server, a collector --------------------------------------------------------------------------

mkdir ports
printf 'listen: "127.0.0.1:-1"\njetstream { store_dir: "%s/js" }\n' "$tmp" >server.conf
nats-server -c server.conf --ports_file_dir "$tmp/ports" >server.log 2>&1 &
for ((i = 0; i < 200; i++)); do
	url=$(sed -n 's/.*"\(nats:[^"]*\)".*/\1/p' ports/*.ports 2>/dev/null | head -n 1)
	[ -n "$url" ] && break
	sleep 0.05
done
[ -n "$url" ] && pass || fail "the server has not begun: $(cat server.log)"
collector --max-bytes=64m

# same WHAT DIRECTORY HOST: the store has of the host what the directory has
same()
{
	plain "$2" >local
	plain "store/$3" >stored
	[ "$(wc -c <local)" -gt 20 ] && cmp -s local stored && pass || fail "$1: the store has other blocks than the directory"
	t2expand --format=perf "$2" >local 2>err || fail "$1: $(cat err)"
	t2expand --format=perf "store/$3"/* >stored 2>err || fail "$1: $(cat err)"
	[ "$(wc -l <local)" -gt 100 ] && cmp -s local stored && pass || fail "$1: what is stored prints otherwise"
}

# ship is killed while the collector, which is stopped, has what it sent
mkdir dir.killed
TRACE2_RAW=$tmp/dir.killed ./fleet 1500 200 1 &
program=$!
t2 ship --nats="$url" --host=killed --status-file=ship.prom dir.killed 2>>ship.log &
ship=$!
sleep 0.4
kill -STOP "${collectors[0]}"
sleep 0.4
kill_all $ship
kill -CONT "${collectors[0]}"
t2 ship --nats="$url" --host=killed --status-file=ship.prom dir.killed 2>>ship.log &
ship=$!
wait $program
await_receipts ship.prom 60 && pass || fail "not all has its receipt: $(cat ship.prom ship.log collect.log)"
same "ship is killed" dir.killed killed
[ "$(metric ship.prom dropped_blocks_total)" = 0 ] && pass || fail "something was dropped"
kill_all $ship TERM
[ "$(find store -name '*.tlg' | wc -l)" -eq 1 ] && pass || fail "not one file in the store: $(find store)"

# All is there: nothing is stored twice
before=$(find store -name '*.tlg' -printf '%i %s ' | sort)
timeout 60 t2 ship --nats="$url" --host=killed --once dir.killed 2>>ship.log && pass || fail "sent again: no receipts"
[ "$(find store -name '*.tlg' -printf '%i %s ' | sort)" = "$before" ] && pass || fail "what was sent again is stored again"

# What somebody has removed from the store comes again, if the host still has it
find store -name '*.tlg' -delete
timeout 60 t2 ship --nats="$url" --host=killed --once dir.killed 2>>ship.log && pass || fail "removed: no receipts"
same "files of the store were removed" dir.killed killed

# Many processes in one file
mkdir dir.one
programs=()
for i in {1..40}; do
	TRACE2_RAW=$tmp/dir.one/all.tlg ./fleet 1 100 "$i" &
	programs+=($!)
done
wait "${programs[@]}"
timeout 60 t2 ship --nats="$url" --host=one --once dir.one 2>>ship.log && pass || fail "one file: no receipts"
[ "$(find store/one -name '*.tlg' | wc -l)" -eq 40 ] && pass || fail "not 40 files of the processes in one"
t2expand --format=summary dir.one >local 2>err
t2expand --format=summary store/one/* >stored 2>err
cmp -s local stored && pass || fail "of many processes in one file other totals are stored: $(diff local stored | head -5)"

# ---- a quota, and what is removed -------------------------------------------------------------------

mkdir dir.quota
for i in 1 2 3; do TRACE2_RAW=$tmp/dir.quota ./fleet 100 100 $i; done
touch -d '1 minute ago' dir.quota/*
t2 ship --nats=nats://127.0.0.1:1 --host=quota --delete --quota=1 --status-file=quota.prom dir.quota 2>quota.log &
ship=$!
for ((i = 0; i < 100; i++)); do [ -z "$(ls dir.quota/)" ] && break; sleep 0.1; done
[ -z "$(ls dir.quota/)" ] && pass || fail "over the quota nothing was dropped"
[ "$(grep -c 'over the quota' quota.log)" -eq 3 ] && pass || fail "what was dropped is not reported: $(cat quota.log)"
sleep 1.2
[ "$(metric quota.prom dropped_blocks_total)" -gt 3 ] && pass || fail "what was dropped is not counted: $(cat quota.prom)"
dropped=$(metric quota.prom dropped_events_total)
kill_all $ship
timeout 60 t2 ship --once --nats="$url" --host=quota dir.quota 2>>ship.log && pass || fail "the gaps have got no receipts"
[ "$(cat store/quota/*/*.gaps | grep -c '^1 [0-9]* [0-9]* quota$')" -eq 3 ] && pass || fail "not three gaps in the store"
[ "$(cat store/quota/*/*.gaps | awk '{ n += $3 } END { print n }')" = "$dropped" ] && pass ||
	fail "the gaps have not the counts of what was dropped, $dropped: $(cat store/quota/*/*.gaps)"
[ -s dir.quota/.t2-ship-gaps ] && fail "gaps with receipts are still waiting" || pass

mkdir dir.delete dir.kept
TRACE2_RAW=$tmp/dir.delete ./fleet 100 100 1
touch -d '1 minute ago' dir.delete/*
cp -p dir.delete/* dir.kept/
t2 ship --nats="$url" --host=delete --delete dir.delete 2>>ship.log &
ship=$!
for ((i = 0; i < 100; i++)); do [ -z "$(ls dir.delete)" ] && break; sleep 0.1; done
[ -z "$(ls dir.delete)" ] && pass || fail "what is stored was not removed"
same "what was removed" dir.kept delete

# One that has got another name since it was found
TRACE2_RAW=$tmp/dir.delete/first.tlg ./fleet 100 100 1
for ((i = 0; i < 100; i++)); do ls -l /proc/$ship/fd | grep -q first.tlg && break; sleep 0.1; done
mv dir.delete/first.tlg dir.delete/second.tlg
touch -d '1 minute ago' dir.delete/second.tlg
for ((i = 0; i < 100; i++)); do [ -z "$(ls dir.delete)" ] && break; sleep 0.1; done
[ -z "$(ls dir.delete)" ] && pass || fail "what was renamed was not removed"
kill_all $ship TERM

# A file is renamed, and another one gets its name, while the receipts are on the way
mkdir dir.renamed
TRACE2_RAW=$tmp/dir.renamed/a.tlg ./fleet 100 100 1
touch -d '1 minute ago' dir.renamed/*
kill -STOP "${collectors[0]}"
t2 ship --nats="$url" --host=renamed --delete --status-file=renamed.prom dir.renamed 2>>ship.log &
ship=$!
for ((i = 0; i < 100; i++)); do [ "$(metric renamed.prom receipts_outstanding)" -gt 0 ] 2>/dev/null && break; sleep 0.1; done
mv dir.renamed/a.tlg dir.renamed/b.tlg
echo 'not sent' >dir.renamed/a.tlg
kill -CONT "${collectors[0]}"
for ((i = 0; i < 100; i++)); do [ "$(metric renamed.prom messages_receipted_total)" -gt 0 ] && break; sleep 0.1; done
sleep 1.2
[ "$(cat dir.renamed/a.tlg 2>&1)" = 'not sent' ] && pass || fail "another file of the same name was removed"
kill_all $ship TERM
kill_all "${collectors[0]}" TERM
total
