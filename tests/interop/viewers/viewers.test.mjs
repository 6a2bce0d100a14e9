// SPDX-License-Identifier: MIT
/**
 * Viewers that others wrote read our exports in Chromium, without network: speedscope chrome, folded and pprof (it
 * knows the raw profiles of Firefox only, not the processed ones of our firefox), Catapult's importer, which is that of
 * chrome://tracing, chrome.  T2_TRACES: the exports of each trace, and what sqlite3 makes of its csv; T2_MODULES: where
 * playwright-core and speedscope are; T2_CATAPULT: the directory of trace_viewer_full.html, as Go's sources have it.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";

const { T2_TRACES: traces, T2_MODULES: modules, T2_CATAPULT: catapult, T2_CHROMIUM: executable } = process.env;
const { chromium } = createRequire(join(modules, "index.js"))("playwright-core");
const speedscope = join(modules, "node_modules/speedscope/dist/release/index.html");

/** @type {import("playwright-core").Browser} */
let browser;

before(async () => {
	const args = ["--no-sandbox", "--allow-file-access-from-files"];
	browser = await chromium.launch({ executablePath: executable ?? "/usr/bin/chromium", args, timeout: 180000 });
});
after(() => browser.close());

/** A page without network; what it waits for comes, however busy the machine is. */
async function open() {
	const context = await browser.newContext({ offline: true, acceptDownloads: true });
	context.setDefaultTimeout(120000);
	return { context, page: await context.newPage() };
}

/** What sqlite3 says of a trace: lines "kind|name|number|...", as name: numbers of one kind. */
function expected(name, kind) {
	const lines = readFileSync(join(traces, `${name}.expected`), "utf8").trim().split("\n");
	const rows = lines.map((line) => line.split("|")).filter(([first]) => first === kind);
	return Object.fromEntries(rows.map(([, key, ...rest]) => [key, rest.map(Number)]));
}

/** The same names, counts, and nanoseconds but for what doubles of microseconds lose. */
function assertNear(got, want) {
	assert.deepEqual(Object.keys(got).sort(), Object.keys(want).sort());
	for (const [name, [count, ns]] of Object.entries(want)) {
		assert.equal(got[name][0], count, `how many ${name}`);
		assert.ok(Math.abs(got[name][1] - ns) <= count + 1, `${name}: ${got[name][1]} ns, not ${ns}`);
	}
}

// ---- speedscope -------------------------------------------------------------------------------------------------

/** What speedscope saves, in its own format, of a file that it has read. */
async function bySpeedscope(file) {
	const { context, page } = await open(), script = join(traces, "load.js"), path = join(traces, file);
	writeFileSync(script, `speedscope.loadFileFromBase64("${file}", "${readFileSync(path).toString("base64")}")`);
	const read = page.waitForEvent("console", (message) => message.text().startsWith("import:"));
	await page.goto(`file://${speedscope}#localProfilePath=${script.slice(1)}`);
	await read;
	await page.waitForFunction((title) => document.title.includes(title), file);
	const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Control+s")]);
	const saved = JSON.parse(readFileSync(await download.path(), "utf8"));
	await context.close();
	return saved;
}

/** [how many, time in them, time in them alone] by name; names of the trace-event format have arguments behind them. */
function sumsOf({ profiles, shared: { frames } }) {
	const sums = {};
	for (const { events, type } of profiles) {
		const open = [];
		assert.equal(type, "evented");
		for (const { type: way, frame, at } of events) {
			if (way === "O") {
				open.push({ name: frames[frame].name.replace(/ \{.*/s, ""), start: at, inner: 0 });
				continue;
			}
			const { name, start, inner } = open.pop(), length = at - start, sum = sums[name] ??= [0, 0, 0];
			sum[0]++, sum[1] += length, sum[2] += length - inner;
			if (open.length)
				open.at(-1).inner += length;
		}
		assert.equal(open.length, 0);
	}
	return sums;
}

for (const name of ["index", "tree"]) {
	test(`speedscope has the regions of ${name}'s chrome export`, async () => {
		const saved = await bySpeedscope(`${name}.json`), want = expected(name, "region");
		assert.equal(saved.profiles.length, expected(name, "threads")[""][0]);
		const regions = Object.entries(sumsOf(saved)).filter(([label]) => label in want);
		assertNear(Object.fromEntries(regions.map(([label, [n, us]]) => [label, [n, us * 1000]])), want);
	});
	for (const suffix of ["folded", "pb.gz"])
		test(`speedscope has the times of ${name}.${suffix}`, async () => {
			const sums = sumsOf(await bySpeedscope(`${name}.${suffix}`)), want = expected(name, "alone");
			for (const [label, [ns]] of Object.entries(want))
				assert.equal(Math.round(sums[label][2]), ns, label);
			assert.deepEqual(Object.keys(sums).sort(), Object.keys(want).sort());
		});
}

// ---- Catapult ---------------------------------------------------------------------------------------------------

/** What the model has that Catapult makes of a trace. */
async function byCatapult(file) {
	const { context, page } = await open(), frame = join(traces, "catapult.html");
	writeFileSync(frame, `<!doctype html><meta charset="utf-8">
		<script src="file://${catapult}/webcomponents.min.js"></script>
		<script>addEventListener("HTMLImportsLoaded", () => window.isReady = true)</script>
		<link rel="import" href="file://${catapult}/trace_viewer_full.html">`);
	await page.goto(`file://${frame}`);
	await page.waitForFunction(() => window.isReady && window.tr?.importer);
	const model = await page.evaluate(async (text) => {
		const { tr } = window, made = new tr.Model(), options = new tr.importer.ImportOptions();
		options.showImportWarnings = false;
		await new tr.importer.Import(made, options).importTraces([text]);
		const slices = made.getAllThreads().flatMap(({ sliceGroup }) => sliceGroup.slices);
		return {
			warnings: made.importWarnings.map(({ message }) => message),
			threads: made.getAllThreads().length, flows: made.flowEvents.length,
			counters: made.getAllProcesses().flatMap(({ counters }) => Object.values(counters)).length,
			slices: slices.map(({ title, category, duration, args }) => [title, category, duration, args]),
		};
	}, readFileSync(join(traces, file), "utf8"));
	await context.close();
	assert.deepEqual(model.warnings, []);
	return model;
}

for (const name of ["index", "tree"])
	test(`Catapult has the threads, regions and arrows of ${name}'s chrome export`, async () => {
		const model = await byCatapult(`${name}.json`), want = expected(name, "region"), sums = {};
		for (const [title, category, duration, args] of model.slices)
			if (title in want && category !== "trace2.thread" && !args.intervals && !("value" in args)) {
				const sum = sums[title] ??= [0, 0];
				sum[0]++, sum[1] += duration * 1e6;
				assert.ok(/\.c$/.test(args.file) && args.line > 0, `the place of ${title}`);
			}
		assertNear(sums, want);
		assert.equal(model.threads, expected(name, "threads")[""][0]);
		assert.equal(model.flows, expected(name, "processes")[""][0] - 1);
		assert.ok(model.counters > 0);
	});

test("Catapult has the gaps of a trace that lost events", async () => {
	const { slices } = await byCatapult("lossy.json"), gaps = slices.filter(([title]) => title === "events lost");
	assert.equal(gaps.length, expected("lossy", "lost")["events lost"][0]);
	assert.equal(gaps.reduce((sum, [, , , { count }]) => sum + count, 0), expected("lossy", "missing")[""][0]);
});
