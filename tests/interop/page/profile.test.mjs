// SPDX-License-Identifier: MIT
/** What somebody sees and does who opens a page with samples. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Encoder } from "../../page/encode.mjs";
import { profiledTrace } from "../../page/samples.mjs";
import { close, colorAt, open, pages, painted, start, stop } from "./browser.mjs";

/** Of a program that records no events. */
function sampledTrace() {
	const encoder = new Encoder(), thread = encoder.thread(encoder.process(100, "p"), 0, "main");
	for (let at = 1; at <= 40; at++)
		thread.sample(10 * at, "cpu", ["main", "work"], [1, 10, 1]);
	return encoder;
}

/** Of a program with many functions. */
function longTrace() {
	const encoder = new Encoder(), thread = encoder.thread(encoder.process(100, "p"), 0, "main");
	for (let at = 1; at <= 950; at++)
		thread.sample(10 * at, "cpu", ["main", `f${at}`], [1, 10, 1]);
	return encoder;
}

before(() => start({ samples: profiledTrace(), sampled: sampledTrace(), long: longTrace() }));
after(stop);

/** Where a sample is on the screen. */
const samplePlaceOf = (page, lane, profile, at) => page.evaluate(([number, name, index]) => {
	const { app } = window, box = document.getElementById("canvas").getBoundingClientRect();
	const item = app.layout.find(`t${number}`), { lane } = item, which = app.trace.profiles.indexOf(name);
	const { start, end } = lane.samples[which], rows = lane.rows.length * 17 + (lane.points.length ? 7 : 0);
	const y = item.y + app.layout.pinnedHeight - app.scroll + 5 + rows + item.profiles.indexOf(which) * 19 + 9;
	return { x: box.x + app.view.x((start[index] + end[index]) / 2), y: box.y + y };
}, [lane, profile, at]);

/** What the flame graph shows at each depth, the whole in front: names and parts of the width. */
const flamesOf = (page) => page.evaluate(() => {
	const { frames, shown } = window.app.profile.graph;
	return frames.map((row) => row.map(({ node, from, to }) =>
		[node ? shown.trace.stacks.functions[shown.tree.function[node]] : shown.title, from, to]));
});

/** Where a function is in the flame graph. */
const flameOf = (page, name) => page.evaluate((wanted) => {
	const { frames, shown, canvas } = window.app.profile.graph, box = canvas.getBoundingClientRect();
	const isIt = ({ node }) => node && shown.trace.stacks.functions[shown.tree.function[node]] === wanted;
	const depth = frames.findIndex((row) => row.some(isIt)), frame = frames[depth].find(isIt);
	return { x: box.x + (frame.from + frame.to) / 2 * box.width, y: box.y + depth * 19 + 9 };
}, name);

test("test_page_without_regions_leads_to_the_samples", async () => {
	const page = await open("sampled");
	assert.match(await page.locator(".head.lane").first().innerText(), /main\s+40/);
	for (const tab of ["flame", "statistics"]) {
		await page.click(`button[data-tab=${tab}]`);
		await page.locator(`#${tab} .empty .link`).click();
		assert.equal(await page.evaluate(() => window.app.tab), "profile");
	}
	assert.ok(await page.locator("#profile").innerText());
	await close(page);
});

test("test_page_table_of_many_functions_has_all_that_are_scrolled_to", async () => {
	const page = await open("long", "#tab=profile"), rows = page.locator(".functions tbody tr");
	const first = await rows.count();
	assert.ok(first < 951);
	await page.fill("#query", "f7");
	assert.equal(await rows.count(), first);
	for (let count = first; count < 951; count = await rows.count()) {
		await rows.last().scrollIntoViewIfNeeded();
		await page.waitForFunction((before) =>
			document.querySelectorAll(".functions tbody tr").length > before, count);
	}
	assert.equal(await rows.count(), 951);
	await close(page);
});

test("test_page_sample_shows_its_stack", async () => {
	const page = await open("samples"), { x, y } = await samplePlaceOf(page, 0, "cpu", 2);
	await painted(page);
	assert.notDeepEqual(await colorAt(page, x, y), await colorAt(page, x + 500, y));
	await page.mouse.move(x, y);
	const tip = await page.locator("#tip").innerText();
	assert.match(tip, /CPU 20 ns\s+hash\s+work\s+main\s+main, at 50 ns/);
	const labelled = await samplePlaceOf(page, 0, "cpu", 1);
	await page.mouse.click(labelled.x, labelled.y);
	const panel = await page.locator("#panel").innerText();
	for (const wanted of ["Sample: CPU", "20 ns", "user=me", "app/step", "main of", "work"])
		assert.ok(panel.includes(wanted), `${wanted} is not in ${panel}`);
	assert.equal(await page.locator("#panel .stack-list li").count(), 2);
	await page.keyboard.press("Escape");
	assert.equal(await page.locator("#panel .graph canvas").count(), 1);
	await close(page);
});

