// SPDX-License-Identifier: MIT
// usage: node recompute.js EVENTS.csv EVENTS.ndjson SUMMARY.json [process|thread [WRONG]]
//
// DuckDB takes the rows of both formats, which must be the same, and finds each number of the summary again, whose rows are
// kept apart by process or thread.  Prints what is not so, and at the end how many numbers are; exit status 1 if any is not.
// WRONG is SQL that changes the summary first.
"use strict";
const fs = require("fs");
const path = require("path");
const { DuckDBInstance } = require(path.join(process.cwd(), "node_modules/@duckdb/node-api"));

const [events, lines, summary, by, spoil] = process.argv.slice(2);
const columns = fs.readFileSync(events, "utf8").split("\n", 1)[0].split(",");
const integers = ["time", "pid", "tid", "depth", "abs", "rel", "value", "count", "min", "max", "line"];
const texts = columns.filter(name => !integers.includes(name));
const names = { kind: "VARCHAR", process: "BIGINT", thread: "VARCHAR", category: "VARCHAR", label: "VARCHAR", mean: "DOUBLE" };
for (const name of ["count", "total", "self", "min", "p50", "p90", "p99", "max", "first", "last", "unknown", "self_unknown",
	"open", "failed"])
	names[name] = "BIGINT";

// A text that is not there is an empty one, as in the other format.
function rows(source) {
	return `select * replace (${texts.map(name => `coalesce("${name}", '') as "${name}"`)}),
		${by ? "pid" : "0"} as by_process, ${by === "thread" ? "thread" : "''"} as by_thread from ${source}`;
}

async function main() {
	const connection = await (await DuckDBInstance.create(":memory:")).connect();
	const ask = async sql => (await connection.runAndReadAll(sql)).getRowsJson();
	const types = "{" + columns.map(name => `'${name}': '${integers.includes(name) ? "BIGINT" : "VARCHAR"}'`) + "}";
	const row = Object.entries(names).map(([name, type]) => `"${name}" ${type}`);

	await ask(`create table csv as ${rows(`read_csv('${events}', columns = ${types}, header = true, delim = ',', quote = '"',
		escape = '"')`)}`);
	await ask(`create table ndjson as ${rows(`read_json('${lines}', columns = ${types}, format = 'newline_delimited')`)}`);
	await ask(`create table whole as from read_json('${summary}', columns = {events: 'BIGINT', first: 'BIGINT', last: 'BIGINT',
		left_out: 'BIGINT', rows: 'STRUCT(${row})[]'})`);
	await ask(`create table said as select *, coalesce(process, 0) as by_process, coalesce(thread, '') as by_thread
		from (select unnest(rows, recursive := true) from whole)`);
	// Of a region that was never left no row says so: the rows have what was left
	await ask("delete from said where kind = 'never_left'");
	if (spoil)
		await ask(spoil);
	await ask(fs.readFileSync(path.join(__dirname, "recompute.sql"), "utf8"));
	const wrong = [
		...await ask("(select 'csv', * from (from csv except all from ndjson)) union all " +
			"(select 'ndjson', * from (from ndjson except all from csv)) limit 5"),
		...await ask("select events, first, last, left_out from whole except " +
			"select count(*), min(time), max(time), 0 from e where not is_missing"),
		...await ask("from wrong order by all limit 20"),
	];
	for (const line of wrong)
		console.log(...line);
	console.log(...(await ask("select count(*), 'numbers of', count(distinct kind), 'kinds' from numbers('found')"))[0]);
	process.exitCode = wrong.length ? 1 : 0;
}
main();
