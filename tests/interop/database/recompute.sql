-- SPDX-License-Identifier: MIT
-- recompute.sql: DuckDB finds each number of --summary=json again, in the rows of --format=csv.
--   csv           the rows; by_process and by_thread are what the summary keeps apart, or 0 and ''
--   said          the rows of the summary, with these two columns
--   wrong         view: each number that is not as the summary says
--   numbers(t)    macro: the rows of found or said, a row for each of their numbers

create table e as select *, row_number() over () as n,
	flag = 'missing' or (event = 'counter' and category = 'trace2') as is_missing from csv;

-- A region is a leave with where it was entered.  What is directly in it has depth + 1.
create table regions as select l.*, r.n as enter_n
	from (from e where event = 'region_leave') l asof left join (from e where event = 'region_enter') r
	on r.sid = l.sid and r.tid = l.tid and r.depth = l.depth and r.n < l.n;
-- What lies in a region, regions and gaps: it is the next one that is left and is one less deep.
create table inside as select o.n, sum(i.rel) as inner_ns, bool_or(i.rel is null) as is_unknown
	from (select sid, tid, depth, n, rel from regions union all
		select sid, tid, depth, n, null from e where flag = 'missing') i
	asof join regions o on o.sid = i.sid and o.tid = i.tid and o.depth = i.depth - 1 and o.n > i.n
	where i.n > o.enter_n group by all;

-- Regions and children, where they begin and where they end.
create table begun as
	select 'region' as kind, by_process, by_thread, category, label, sid, id
		from e where event = 'region_enter'
	union all
	select 'child', by_process, by_thread, if(text = '', '?', text), regexp_extract(message, '([^/ ]*)( |$)', 1), sid, id
		from e where event = 'child_start';
-- A region within one of the same names is in the total of that one.
create table ended as
	select 'region' as kind, by_process, by_thread, category, label, rel, null as failed,
		coalesce(max(n) over (partition by sid, tid, category, label order by time - rel, depth
			rows between unbounded preceding and 1 preceding) > n, false) as is_nested,
		case when not coalesce(is_unknown, false) then rel - coalesce(inner_ns, 0) end as self
		from regions left join inside using (n)
	union all
	select b.kind, b.by_process, b.by_thread, b.category, b.label, rel, e.value <> 0, false, null
		from e join begun b on event = 'child_exit' and b.kind = 'child' and e.sid = b.sid and e.id = b.id;
create table both_ends as
	select *, true as is_end, row_number() over (same order by rel) as rank, count(rel) over same as of
		from ended window same as (partition by kind, by_process, by_thread, category, label)
	union all by name select * exclude (sid, id), false as is_end from begun;

create table found as
	select kind, by_process, by_thread, category, label, count(rel) as count, coalesce(sum(rel) filter (not is_nested), 0) as total,
		case when kind = 'region' then coalesce(sum(self), 0) end as self, sum(rel) // count(rel) as mean, min(rel) as min,
		min(rel) filter (rank * 100 >= of * 50) as p50, min(rel) filter (rank * 100 >= of * 90) as p90,
		min(rel) filter (rank * 100 >= of * 99) as p99, max(rel) as max, count_if(is_end) - count(rel) as unknown,
		case when kind = 'region' then count(rel) - count(self) end as self_unknown,
		greatest(count_if(not is_end) - count_if(is_end), 0) as open,
		case when kind = 'child' then count_if(failed) end as failed
	from both_ends group by kind, by_process, by_thread, category, label
union all by name
	select event as kind, by_process, by_thread, category, label, sum(e.count) as count, sum(value::hugeint) as total,
		sum(value::hugeint) // sum(e.count) as mean, min(e.min) as min, max(e.max) as max
	from e where event in ('timer', 'th_timer') group by all
union all by name
	select if(is_missing, 'missing', event) as kind, by_process, by_thread, category, label, count(*) as count,
		sum(value::hugeint) as total
	from e where is_missing or event in ('counter', 'th_counter') group by all
union all by name
	select 'data' as kind, by_process, by_thread, category, label, count(*) as count, sum(number) as total,
		avg(number) as mean, min(number) as min, max(number) as max, arg_max(number, n) as last
	from (select *, value as number from e where event = 'data' and not is_missing) group by all
union all by name
	select 'step' as kind, by_process, by_thread, category, label, count(*) as count
	from e where event = 'step' group by all
union all by name
	select 'cmd_mode' as kind, m.by_process, m.by_thread, coalesce(c.text, '') as category, m.text as label, count(*) as count
	from (from e where event = 'cmd_mode') m asof left join (from e where event = 'cmd_name') c on c.sid = m.sid and c.n < m.n
	group by all
union all by name
	select 'thread' as kind, pid as by_process, thread as by_thread, '' as category, thread as label, count(*) as count,
		max(time) - min(time) as total, min(time) as first, max(time) as last
	from e where not is_missing group by all;

-- Of more than 64 durations a percentile may be off by 1/256; the mean of data has three digits.
create macro numbers(rows) as table
	unpivot (select kind, by_process, by_thread, category, label, count as of, columns(lambda c: c in ('count', 'total', 'self',
		'mean', 'min', 'p50', 'p90', 'p99', 'max', 'first', 'last', 'unknown', 'self_unknown', 'open', 'failed'))::decimal(38, 3)
		from query_table(rows))
	on columns(* exclude (kind, by_process, by_thread, category, label, of)) into name what value number;
create view wrong as
	select kind, by_process, by_thread, category, label, what, f.number as is_number, s.number as said_number
	from numbers('found') f full join numbers('said') s using (kind, by_process, by_thread, category, label, what)
	where is_number is null or said_number is null or abs(is_number - said_number) > case
		when what in ('p50', 'p90', 'p99') and f.of > 64 then is_number / 256
		when kind = 'data' and what = 'mean' then 0.001 else 0 end;
