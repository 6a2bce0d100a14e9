-- SPDX-License-Identifier: MIT
-- What readers of our exports have to find, from the rows of --format=csv in table e: threads and processes; data by
-- name; gaps, and leaves and enters that are missing; how many events are missing; regions whose duration is known, by
-- name: how many, nanoseconds, and those outside of the regions in them.
CREATE TEMP TABLE r AS SELECT sid, tid, depth + 0 AS depth, label, time - rel AS begin, time + 0 AS end, rel + 0 AS ns
	FROM e WHERE event = 'region_leave' AND rel <> '';
CREATE INDEX place ON r (sid, tid, depth, begin);
.mode list
SELECT 'threads', '', count(*) FROM (SELECT DISTINCT sid, tid FROM e);
SELECT 'processes', '', count(DISTINCT sid) FROM e;
SELECT 'data', label, count(*) FROM e WHERE event = 'data' AND category <> 'trace2' GROUP BY label;
SELECT 'lost', CASE label WHEN 'lost-events' THEN 'events lost' ELSE label END, count(*) FROM e
	WHERE event = 'data' AND category = 'trace2' AND label LIKE 'lost-%' GROUP BY 2;
SELECT 'missing', '', sum(value) FROM e WHERE event = 'data' AND category = 'trace2' AND label = 'lost-events';
SELECT 'region', label, count(*), sum(ns) FROM r GROUP BY label;
SELECT 'alone', label, sum(ns - coalesce((SELECT sum(c.ns) FROM r c WHERE c.sid = r.sid AND c.tid = r.tid AND
	c.depth = r.depth + 1 AND c.begin >= r.begin AND c.end <= r.end), 0)) FROM r GROUP BY label;
