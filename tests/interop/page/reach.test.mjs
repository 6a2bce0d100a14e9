// SPDX-License-Identifier: MIT
/** What is reached by the keyboard alone, on a narrow screen, and by a link. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Encoder } from "../../page/encode.mjs";
import { smallTrace } from "../../page/samples.mjs";
import { close, open, painted, start, stop } from "./browser.mjs";

/** A process that begins and ends, and does nothing in between that the timeline would draw. */
function idleTrace() {
	const encoder = new Encoder(), main = encoder.thread(encoder.process(100, "p"), 0, "main");
	main.point(0, "version", "", "", null, "1").point(10, "atexit", "", "", 0, "");
	return encoder;
}

/** Many regions of long names, of two digits of milliseconds each. */
function longTrace() {
	const encoder = new Encoder(), main = encoder.thread(encoder.process(100, "p"), 0, "main");
	for (let i = 0; i < 40; i++)
		main.enter(i * 3e7, "category", `a-rather-long-name-of-a-region-${i}`).leave(i * 3e7 + 2.5e7);
	return encoder;
}

/** A server and its worker, told apart by their process ids. */
function serverTrace() {
	const encoder = new Encoder();
	for (const [pid, sid, name] of [[31234, "p", "alpha"], [31235, "p/c", "alpha"]]) {
		const main = encoder.thread(encoder.process(pid, sid), 0, "main");
		main.point(pid, "start", "", "", null, `/usr/bin/${name}`).enter(pid + 1, "db", "open").leave(pid + 9);
	}
	return encoder;
}

before(() => start({ small: smallTrace(), idle: idleTrace(), long: longTrace(), server: serverTrace() }));
after(stop);

const focused = (page) => page.evaluate(() => {
	const { activeElement: element } = document;
	return `${element.tagName} ${[...element.parentElement.children].indexOf(element)}`;
});

test("test_page_rows_of_a_table_are_one_stop_of_the_tab_key", async () => {
	const page = await open("long", "#tab=statistics"), stops = page.locator("#statistics tbody tr[tabindex='0']");
	assert.equal(await stops.count(), 1);
	await stops.focus();
	assert.equal(await focused(page), "TR 0");
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("ArrowUp");
	assert.equal(await focused(page), "TR 1");
	assert.equal(await stops.count(), 1);
	await page.keyboard.press("Enter");
	assert.equal(await page.locator("#statistics tbody tr.on").count(), 1);
	await page.keyboard.press("Tab");
	assert.notEqual((await focused(page)).split(" ")[0], "TR");
	await page.keyboard.press("Shift+Tab");
	assert.equal(await focused(page), "TR 1");
	await close(page);
});

test("test_page_tabs_are_one_stop_of_the_tab_key", async () => {
	const page = await open("small");
	assert.equal(await page.locator("#tabs button[tabindex='0']").count(), 1);
	await page.locator("#tabs button[tabindex='0']").focus();
	await page.keyboard.press("ArrowRight");
	assert.equal(await page.evaluate(() => window.app.tab), "statistics");
	assert.equal(await page.evaluate(() => document.activeElement.dataset.tab), "statistics");
	await page.keyboard.press("ArrowLeft");
	await page.keyboard.press("ArrowLeft");
	assert.equal(await page.evaluate(() => window.app.tab), "timeline");
	await close(page);
});

test("test_page_with_nothing_to_draw_says_so", async () => {
	const page = await open("idle");
	assert.equal(await page.locator("#nothing").innerText(), "There are no regions and no samples in this trace.");
	await close(page);
});

test("test_page_tables_are_whole_on_narrow_screens", async () => {
	const isWhole = (page, where) => page.evaluate((selector) => {
		const { scrollWidth, clientWidth } = document.querySelector(selector);
		return scrollWidth <= clientWidth;
	}, where);
	for (const width of [1000, 1041, 1100, 1160, 1200, 1440]) {
		const page = await open("long", "#tab=statistics", { viewport: { width, height: 760 } });
		assert.ok(await isWhole(page, "#statistics .scroll"), `statistics of ${width}`);
		await page.keyboard.press("1");
		await page.evaluate(() => {
			const { start, end } = window.app.trace;
			window.app.setRange({ start, end }, true);
		});
		await painted(page);
		assert.ok(await isWhole(page, "#panel .scroll"), `range of ${width}`);
		await close(page);
	}
});

test("test_page_link_has_the_whole_view_beside_a_region_and_how_far_lanes_are_scrolled", async () => {
	const page = await open("small", "", { viewport: { width: 1400, height: 160 } });
	await page.evaluate(() => {
		const { app } = window;
		app.select({ lane: app.trace.lanes[0], depth: 0, index: 0 });
		app.scrollTo(20);
	});
	await page.waitForFunction(() => location.hash.includes("region=0-0-0") && location.hash.includes("top="));
	const span = await page.evaluate(() => [window.app.view.start, window.app.view.end]);
	const top = await page.evaluate(() => window.app.scroll);
	assert.ok(top > 0);
	await page.keyboard.press("2");
	await page.waitForFunction(() => location.hash.includes("tab=statistics"));
	const hash = await page.evaluate(() => location.hash);
	await close(page);
	const again = await open("small", hash, { viewport: { width: 1400, height: 160 } });
	await again.keyboard.press("1");
	await painted(again);
	assert.deepEqual(await again.evaluate(() => [window.app.view.start, window.app.view.end]), span);
	assert.equal(await again.evaluate(() => window.app.scroll), top);
	await close(again);
});

test("test_page_heads_of_children_have_their_process_id_on_a_phone", async () => {
	const page = await open("server", "", { viewport: { width: 390, height: 844 } });
	const cut = await page.$$eval(".head.process .name", (names) =>
		names.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
			.map(({ innerText }) => innerText));
	assert.deepEqual(cut, []);
	assert.equal(await page.locator(".head.process").count(), 2);
	await close(page);
});
