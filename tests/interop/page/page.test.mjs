// SPDX-License-Identifier: MIT
/** What somebody sees and does who opens a page. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Encoder } from "../../page/encode.mjs";
import { readPerf } from "../../page/perf.mjs";
import { largeTrace, smallTrace } from "../../page/samples.mjs";
import { close, colorAt, open, pages, painted, start, stop, troubles } from "./browser.mjs";

before(() => start({ small: smallTrace(), million: largeTrace(1e6), nothing: new Encoder() }));
after(stop);

/** The lines of the same trace's perf text. */
const linesOf = (name) => readPerf(join(pages, `${name}.perf`));

/** The names of all regions, as "category/label". */
const regionsOf = (name) => linesOf(name).filter(({ kind }) => kind === "region_enter").map((line) => line.name);

/** Where a region is on the screen. */
const placeOf = (page, region) => page.evaluate(([lane, depth, index]) => {
	const { app } = window, row = app.trace.lanes[lane].rows[depth];
	const item = app.layout.find(`t${lane}`), box = document.getElementById("canvas").getBoundingClientRect();
	const points = app.trace.lanes[lane].points.length ? 7 : 0, top = item.y + app.layout.pinnedHeight - app.scroll;
	const middle = (row.start[index] + row.end[index]) / 2;
	return { x: box.x + app.view.x(middle), y: box.y + top + 5 + points + depth * 17 + 8 };
}, region);

const regionOf = (page) => page.evaluate(() => {
	const { selected, trace } = window.app;
	if (!selected)
		return null;
	const { lane, depth, index } = selected, row = lane.rows[depth], { category, label } = trace.siteOf(selected);
	return { name: `${category}/${label}`, length: row.end[index] - row.start[index], start: row.start[index] };
});

const spanOf = (page) => page.evaluate(() => [window.app.view.start, window.app.view.end]);

test("test_page_statistics_have_each_region_of_the_perf_text", async () => {
	const page = await open("index", "#tab=statistics"), wanted = new Map();
	for (const name of regionsOf("index"))
		wanted.set(name, (wanted.get(name) ?? 0) + 1);
	const rows = await page.$$eval("#statistics table:first-of-type tbody tr", (all) =>
		all.map((row) => [...row.cells].slice(0, 2).map((cell) => cell.innerText)));
	assert.ok(wanted.size > 2);
	assert.deepEqual(new Map(rows.map(([name, count]) => [name, Number(count.replaceAll(",", ""))])), wanted);
	await close(page);
});

test("test_page_statistics_show_the_slowest_beside_the_histogram", async () => {
	const page = await open("index", "#tab=statistics");
	const hidden = await page.$$eval("#statistics table:first-of-type tbody tr", (rows) => {
		const right = document.querySelector("#statistics .scroll").getBoundingClientRect().right;
		return rows.filter((row) => row.lastElementChild.getBoundingClientRect().right > right + 1).length;
	});
	assert.equal(hidden, 0);
	await close(page);
});

test("test_page_threads_have_lanes_grouped_by_process", async () => {
	const page = await open("index");
	assert.equal(await page.title(), "index.tlg");
	const heads = await page.$$eval(".head", (all) => all.map((head) =>
		`${head.classList[1]} ${head.querySelector(".name").innerText}`));
	const threads = new Set(linesOf("index").map(({ thread }) => thread));
	assert.match(heads[0], /^process .*t2index/);
	assert.equal(heads.filter((head) => head.startsWith("lane")).length, threads.size);
	await close(page);
});

test("test_page_slowest_region_is_found_in_three_clicks", async () => {
	const page = await open("index");
	await page.click("button[data-tab=statistics]");
	const row = page.locator("#statistics tbody tr", { hasText: "reader/read" }).first();
	await row.click();
	const length = await row.locator("td:last-child").innerText();
	await page.locator("#statistics aside .count-list .link").first().click();
	await painted(page);
	const region = await regionOf(page), best = await page.evaluate(() => {
		let most = 0;
		for (const lane of window.app.trace.lanes)
			for (const rows of lane.rows)
				for (let i = 0; i < rows.length; i++)
					if (window.app.trace.nameOf(rows.site[i]).label === "read")
						most = Math.max(most, rows.end[i] - rows.start[i]);
		return most;
	});
	assert.deepEqual([region.name, region.length], ["reader/read", best]);
	assert.ok((await page.locator("#panel").innerText()).includes(length));
	const [start, end] = await spanOf(page);
	assert.ok(start < region.start && region.start + region.length < end && end - start < 10 * region.length);
	await close(page);
});

