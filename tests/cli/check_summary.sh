#!/bin/bash
# SPDX-License-Identifier: MIT
# A database recomputes each number of --summary from --format=csv, jq the table from --format=ndjson, on traces of a
# real program of several threads: exactly, but for percentiles of more than 64 durations, which may be off by 1/256.
# And the summary's own options.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC
unset GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME

. "$(dirname "$0")/../common.sh"
need "example" [ -x "$out/examples/t2index" ]
need "replay" [ -x "$out/tests/replay" ]
need sqlite3 command -v sqlite3
need jq command -v jq
expand=$out/t2expand
cd "$tmp" || exit 1

# ---- regions that are left by other names, or never -----------------------------------------------------
printf '%s\n' 'start m.c 1 p' 'region_enter m.c 10 c outer NULL' 'region_enter m.c 11 c jumped NULL' \
	'region_leave m.c 12 c outer NULL' 'region_enter m.c 13 c lost NULL' 'region_enter m.c 14 c lost NULL' 'exit m.c 20 0' >jump.api
GIT_TRACE2_RAW=$tmp/jump.tlg "$out/tests/replay" jump.api
"$expand" --summary=csv jump.tlg >jump.csv
none "a leave of other names counts for what it closes" "$(diff - <(cut -d, -f1,4-6,19,21 jump.csv | grep -v '^thread') <<'END'
kind,category,label,count,open,mismatched
region,"c","jumped",1,0,1
region,"c","lost",0,2,0
region,"c","outer",0,1,0
never_left,"c/lost","m.c:13",1,,
never_left,"c/lost","m.c:14",1,,
never_left,"c/outer","m.c:10",1,,
missing,"trace2","mismatched-leaves",1,,
END
)"
check "the same of JSON" [ "$("$expand" --summary=json jump.tlg | jq -c '[.rows[] | select(.kind == "never_left") | .label]')" = \
	'["m.c:13","m.c:14","m.c:10"]' ]
"$expand" --summary jump.tlg >jump.table
check "and of the table" grep -qE '^ +1  c/outer +m\.c:10$' jump.table
check "which marks the region" grep -q ' jumped  mismatched:1$' jump.table
"$expand" --summary=csv --jobs=3 jump.tlg >jump.jobs
check "and with --jobs" cmp -s jump.csv jump.jobs

# Behind a leave too many the next region is in the place of the thread's own level
printf '%s\n' 'start m.c 1 p' 'region_leave m.c 2 c stray NULL' 'region_enter m.c 3 c never NULL' 'exit m.c 20 0' >stray.api
GIT_TRACE2_RAW=$tmp/stray.tlg "$out/tests/replay" stray.api
check "what is never left behind a leave too many counts once" \
	[ "$("$expand" --summary=csv stray.tlg | grep ^never_left | cut -d, -f1,4-6)" = 'never_left,"c/never","m.c:3",1' ]

# ---- steps, modes of commands -----------------------------------------------------------------------
printf '%s\n' 'start m.c 1 p' 'cmd_name m.c 2 checkout' 'cmd_mode m.c 3 branch' 'exit m.c 20 0' >mode.api
for i in 1 2; do
	GIT_TRACE2_RAW=$tmp/mode$i.tlg "$out/tests/replay" mode.api
done
"$expand" --summary mode1.tlg mode2.tlg >mode.table
check "modes are counted by command" grep -qE '^ +2  checkout      branch$' mode.table
check "under a head of their own" grep -q -A 1 '^modes of commands$' mode.table
"$expand" --summary=json mode1.tlg mode2.tlg >mode.json
check "the same of JSON" [ "$(jq -c '.rows[] | select(.kind == "cmd_mode") | [.category, .label, .count]' mode.json)" = \
	'["checkout","branch",2]' ]
"$expand" --summary=csv --by=process mode1.tlg mode2.tlg >mode.csv
check "and of each process" [ "$(grep -c '^cmd_mode,[0-9]*,"","checkout","branch",1,' mode.csv)" = 2 ]

for jobs in 4 2; do
	TRACE2_RAW=$tmp/$jobs.tlg "$out/examples/t2index" -j $jobs "$top/runtime" >index.out 2>index.err
