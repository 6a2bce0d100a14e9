#!/bin/bash
# SPDX-License-Identifier: MIT
# Triggers: of a server's requests those that were planted to be slow are in snapshots, from their beginning to their end;
# each text format names the cause; t2 ctl changes triggers of a running program; a word that is wrong
# has one error.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC

. "$(dirname "$0")/../common.sh"
need_shared_library
export PATH=$out:$PATH
cd "$tmp" || exit 1
${CC:-cc} -O2 -Wall -I"$top/runtime" -o server "$top/tests/cli/trigger/server.c" -L"$out" -Wl,-rpath,"$out" -ltrace2 -pthread ||
	fail "server.c does not compile"
export TRACE2_RAW_POLICY=overwrite TRACE2_RAW_RING=4m TRACE2_RAW_THREAD=init

# ---- planted outliers
requests=200000 outliers=20
TRACE2_RAW=$tmp/whole.tlg TRACE2_RAW_POLICY=block ./server "$requests" $((requests / outliers))
TRACE2_RAW=$tmp/part.tlg TRACE2_RAW_SNAPSHOT='slow:server/request>300ms window:500us max:1000' \
	./server "$requests" $((requests / outliers))
t2 export --format=event part.tlg >events 2>err
# whose "outlier" stands between its region's enter and leave, in the same thread
awk -F'"' '
{ for (i = 2; i < NF; i += 2) if ($i == "thread" || $i == "event" || $i == "label" || $i == "key") value[$i] = $(i + 2); }
/"event":"region_enter".*"label":"request"/ { open[value["thread"]] = 1; found[value["thread"]] = 0 }
/"key":"outlier"/ { found[value["thread"]] = open[value["thread"]] }
/"event":"region_leave".*"label":"request"/ { whole += found[value["thread"]]; open[value["thread"]] = found[value["thread"]] = 0 }
END { print whole + 0 }' events >whole
check "all $outliers outliers are whole: $(cat whole)" [ "$(cat whole)" -eq "$outliers" ]
check "each is in there once" [ "$(grep -c '"key":"outlier"' events)" -eq "$outliers" ]
echo "$(stat -c %s part.tlg) of $(stat -c %s whole.tlg) bytes, $(grep -c '"key":"snapshot"' events) causes"

# ---- the cause, in each text
for format in normal perf event tree csv ndjson html chrome; do
	check "$format" t2 export --quiet --format="$format" -o "cause.$format" part.tlg
done
for format in perf event csv ndjson chrome; do
	check "$format has the cause" grep -q 'slow:server/request>300ms: server/request ' "cause.$format"
done

# ---- t2 ctl, and words that are wrong
TRACE2_CTL=1 TRACE2_DST_DEBUG=1 TRACE2_RAW=$tmp/ctl.tlg TRACE2_RAW_SNAPSHOT='slow:server>1s,max:5' ./server 100000000 100000001 2>said &
job=$!
for ((i = 0; i < 200; i++)); do [ -n "$(ls "$rings" | grep ctl)" ] && break; sleep 0.02; done
check "one error for one word: $(cat said)" [ "$(grep -c "'slow:server>1s', ignored: " said) $(wc -l <said)" = "1 1" ]
expect "no trigger yet" 0 "" t2 ctl "$job" trigger
check "none" grep -q 'triggers: none' stdout
expect "a trigger" 0 "" t2 ctl "$job" trigger 'rate:server/request>5/s' max:1 window:1ms
check "it is in force" grep -q 'triggers: rate:server/request>5/s' stdout
for ((i = 0; i < 200; i++)); do [ -s ctl.tlg ] && break; sleep 0.02; done
check "it finds what it is for" [ -s ctl.tlg ]
expect "one that is none" 1 "this is no trigger" t2 ctl "$job" trigger USR1
expect "one that is wrong" 1 "is slow:CATEGORY/LABEL>TIME" t2 ctl "$job" trigger max:5 slow:x
expect "the old one stays" 0 "" t2 ctl "$job" status
check "it is still in force" grep -q 'triggers: rate:server/request>5/s' stdout
expect "off" 0 "" t2 ctl "$job" trigger off
check "none is left" grep -q 'triggers: none' stdout
kill -9 "$job"
wait "$job" 2>/dev/null
total