test("test_page_click_on_a_region_shows_its_details", async () => {
	const page = await open("small"), { x, y } = await placeOf(page, [0, 1, 0]);
	const color = await colorAt(page, x, y), empty = await colorAt(page, x + 420, y + 300);
	assert.notDeepEqual(color, empty);
	await page.mouse.click(x, y);
	const text = await page.locator("#panel").innerText();
	for (const wanted of ["io/read", "500 ns", "file a", "io.c:14", "main of parent 100", "open"])
		assert.ok(text.includes(wanted), `${wanted} is not in ${text}`);
	await page.mouse.move(x, y);
	assert.ok((await page.locator("#tip").innerText()).includes("io/read"));
	await close(page);
});

test("test_page_keys_zoom_move_and_walk", async () => {
	const page = await open("index"), [start, end] = await spanOf(page);
	await page.keyboard.down("w");
	await page.waitForFunction((whole) => window.app.view.span < whole / 2, end - start);
	await page.keyboard.up("w");
	const [left] = await spanOf(page);
	await page.keyboard.down("d");
	await page.waitForFunction((from) => window.app.view.start > from, left);
	await page.keyboard.up("d");
	await page.keyboard.press("0");
	assert.deepEqual(await spanOf(page), [start, end]);
	await page.evaluate(() => window.app.go({ lane: window.app.trace.lanes[1], depth: 0, index: 3 }));
	const first = await regionOf(page);
	await page.keyboard.press("ArrowRight");
	assert.ok((await regionOf(page)).start > first.start);
	await page.keyboard.press("ArrowLeft");
	await page.keyboard.press("ArrowDown");
	assert.equal((await regionOf(page)).name, "reader/read");
	await page.keyboard.press("ArrowUp");
	assert.deepEqual(await regionOf(page), first);
	await close(page);
});

test("test_page_wheel_zooms_where_the_pointer_is", async () => {
	const page = await open("index"), box = await page.locator("#canvas").boundingBox();
	await page.mouse.move(box.x + 300, box.y + 100);
	const time = await page.evaluate(() => window.app.view.time(300));
	await page.mouse.wheel(0, -400);
	await painted(page);
	const [now, part] = await page.evaluate(() => {
		const { view, trace } = window.app;
		return [view.time(300), view.span / (trace.end - trace.start)];
	});
	assert.ok(Math.abs(now - time) < 1000 && part < 0.6, `${now} ${part}`);
	await close(page);
});

test("test_page_search_goes_from_one_to_the_next", async () => {
	const page = await open("index");
	await page.keyboard.press("/");
	await page.keyboard.type("directory");
	const count = regionsOf("index").filter((name) => name.endsWith("/directory")).length;
	await page.keyboard.press("Enter");
	assert.equal(await page.locator("#found").innerText(), `1 / ${count.toLocaleString("en-US")}`);
	const first = await regionOf(page);
	await page.keyboard.press("Enter");
	assert.ok((await regionOf(page)).start > first.start);
	await page.keyboard.press("Shift+Enter");
	assert.deepEqual(await regionOf(page), first);
	await close(page);
});

test("test_page_range_is_summed_up", async () => {
	const page = await open("small"), box = await page.locator("#ruler").boundingBox();
	const x = (time) => box.x + time / 1200 * box.width;
	await page.mouse.move(x(600), box.y + 10);
	await page.mouse.down();
	await page.mouse.move(x(700), box.y + 10);
	await page.mouse.move(x(900), box.y + 10);
	await page.mouse.up();
	const rows = await page.$$eval("#panel tbody tr", (all) =>
		all.map((row) => [...row.cells].map((cell) => cell.innerText.trim())));
	const read = rows.find(([name]) => name === "io/read");
	assert.deepEqual([read[1], read[2]], ["2", "200 ns"]);
	assert.ok((await page.locator("#panel").innerText()).includes("Events were dropped in it"));
	await close(page);
});