test("test_page_flame_graph_of_samples_is_what_another_format_says", async () => {
	const page = await open("profiled", "#tab=profile&profile=allocs"), rows = await flamesOf(page);
	const folded = readFileSync(join(pages, "profiled.folded"), "utf8"), wanted = new Map();
	let all = 0;
	for (const [, stack, value] of folded.matchAll(/^(.*) (\d+)$/gm)) {
		const outermost = stack.split(";")[0].replace(/.*0x.*/, "?");
		wanted.set(outermost, (wanted.get(outermost) ?? 0) + Number(value));
		all += Number(value);
	}
	assert.ok(rows.length > 5);
	for (const [name, from, to] of rows[1])
		assert.ok(/0x/.test(name) || Math.abs(to - from - wanted.get(name) / all) < 1e-3,
			`${name} ${to - from}`);
	const inked = await page.evaluate(() => {
		const { canvas } = window.app.profile.graph, { data } = canvas.getContext("2d").getImageData(0, 0,
			canvas.width, canvas.height);
		return data.filter((value, at) => at % 4 === 3 && value > 0).length / (data.length / 4);
	});
	assert.ok(inked > 0.1, String(inked));
	await close(page);
});

test("test_page_range_and_thread_choose_the_samples", async () => {
	const page = await open("samples"), box = await page.locator("#ruler").boundingBox();
	const x = (time) => page.evaluate((at) => window.app.view.x(at), time);
	await page.mouse.move(box.x + await x(115), box.y + 10);
	await page.mouse.down();
	await page.mouse.move(box.x + await x(130), box.y + 10);
	await page.mouse.move(box.x + await x(141), box.y + 10);
	const names = async () => (await flamesOf(page)).map((row) => row.map(([name]) => name));
	assert.deepEqual(await names(), [["all threads · 50 ns"], ["main", "run"], ["work", "hash"], ["hash"]]);
	await page.mouse.up();
	assert.deepEqual(await names(), [["all threads · 50 ns"], ["main", "run"], ["work", "hash"], ["hash"]]);
	assert.ok((await page.locator("#panel .beside table").first().innerText()).includes("app/step"));
	await page.locator(".head.lane").nth(1).locator(".name").click();
	assert.deepEqual(await names(), [["th01:worker · 10 ns"], ["run"], ["hash"]]);
	await page.selectOption("#panel select", { label: "main" });
	assert.deepEqual((await names())[0], ["main · 40 ns"]);
	await page.getByRole("button", { name: "All of the time" }).click();
	await page.getByRole("button", { name: "Allocated" }).click();
	assert.deepEqual(await names(), [["main · 4.98 KiB"], ["main"], ["grow", "work"], ["grow"]]);
	await page.waitForFunction(() => /profile=allocs.*thread=0/.test(location.hash));
	const hash = await page.evaluate(() => location.hash), before = await names();
	await close(page);
	const again = await open("samples", hash);
	assert.deepEqual((await flamesOf(again)).map((row) => row.map(([name]) => name)), before);
	await close(again);
});

test("test_page_flame_graph_is_looked_into_and_searched", async () => {
	const page = await open("samples", "#tab=profile"), work = await flameOf(page, "work");
	await page.mouse.move(work.x, work.y);
	assert.match(await page.locator("#tip").innerText(), /work\s+total 50 ns 71\.4 %\s+self 30 ns 42\.9 %/);
	await page.mouse.click(work.x, work.y);
	assert.deepEqual((await flamesOf(page))[2], [["work", 0, 1]]);
	await page.mouse.click(work.x, work.y);
	assert.notDeepEqual((await flamesOf(page))[2], [["work", 0, 1]]);
	await page.keyboard.press("i");
	assert.deepEqual((await flamesOf(page))[1].map(([name]) => name), ["work", "hash", "(stack not known)"]);
	await page.fill("#query", "hash");
	assert.ok((await page.locator(".bar-row").innerText()).includes("42.9 % marked"));
	assert.equal(await page.locator("#found").innerText(), "1 function");
	const first = await page.locator(".functions tbody tr").first().innerText();
	assert.match(first, /42\.9 %\s+71\.4 %\s+work/);
	await close(page);
});