done

# Of each kind what the database finds is in view "truth", in the columns of the summary.
cat >truth.sql <<'END'
.import --csv events.csv text_events
.import --csv summary.csv text_summary
create table e as select rowid as n, cast(time as integer) as time, pid, sid, tid, thread, event, category, label,
	cast(depth as integer) as depth, nullif(rel, '') as rel_text, cast(rel as integer) as rel, value,
	cast(count as integer) as count, cast(min as integer) as min, cast(max as integer) as max, message, id, flag, text
	from text_events;
create index e_index on e (sid, tid, event, depth, n);
create table regions as select *,
	(select max(x.n) from e x where x.sid = l.sid and x.tid = l.tid and x.event = 'region_enter' and
		x.depth = l.depth and x.n < l.n) as enter_n
	from e l where event = 'region_leave';
create index regions_index on regions (sid, tid, depth, n);
create table durations as
	select 'region' as kind, category, label, rel, rel - coalesce((select sum(c.rel) from regions c where c.sid = r.sid
		and c.tid = r.tid and c.depth = r.depth + 1 and c.n > r.enter_n and c.n < r.n), 0) as self, 0 as failed,
		exists (select 1 from regions o where o.sid = r.sid and o.tid = r.tid and o.depth < r.depth and
			o.category = r.category and o.label = r.label and o.enter_n < r.enter_n and o.n > r.n) as nested
		from regions r
	union all
	select 'child', s.text, 'sort', x.rel, null, x.value <> '0', 0 from e x join e s on s.event = 'child_start' and
		s.sid = x.sid and s.id = x.id where x.event = 'child_exit';
create table ranked as select *, row_number() over (partition by kind, category, label order by rel) as rank,
	count(*) over (partition by kind, category, label) as of from durations;
create table truth as
	select kind, category, label, count(*) as count, sum(case when nested then 0 else rel end) as total, sum(self) as self, sum(rel) / count(*) as mean,
		min(rel) as min, max(rel) as max, null as first, null as last,
		min(case when rank * 100 >= of * 50 then rel end) as p50,
		min(case when rank * 100 >= of * 90 then rel end) as p90,
		min(case when rank * 100 >= of * 99 then rel end) as p99
		from ranked group by 1, 2, 3
	union all
	select event, category, label, sum(count), sum(cast(value as integer)), null,
		sum(cast(value as integer)) / sum(count), min(min), max(max), null, null, null, null, null
		from e where event in ('timer', 'th_timer') group by 1, 2, 3
	union all
	select event, category, label, count(*), sum(cast(value as integer)), null, null, null, null, null, null, null, null,
		null from e where event in ('counter', 'th_counter') group by 1, 2, 3
	union all
	select 'data', category, label, count(*), case when value glob '[0-9]*' then sum(cast(value as integer)) end, null,
		case when value glob '[0-9]*' then printf('%.3f', avg(cast(value as integer))) end,
		case when value glob '[0-9]*' then min(cast(value as integer)) end,
		case when value glob '[0-9]*' then max(cast(value as integer)) end, null,
		case when value glob '[0-9]*' then (select cast(y.value as integer) from e y where y.event = 'data' and
			y.category = x.category and y.label = x.label order by y.n desc limit 1) end, null, null, null
		from e x where event = 'data' group by 1, 2, 3
	union all
	select 'step', category, label, count(*), null, null, null, null, null, null, null, null, null, null
		from e where event = 'step' group by 2, 3
	union all
	select 'cmd_mode', (select n.text from e n where n.event = 'cmd_name' and n.sid = m.sid and n.n < m.n
		order by n.n desc limit 1), text, count(*), null, null, null, null, null, null, null, null, null, null
		from e m where event = 'cmd_mode' group by 2, 3
	union all
	select 'thread', '', thread, count(*), max(time) - min(time), null, null, null, null, min(time), max(time), null, null,
		null from e group by pid, thread;