test("test_page_address_shows_the_same_again", async () => {
	const page = await open("index");
	await page.locator(".head.lane").nth(2).hover();
	await page.locator(".head.lane").nth(2).getByLabel("Pin to the top").click();
	await page.evaluate(() => window.app.go({ lane: window.app.trace.lanes[1], depth: 1, index: 5 }));
	await page.keyboard.press("t");
	await page.waitForFunction(() => location.hash.includes("region=1-1-5") && location.hash.includes("theme="));
	const span = await spanOf(page), hash = await page.evaluate(() => location.hash), region = await regionOf(page);
	await close(page);
	const again = await open("index", hash);
	assert.deepEqual(await regionOf(again), region);
	assert.ok((await spanOf(again)).every((time, at) => Math.abs(time - span[at]) < 2));
	assert.equal(await again.locator("#pinned .head").count(), 1);
	await close(again);
});

test("test_page_address_shows_the_same_lanes_again", async () => {
	const page = await open("family", "", { viewport: { width: 1400, height: 300 } });
	await page.keyboard.press("g");
	await page.evaluate(() => window.app.scrollTo(90));
	await page.waitForFunction(() => /group=program/.test(location.hash) && /top=90/.test(location.hash));
	const hash = await page.evaluate(() => location.hash), heads = await page.locator(".head.program").count();
	assert.ok(heads >= 1);
	await close(page);
	const again = await open("family", hash, { viewport: { width: 1400, height: 300 } });
	assert.equal(await again.evaluate(() => window.app.scroll), 90);
	assert.equal(await again.locator(".head.program").count(), heads);
	await close(again);
});

test("test_page_processes_are_folded_at_once_and_grouped", async () => {
	const page = await open("family");
	await page.click("#fold-all");
	assert.equal(await page.locator(".head.lane").count(), 0);
	assert.equal(await page.locator(".head.process").count(), 7);
	await page.click("#fold-all");
	assert.equal(await page.locator(".head.lane").count(), 7);
	await page.click("#group");
	assert.equal(await page.locator("#group").getAttribute("aria-pressed"), "true");
	assert.equal(await page.locator(".head.process").count(), 7);
	await close(page);
});

test("test_page_tap_moves_the_view_its_way", async () => {
	const page = await open("small");
	await page.keyboard.press("f");
	await page.evaluate(() => window.app.show(300, 600));
	for (const [key, way] of [["d", 1], ["a", -1], ["d", 1]]) {
		const [from] = await spanOf(page);
		await page.keyboard.press(key);
		await page.waitForFunction(([start, sign]) => (window.app.view.start - start) * sign > 0, [from, way]);
		await painted(page);
	}
	await close(page);
});

test("test_page_heads_are_one_stop_of_the_tab_key", async () => {
	const page = await open("small");
	assert.equal(await page.locator("#heads button[tabindex='0']").count(), 1);
	await page.locator("#heads button[tabindex='0']").focus();
	const key = () => page.evaluate(() => document.activeElement.dataset.key);
	assert.equal(await key(), "p0-fold");
	await page.keyboard.press("ArrowDown");
	assert.equal(await key(), "s0.0-pin");
	await page.keyboard.press("ArrowDown");
	assert.equal(await key(), "t0-pin");
	await page.keyboard.press("ArrowLeft");
	assert.equal(await key(), "t0-down");
	assert.equal(await page.locator("#heads button[tabindex='0']").count(), 1);
	assert.equal(await regionOf(page), null);
	await close(page);
});

test("test_page_without_events_says_so", async () => {
	const page = await open("nothing");
	assert.equal(await page.locator("#nothing").innerText(), "There are no events in this trace.");
	await close(page);
	const other = await open("small");
	assert.ok(await other.locator("#nothing").isHidden());
	await close(other);
});

test("test_page_fits_narrow_screens", async () => {
	const statistics = "#tab=statistics";
	for (const [width, hash] of [[1000, statistics], [1000, ""], [390, statistics], [390, ""]]) {
		const page = await open("index", hash, { viewport: { width, height: 760 } });
		await painted(page);
		assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
		if (width === 1000 && hash)
			assert.ok(await page.evaluate(() => {
				const { scrollWidth, clientWidth } = document.querySelector("#statistics .scroll");
				return scrollWidth <= clientWidth;
			}));
		await close(page);
	}
});

