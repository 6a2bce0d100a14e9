#!/bin/bash
# SPDX-License-Identifier: MIT
# t2 diff, and --diff --times: what got slower is found, by the time of its own, and what chance explains is not.  The
# runs are made up: each has four regions whose times differ by about 1 %.  T2_SEED=N: other times.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C
. "$(dirname "$0")/../common.sh"
t2=$out/t2
seed=${T2_SEED:-20260702}
echo "seed $seed"
cd "$tmp" || exit 1

# make NAME FACTOR NUMBER: a run in which send, in the region read, takes FACTOR times as long
make()
{
	awk -v seed="$((seed + $3))" -v factor="$2" -v name="$1" '
	# the same in each awk
	function share() { state = state * 16807 % 2147483647; return state / 2147483647 }
	function noise(   i, sum) { for (i = 0; i < 12; i++) sum += share(); return 1 + (sum - 6) / 100 }
	function put(event, more) {
		printf "{\"event\":\"%s\",\"sid\":\"20260101T000000.000000Z-H00000000-P00000%03x\",\"thread\":\"main\"," \
			"\"time\":\"2026-01-01T00:00:%09.6fZ\",\"file\":\"x.c\",\"line\":1%s}\n", event, seed % 4096, now, more
	}
	function enter(category, label) {
		put("region_enter", sprintf(",\"nesting\":1,\"category\":\"%s\",\"label\":\"%s\"", category, label))
	}
	function leave(category, label, since) {
		put("region_leave", sprintf(",\"t_rel\":%.6f,\"nesting\":1,\"category\":\"%s\",\"label\":\"%s\"", now - since, category, label))
	}
	BEGIN {
		state = seed * 7919 % 2147483647
		for (i = 0; i < 20; i++)
			share()
		put("version", ",\"evt\":\"3\",\"exe\":\"1\"")
		put("start", ",\"t_abs\":0.0,\"argv\":[\"" name "\"]")
		for (i = 0; i < 20; i++) {
			begun = now; enter("db", "query"); now += 0.010 * noise(); leave("db", "query", begun)
			begun = now; enter("io", "read"); now += 0.015 * noise()
			inner = now; enter("net", "send"); now += 0.005 * factor * noise(); leave("net", "send", inner)
			leave("io", "read", begun)
		}
		put("exit", sprintf(",\"t_abs\":%.6f,\"code\":0", now))
		put("atexit", sprintf(",\"t_abs\":%.6f,\"code\":0", now))
	}' >"$1.json" && "$t2" import -o "$1.tlg" "$1.json" 2>"$1.err"
}
for i in $(seq 10); do
	make "old$i" 1 "$i"
	make "same$i" 1 "$((100 + i))"
	make "new$i" 1.03 "$((200 + i))"
done
check "30 runs are made" [ "$(find . -name '*.tlg' | wc -l)" -eq 30 ]

# differs STATUS NAME ARGUMENTS...: what diff says is in diff.out
differs()
{
	"$t2" diff "${@:3}" >diff.out 2>diff.err
	local status=$?
	check "$2: exit status $1, not $status" [ $status -eq "$1" ]
}
old=$(echo old{1..10}.tlg) same=$(echo same{1..10}.tlg) new=$(echo new{1..10}.tlg)

# shellcheck disable=SC2086
differs 1 "three per cent" $old -- $new
row=$(grep ' net  ' diff.out)
check "three per cent: the region itself is there, and none around it" [ "$(grep -cE ' region | child ' diff.out)" -eq 1 ]
check "three per cent: in its interval" awk '{ gsub("%", ""); exit !($5 > 2 && $5 < 4 && $6 < 3 && $8 > 3 && $9 < 0.001) }' <<<"$row"
check "three per cent: of what" grep -qE ' (self|p50)   region' <<<"$row"
check "three per cent: units" awk '{ exit !($2 == "ms" && $4 == "ms" && $3 > $1) }' <<<"$row"
check "three per cent: the others are counted" grep -q '^  rows that differ by no more than chance explains: 2$' diff.out
# shellcheck disable=SC2086
"$out/t2expand" --diff --times $old -- $new >expand.out 2>diff.err
check "t2expand --diff --times: the same" cmp -s expand.out diff.out
# shellcheck disable=SC2086
differs 1 "faster" $new -- $old
check "faster" grep -qE ' -[0-9.]+% .* net +send$' diff.out
# shellcheck disable=SC2086
differs 0 "the same program" $old -- $same
check "the same program: nothing to say" [ ! -s diff.out ]
# shellcheck disable=SC2086
differs 0 "below a threshold" --threshold=10 $old -- $new
check "below a threshold: nothing to say" [ ! -s diff.out ]
# shellcheck disable=SC2086
differs 1 "above a threshold" --threshold=1 $old -- $new
check "above a threshold: it is there" grep -q ' net ' diff.out