END
cat >compare.sql <<'END'
select 'kinds in all: ' || count(distinct kind) from truth having count(distinct kind) < 9;
select 'waited for children', s.waited, t.waited from
	(select sum(cast(waited as integer)) as waited from text_summary where kind = 'child') s,
	(select sum(min(x.rel, x.time - (select max(p.time) from e p where p.sid = x.sid and p.tid = x.tid and p.n < x.n)))
		as waited from e x where x.event = 'child_exit') t
	where s.waited <> t.waited or s.waited is null;
select 'only in the summary', s.* from text_summary s where not exists
	(select 1 from truth t where t.kind = s.kind and t.category = s.category and t.label = s.label);
select 'not as the database has it', s.kind, s.category, s.label, s.count, s.total, s.self, s.mean, s.min, s.p50, s.p90,
	s.p99, s.max, s.first, s.last, t.* from truth t left join text_summary s
	on t.kind = s.kind and t.category = s.category and t.label = s.label and (t.kind <> 'thread' or
		t.first = cast(s.first as integer))
	where s.kind is null or s.count <> t.count || '' or
		s.total <> coalesce(t.total, '') || '' or s.self <> coalesce(t.self, '') || '' or
		s.mean <> coalesce(t.mean, '') || '' or s.min <> coalesce(t.min, '') || '' or
		s.max <> coalesce(t.max, '') || '' or s.first <> coalesce(t.first, '') || '' or
		s.last <> coalesce(t.last, '') || '' or
		(s.p50 = '') <> (t.p50 is null) or (t.count <= 64 and s.p50 <> '' and
			(s.p50 <> t.p50 || '' or s.p90 <> t.p90 || '' or s.p99 <> t.p99 || '')) or
		abs(s.p50 - t.p50) * 256 > t.p50 or abs(s.p90 - t.p90) * 256 > t.p90 or abs(s.p99 - t.p99) * 256 > t.p99;
END

# recompute NAME FILTERS... -- FILES
recompute()
{
	"$expand" --format=csv "${@:2}" >events.csv
	"$expand" --summary=csv "${@:2}" >summary.csv
	rm -f db
	sqlite3 db <truth.sql >sql.out 2>&1
	none "$1: the database takes the rows" "$(cat sql.out)"
	none "$1: the summary is what the database finds" "$(sqlite3 db <compare.sql 2>&1)"
}
recompute "one process" 4.tlg
check "the database would see a wrong number" [ -n "$(sqlite3 db "update text_summary set self = self + 1 where kind = 'region'" \
	'.read compare.sql')" ]
recompute "two processes" 4.tlg 2.tlg
recompute "with a filter" --label='!walk' 4.tlg
recompute "with --jobs" --jobs=3 2.tlg

"$expand" --format=csv 4.tlg >events.csv
"$expand" --format=ndjson 4.tlg >events.ndjson
check "csv has a row for each line of perf" [ "$(sqlite3 :memory: '.import --csv events.csv e' 'select count(*) from e')" = \
	"$("$expand" --format=perf 4.tlg | wc -l)" ]
sqlite3 :memory: '.import --csv events.csv e' \
	"select time, tid, event, category, label, depth, rel, value, message, text from e" >rows.csv
jq -r '[.time, .tid, .event, .category, .label, .depth, .rel, .value, .message, .text] |
	map(if . == null then "" else tostring end) | join("|")' events.ndjson >rows.ndjson