test("test_page_bar_of_a_phone_has_two_lines_and_whole_buttons", async () => {
	for (const width of [360, 390, 600])
		for (const tab of ["timeline", "statistics", "profile"]) {
			const page = await open("profiled", `#tab=${tab}`, { viewport: { width, height: 760 } });
			await painted(page);
			const { height, title, cut } = await page.evaluate(() => {
				const box = (element) => element.getBoundingClientRect();
				const bar = document.getElementById("bar");
				const isCut = (button) => {
					const { left, right, top, bottom } = box(button);
					const around = box(button.closest("div, nav, header"));
					return right - left && (left < around.left || right > around.right ||
						top < around.top || bottom > around.bottom);
				};
				return {
					height: box(bar).height, title: box(document.getElementById("title")).width,
					cut: [...document.querySelectorAll("#bar button, #shown button")].filter(isCut)
						.map((b) => b.id),
				};
			});
			assert.ok(height < 80, `${height} px at ${width}, ${tab}`);
			assert.ok(title > 40, `the name has ${title} px at ${width}, ${tab}`);
			assert.deepEqual(cut, []);
			await close(page);
		}
});

test("test_page_lanes_are_moved_and_folded", async () => {
	const page = await open("small");
	const names = () => page.$$eval(".head.lane .name", (all) => all.map((name) => name.innerText.split(" ")[0]));
	assert.deepEqual(await names(), ["main", "th01:worker", "main"]);
	await page.locator(".head.lane").nth(1).hover();
	await page.locator(".head.lane").nth(1).getByLabel("Move up").click();
	assert.deepEqual(await names(), ["th01:worker", "main", "main"]);
	await page.locator(".head.process").first().click();
	assert.deepEqual(await names(), ["main"]);
	await close(page);
});

test("test_page_colours_follow_the_system_and_the_button", async () => {
	const page = await open("small", "", { colorScheme: "dark" }), { x, y } = await placeOf(page, [0, 0, 0]);
	const back = () => colorAt(page, x, y + 250), isDark = ([red, green, blue]) => red + green + blue < 200;
	await painted(page);
	assert.ok(isDark(await back()));
	await page.click("#theme");
	await painted(page);
	assert.ok(!isDark(await back()));
	await close(page);
});

test("test_page_dropped_events_are_said_and_shaded", async () => {
	const page = await open("lossy");
	const [events, gaps] = await page.evaluate(() => {
		const { lost, lanes } = window.app.trace;
		return [lost, lanes.flatMap((lane) => lane.gaps).length];
	});
	const marks = linesOf("lossy").filter(({ name }) => name === "trace2/lost-events");
	assert.equal(gaps, marks.length);
	assert.equal(events, marks.reduce((sum, { says }) => sum + Number(says.split(":")[1]), 0));
	assert.ok(gaps > 0 && (await page.locator("#facts .lost").innerText()).includes("dropped"));
	await page.evaluate(() => {
		const lane = window.app.trace.lanes.find(({ gaps }) => gaps.length), [gap] = lane.gaps;
		const length = gap.to - gap.from;
		window.app.show(gap.from - length, gap.to + length);
		window.app.reveal(lane, 0);
	});
	await painted(page);
	const shades = await page.evaluate(() => {
		const { app } = window, lane = app.trace.lanes.find(({ gaps }) => gaps.length);
		const item = app.layout.find(`t${lane.index}`);
		const y = item.y - app.scroll + 2, middle = app.view.x((lane.gaps[0].from + lane.gaps[0].to) / 2);
		const data = app.canvas.getContext("2d").getImageData(middle - 20, y, 40, item.height - 4).data;
		let red = 0;
		for (let i = 0; i < data.length; i += 4)
			red += data[i] > data[i + 2] + 25;
		return red;
	});
	assert.ok(shades > 50, String(shades));
	await close(page);
});

test("test_page_open_regions_of_a_killed_process_are_open", async () => {
	const page = await open("killed");
	const flags = await page.evaluate(() =>
		window.app.trace.lanes.flatMap(({ rows }) => rows.map((row) => row.flags[row.length - 1])));
	assert.ok(flags.includes(1));
	await page.evaluate(() => {
		const lane = window.app.trace.lanes.find(({ rows }) => rows[0]?.flags[rows[0].length - 1] === 1);
		window.app.go({ lane, depth: 0, index: lane.rows[0].length - 1 });
	});
	assert.ok((await page.locator("#panel").innerText()).includes("still open when last seen"));
	await close(page);
});