differs 0 "one run on each side" old1.tlg new1.tlg
check "one run on each side: what is not known" grep -q '^times (may be chance: 5 runs on each side would tell)$' diff.out
check "one run on each side: the largest difference first" \
	awk 'function ns(value, unit) { return value * (unit == "s" ? 1e9 : unit == "ms" ? 1e6 : unit == "us" ? 1e3 : 1) }
	     NR > 2 { d = ns($3, $4) - ns($1, $2); d = d < 0 ? -d : d; if (NR > 3 && d > before * 1.1) exit 1; before = d }
	     END { exit NR != 5 }' diff.out
differs 0 "a run and itself" old1.tlg old1.tlg
check "a run and itself: nothing to say" [ ! -s diff.out ]
# Of three rows: 4 and 4 runs may differ so with a probability of 2 in 70, 5 and 5 with one of 2 in 252
differs 0 "four runs on each side" old{1,2,3,4}.tlg -- new{1,2,3,4}.tlg
check "four runs on each side: too few" grep -q '^times (may be chance: 5 runs' diff.out
for i in 1 2 3 4 5; do
	make "slow$i" 1.5 $((300 + i))
done
differs 1 "five runs on each side" old{1,2,3,4,5}.tlg -- slow{1,2,3,4,5}.tlg
check "five runs on each side are enough" grep -q ' net ' diff.out

# For programs: all rows, and which are believed
need python3 command -v python3
cat >rows.py <<'END'
import csv, json, sys
rows = json.load(open("diff.json"))
assert rows["old_runs"] == 10 and rows["new_runs"] == 10, rows
rows = rows["rows"]
times = [r for r in rows if r["table"] == "times"]
send = [r for r in times if r["label"] == "send"]
assert len(times) == 3 and len(send) == 1 and times[0] in send, "the largest difference comes first"
send = send[0]
assert send["believed"] == 1 and send["low"] < 0.03 < send["high"] and send["p"] < 0.001, send
assert send["old_min"] <= send["old"] <= send["old_max"] < send["new"] <= send["new_max"], send
assert all(r["believed"] == 0 for r in times[1:]), times
cells = list(csv.DictReader(open("diff.csv")))
assert [list(r) for r in cells] == [list(r) for r in rows], "the same columns"
assert len(cells) == len(rows)
for cell, row in zip(cells, rows):
	for key, value in row.items():
		assert (value is None and cell[key] == "") or cell[key] == value or float(cell[key]) == value, (key, cell, row)
more = json.load(open("more.json"))
more = [r for r in more["rows"] if r["table"] == "structure"]
assert [(r["kind"], r["label"], r["of"], r["old"], r["new"], r["p"]) for r in more] == \
	[("region", "one, new", "count", 0, 1, None), ("region", "query", "count", 20, 19, None)], more
END
# shellcheck disable=SC2086
differs 1 "as JSON" --as=json $old -- $new
mv diff.out diff.json
# shellcheck disable=SC2086
differs 1 "as CSV" --as=csv $old -- $new
mv diff.out diff.csv
sed '3,4s/"label":"query"/"label":"one, new"/' old1.json >more1.json
"$t2" import -o more1.tlg more1.json 2>more.err
differs 1 "a new row, as JSON" --as=json old1.tlg more1.tlg
mv diff.out more.json
differs 1 "a new row, as CSV" --as=csv old1.tlg more1.tlg
check "a new row, as CSV" grep -qx 'structure,region,"db","one, new",count,0,0,0,1,1,1,,,,,' diff.out
quiet "JSON and CSV have all rows" python3 rows.py
differs 0 "nothing differs, as JSON" --as=json old1.tlg old1.tlg
check "nothing differs: all rows, none believed" [ "$(grep -c '"believed":0' diff.out)" -eq 3 ]
differs 2 "an unknown form" --as=xml old1.tlg new1.tlg
check "an unknown form: the error says what there is" grep -q -- '--as is table|json|csv, not' diff.err
differs 2 "figures for people" --as=csv --durations old1.tlg new1.tlg
total