check "ndjson has the same as csv, times to the last digit" cmp -s rows.csv rows.ndjson
"$expand" --summary=json 4.tlg >summary.json
check "json has the same rows as csv" [ "$(jq -r '.rows[] | [.kind, .category, .label, .count] | join(",")' summary.json | md5sum)" = \
	"$("$expand" --summary=csv 4.tlg | sed '1d; s/"//g' | cut -d, -f1,4,5,6 | md5sum)" ]

# ---- order, number of rows, apart by thread and process ---------------------------------------------
for key in total self count mean p50 p90 p99 max; do
	"$expand" --summary=json --sort=$key 4.tlg >sorted.json
	quiet "--sort=$key" jq -e --arg key $key '[.rows[] | select(.kind == "region") | .[$key]] | . == (sort | reverse)' \
		sorted.json
done
"$expand" --summary=json --sort=name 4.tlg >sorted.json
quiet "--sort=name" jq -e '[.rows[] | select(.kind == "region") | [.category, .label]] | . == sort' sorted.json
check "--top=1" [ "$("$expand" --summary=csv --top=1 4.tlg | grep -c ^region,)" -eq 1 ]
check "--by=thread adds up" [ "$("$expand" --summary=json --by=thread 4.tlg |
	jq '[.rows[] | select(.label == "file") | .total] | add')" = \
	"$(jq '.rows[] | select(.label == "file") | .total' summary.json)" ]
check "--by=process" [ "$("$expand" --summary=csv --by=process 4.tlg 2.tlg | grep -c '"index","merge"')" -eq 2 ]
check "the table has the rows, too" [ "$("$expand" --summary 4.tlg | grep -cE ' (file|read|report|merge|walk|directory)$')" -ge 6 ]
none "no line ends with blanks" "$("$expand" --summary 4.tlg | grep -n " \$")"

# ---- apart by messages, by data in regions ------------------------------------------------------------
# Of each value how often, how long in all and at most, by the database and by the summary: into found, summed
cat >values.sql <<'END'
.import --csv events.csv text_events
.import --csv summary.csv text_summary
create table e as select rowid as n, sid, tid, event, category, label, cast(depth as integer) as depth,
	cast(rel as integer) as rel, value, message from text_events;
create index e_index on e (sid, tid, event, depth, n);
create table regions as select l.n, l.sid, l.tid, l.label, l.rel, l.depth, (select max(x.n) from e x where x.sid = l.sid and
	x.tid = l.tid and x.event = 'region_enter' and x.depth = l.depth and x.n < l.n) as enter_n
	from e l where event = 'region_leave';
.output summed
select value, count, mean, max from text_summary where kind = 'region' and label = 'LABEL' order by 1, 2;
.output found
END
by_message="select coalesce(e.message, ''), count(*), sum(r.rel) / count(*), max(r.rel) from regions r join e on e.n = r.enter_n
	where r.label = 'directory' group by 1 order by 1, 2;"
by_data="select coalesce(d.value, ''), count(*), sum(r.rel) / count(*), max(r.rel) from regions r left join e d on
	d.event = 'data' and d.category = 'reader' and d.label = 'bytes' and d.sid = r.sid and d.tid = r.tid and
	d.depth = r.depth + 1 and d.n > r.enter_n and d.n < r.n where r.label = 'read' group by 1 order by 1, 2;"
# by_value LABEL BY SQL OPTIONS...
by_value()
{
	"$expand" --format=csv 4.tlg >events.csv
	"$expand" --summary=csv --by="$2" "${@:4}" 4.tlg >summary.csv
	(sed "s/LABEL/$1/" values.sql && echo "$3") | sqlite3 :memory: >sql.out 2>&1
	none "--by=$2${4:+ ${*:4}}: the database takes the rows" "$(cat sql.out)"
	none "--by=$2${4:+ ${*:4}} is what the database finds" "$(diff found summed)"
	check "--by=$2${4:+ ${*:4}}: several values" [ "$(wc -l <found)" -gt 3 ]
}
by_value directory message "$by_message"
by_value directory message "$by_message" --jobs=3
by_value directory message "$by_message" --label='directory'
by_value read data:reader/bytes "$by_data"
by_value read data:reader/bytes "$by_data" --jobs=3
"$expand" --summary --by=message 4.tlg >values.table
check "the table has the messages" grep -qE "  walk          directory  $top/runtime/.+$" values.table
check "and says so" grep -q ' category      label  value$' values.table
check "json has them" [ "$("$expand" --summary=json --by=message 4.tlg |
	jq '[.rows[] | select(.label == "directory") | select(.value)] | length')" -gt 3 ]

for option in --summary=xml --sort=size --top=x --by=cpu --by=data:reader --by=data:reader/ --by=datax/y; do
	"$expand" --summary $option 4.tlg >refused.out 2>&1
	check "$option is refused" [ $? -eq 2 ]
done
total