test("test_page_each_child_of_a_family_has_its_arrow", async () => {
	const page = await open("family");
	const arrows = await page.evaluate(() => window.app.trace.flows.map(({ from, fromTime, to, toTime }) => {
		const isChild = to.process.sid.startsWith(`${from.process.sid}/`);
		return { isChild, isLater: fromTime <= toTime, pid: to.process.pid };
	}));
	const pids = linesOf("family").filter(({ kind }) => kind === "child_exit")
		.map(({ says }) => Number(says.match(/pid:(\d+)/)[1]));
	assert.equal(pids.length, 6);
	assert.deepEqual(arrows.map(({ pid }) => pid).sort(), pids.sort());
	assert.ok(arrows.every(({ isChild, isLater }) => isChild && isLater));
	assert.equal(await page.locator(".head.process").count(), 7);
	await close(page);
});

test("test_page_child_is_reached_by_an_arrow", async () => {
	const page = await open("small");
	assert.equal(await page.evaluate(() => window.app.trace.flows.length), 1);
	const near = await page.evaluate(() => {
		const { app } = window, [flow] = app.trace.flows, item = app.layout.find(`t${flow.to.index}`);
		const context = app.canvas.getContext("2d"), x = app.view.x(flow.toTime);
		const { data } = context.getImageData(x - 12, item.y, 12, 16);
		return [...data].some((value, at) => at % 4 === 0 && value < 140 && data[at + 2] > 220);
	});
	assert.ok(near);
	await close(page);
});

test("test_page_flame_graph_is_speedscope_s", async () => {
	const page = await open("index", "#tab=flame"), frame = page.frameLocator("#flame iframe");
	await frame.getByText("Left Heavy").waitFor();
	await frame.getByText(/t2index .* main|t2index .* reader/).first().waitFor({ state: "attached" });
	await page.click("#help");
	await page.click("details.licences summary");
	const licences = await page.locator("details.licences pre").innerText();
	assert.ok(licences.includes("Jamie Wong") && licences.includes("SIL Open Font License"));
	await close(page);
});

test("test_page_opens_with_workers_and_without", async () => {
	const countWorkers = () => {
		const Native = Worker;
		window.workers = 0;
		window.Worker = class extends Native {
			constructor(url) {
				super(url);
				window.workers++;
			}
		};
	};
	const refuseWorkers = () => window.Worker = class {
		constructor() {
			throw new Error("no workers for a page from a file");
		}
	};
	const breakWorkers = () => {
		const Native = Worker;
		window.Worker = class extends Native {
			constructor() {
				super("data:text/javascript,+");
			}
		};
	};
	for (const script of [countWorkers, refuseWorkers, breakWorkers]) {
		const page = await open("million", "", {}, script);
		const [events, workers, most] = await page.evaluate(() =>
			[window.app.trace.events, window.workers, Math.min(2, navigator.hardwareConcurrency - 1)]);
		assert.ok(events >= 1e6);
		assert.ok(script !== countWorkers || workers === most, `${workers} workers, not ${most}`);
		const rest = troubles.filter((text) => script !== breakWorkers || !/data:text|Worker/.test(text));
		troubles.splice(0, Infinity, ...rest);
		await close(page);
	}
});

test("test_page_frames_of_a_million_events_look_at_a_few_for_each_pixel", async () => {
	const page = await open("million");
	const said = await page.evaluate(async () => {
		const { app } = window, frames = [];
		const rows = app.trace.lanes.flatMap((lane) => lane.rows);
		let count = 0, most = 0;
		for (const { pyramid } of rows) {
			const { climb } = Object.getPrototypeOf(pyramid);
			pyramid.climb = (...of) => (count++, climb.apply(pyramid, of));
		}
		for (let i = 0; i < 120; i++) {
			await new Promise(requestAnimationFrame);
			app.view = app.view.zoomed(i % 60 < 40 ? 0.8 : 1.3, app.view.time(500), app.bounds)
				.moved(app.view.span / 50, app.bounds);
			count = 0;
			const from = performance.now();
			app.paint();
			frames.push(performance.now() - from);
			most = Math.max(most, count);
		}
		return { times: frames, looks: most, pixels: rows.length * app.view.width, events: app.trace.events };
	});
	const { times, looks, pixels, events } = said, each = (looks / pixels).toFixed(2);
	const nine = times.sort((a, b) => a - b)[Math.floor(times.length * 0.9)];
	console.log(`figure: a frame of ${events} events takes ${nine.toFixed(1)} ms (nine of ten do)`);
	console.log(`figure: it looks at ${each} regions or sums of them for each pixel at most`);
	assert.ok(events >= 1e6 && looks > 0 && looks < 8 * pixels, `${looks} for ${pixels} pixels`);
	await close(page);
});
