// SPDX-License-Identifier: MIT
/**
 * What t2expand has written into a page, T2_PAGE, is what it prints as perf text of the same trace, T2_PERF; samples,
 * T2_PROFILED.html, are its folded stacks, T2_PROFILED.<profile>.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Script } from "node:vm";
import { inflateSync } from "node:zlib";
import { readPerf } from "./perf.mjs";
import { sumUp } from "../../expand/page/src/profiles.mjs";
import { makeTrace, readChunk } from "../../expand/page/src/reader.mjs";

const { T2_PAGE, T2_PERF, T2_PROFILED } = process.env;
const options = { skip: !T2_PAGE };

/** The blocks of a kind. */
function blocksOf(page, kind) {
	return [...page.matchAll(new RegExp(`<script type="t2/${kind}">([^<]*)</script>`, "g"))]
		.map(([, text]) => inflateSync(Buffer.from(text, "base64")));
}

function readPage(name) {
	const page = readFileSync(name, "latin1"), [facts] = blocksOf(page, "facts");
	const trace = makeTrace(JSON.parse(facts.toString("utf8")));
	for (const chunk of blocksOf(page, "chunk"))
		readChunk(trace, chunk);
	trace.finish();
	return trace;
}

const trace = T2_PAGE ? readPage(T2_PAGE) : null, lines = T2_PERF ? readPerf(T2_PERF) : [];
const times = (list) => [...list].sort();

test("test_written_script_compiles", options, () => {
	const scripts = [...readFileSync(T2_PAGE, "utf8").matchAll(/<script>([^]*?)<\/script>/g)];
	assert.ok(scripts.some(([, source]) => source.includes("startPage")));
	for (const [, source] of scripts)
		new Script(source);
});

test("test_written_each_region_has_its_thread_name_and_nanoseconds", options, () => {
	const wanted = lines.filter(({ kind }) => kind === "region_leave")
		.map(({ thread, name, seconds }) => `${thread} ${name} ${Math.round(seconds * 1e9)}`);
	const found = trace.lanes.flatMap((lane) => lane.rows.flatMap((row) => Array.from(row.start, (start, at) => {
		const { category, label } = trace.nameOf(row.site[at]);
		return `${lane.name} ${category}/${label} ${row.end[at] - start}`;
	})));
	assert.ok(wanted.length > 100);
	assert.deepEqual(times(found), times(wanted));
});

test("test_written_source_is_the_file_of_the_command_line", options, () => {
	assert.match(trace.source, /\/trace\.tlg$/);
});

test("test_written_each_value_is_there", options, () => {
	const wanted = lines.filter(({ kind }) => kind === "data")
		.map(({ thread, name, says }) => `${thread} ${name} ${says.replace(/^[^:]*:/, "")}`);
	const found = trace.lanes.flatMap(({ name: thread, points }) => Array.from(points.site, (site, at) => {
		const { kind, category, label } = trace.sites[site], text = trace.texts.get(points.text[at]);
		return kind.startsWith("data") ? `${thread} ${category}/${label} ${text || points.value[at]}` : "";
	})).filter(Boolean);
	assert.ok(wanted.length > 10);
	assert.deepEqual(times(found), times(wanted));
});

test("test_written_each_event_is_counted", options, () => {
	const own = lines.filter(({ kind }) => kind !== "too_many_files").length;
	assert.equal(trace.events, own);
});

test("test_written_messages_are_those_of_the_text", options, () => {
	const wanted = lines.filter(({ kind, says }) => kind === "region_enter" && says.includes(" "))
		.map(({ says }) => says.slice(says.indexOf(" ") + 1));
	const found = trace.lanes.flatMap(({ rows }) => rows.flatMap((row) => [...row.text]
		.filter(Boolean).map((text) => trace.texts.get(text))));
	assert.deepEqual(times(found), times(wanted));
});

/** What has no name is one format's address, another one's place in a file. */
const named = (stack) => stack.replace(/[^;]*\b0x[0-9a-f]+/g, "?");

test("test_written_samples_add_up_to_the_folded_stacks", { skip: !T2_PROFILED }, () => {
	const profiled = readPage(`${T2_PROFILED}.html`), whole = { start: -Infinity, end: Infinity };
	assert.ok(profiled.samples > 10);
	for (const choice of profiled.choices) {
		const wanted = new Map(), found = new Map(), tree = sumUp(profiled, choice, profiled.lanes, whole);
		const add = (to, stack, value) => to.set(named(stack), (to.get(named(stack)) ?? 0) + value);
		const folded = readFileSync(`${T2_PROFILED}.${choice.id}`, "utf8");
		for (const [, stack, value] of folded.matchAll(/^(.*) (\d+)$/gm))
			add(wanted, stack, Number(value));
		tree.self.forEach((self, node) => self >= 0.5 &&
			add(found, profiled.stacks.names(node).reverse().join(";"), self));
		assert.deepEqual([...found.keys()].sort(), [...wanted.keys()].sort(), choice.id);
		for (const [stack, value] of wanted)
			assert.ok(Math.abs(found.get(stack) - value) <= 10 + value * 1e-9,
				`${choice.id} ${stack} ${value}`);
	}
});
