// SPDX-License-Identifier: MIT
/** What is decoded, found, summed up and laid out, of traces that are known. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Encoder } from "./encode.mjs";
import { largeTrace, makeRandom, smallTrace } from "./samples.mjs";
import { Cursor } from "../../expand/page/src/cursor.mjs";
import { makePalette } from "../../expand/page/src/colors.mjs";
import { CUT_START, UNENDED, firstAbove } from "../../expand/page/src/columns.mjs";
import { paintRow, walkRow } from "../../expand/page/src/raster.mjs";
import { View, formatClock, formatDuration, formatTick, ticks } from "../../expand/page/src/scale.mjs";
import { histogram, order, rankOf, slowest, summarize, summarizeValues } from "../../expand/page/src/stats.mjs";
import { MOST_DEPTH } from "../../expand/page/src/trace.mjs";
import { Search } from "../../expand/page/src/search.mjs";

const small = () => smallTrace().trace();
const textOf = (trace, { lane, depth, index }) => trace.texts.get(lane.rows[depth].text[index]);

test("test_cursor_large_numbers_are_exact", () => {
	const bytes = Uint8Array.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x03, 0x04]);
	const cursor = new Cursor(bytes);
	assert.equal(cursor.varint(), 2 ** 53 - 1);
	assert.equal(cursor.signed(), -2);
	assert.equal(cursor.signed(), 2);
	assert.ok(cursor.isAtEnd);
});

test("test_cursor_cut_number_throws", () => {
	assert.throws(() => new Cursor(Uint8Array.from([0x80])).varint(), /cut off/);
	assert.throws(() => new Cursor(Uint8Array.from([1])).take(2), /too early/);
});

test("test_reader_regions_have_depth_parent_and_text", () => {
	const trace = small(), [main] = trace.lanes;
	assert.deepEqual([...main.rows[0].start], [100]);
	assert.deepEqual([...main.rows[0].end], [1100]);
	assert.deepEqual([...main.rows[1].start], [200, 800]);
	assert.deepEqual([...main.rows[1].parent], [0, 0]);
	assert.equal(textOf(trace, { lane: main, depth: 1, index: 1 }), "file b");
	assert.deepEqual([trace.start, trace.end, trace.regions, trace.events], [0, 1200, 6, 19]);
});

test("test_reader_chunks_give_the_same_as_one", () => {
	const whole = largeTrace(4000).trace(), encoder = largeTrace(2000);
	const cut = largeTrace(4000);
	cut.threads.forEach((thread) => assert.ok(thread.events));
	assert.deepEqual(cut.trace().lanes[3].rows[1].start, whole.lanes[3].rows[1].start);
	const half = encoder.flush();
	half.threads[0].enter(half.threads[0].clock + 5, "io", "read").leave(half.threads[0].clock + 9);
	const row = half.trace().lanes[0].rows[0];
	assert.equal(row.end[row.length - 1] - row.start[row.length - 1], 9);
});

test("test_reader_open_region_ends_with_the_trace", () => {
	const row = small().lanes[1].rows[0];
	assert.equal(row.end[1], 1200);
	assert.equal(row.flags[1], UNENDED);
	assert.equal(row.flags[0], 0);
});

test("test_reader_gap_begins_with_the_last_event_before", () => {
	const trace = small();
	assert.deepEqual(trace.lanes[1].gaps, [{ from: 300, to: 900, events: 40 }]);
	assert.equal(trace.lost, 40);
});

test("test_reader_gap_without_an_event_before_begins_with_the_trace", () => {
	const encoder = new Encoder(), process = encoder.process(1, "a");
	encoder.thread(process, 0, "main").enter(10, "a", "one").leave(20);
	encoder.thread(process, 1, "th01:late").lost(500, 7, 0).enter(500, "a", "two").leave(510);
	assert.deepEqual(encoder.trace().lanes[1].gaps, [{ from: 10, to: 500, events: 7 }]);
});

test("test_reader_depth_closes_and_opens_what_was_not_seen", () => {
	const encoder = new Encoder(), thread = encoder.thread(encoder.process(1, "a"), 0, "main");
	thread.enter(10, "a", "one").enter(20, "a", "two").depth(0).enter(30, "a", "three").leave(40);
	thread.depth(2).leave(50).leave(60);
	const trace = encoder.trace(), { rows } = trace.lanes[0];
	assert.deepEqual([...rows[0].end], [20, 40, 60]);
	assert.deepEqual([...rows[0].flags], [UNENDED, 0, 0]);
	assert.equal(trace.siteOf({ lane: trace.lanes[0], depth: 1, index: 1 }).label, "(enter not seen)");
});

test("test_reader_region_from_before_its_row_is_cut", () => {
	const encoder = new Encoder(), thread = encoder.thread(encoder.process(1, "a"), 0, "main");
	thread.enter(100, "a", "one").leave(200).enter(50, "a", "two").leave(300);
	const { rows } = encoder.trace().lanes[0];
	assert.deepEqual([...rows[0].start], [100, 200]);
	assert.equal(rows[0].flags[1], CUT_START);
});

test("test_reader_endless_nesting_is_kept_to_a_depth", () => {
	const encoder = new Encoder(), thread = encoder.thread(encoder.process(1, "a"), 0, "main");
	for (let i = 0; i < 100000; i++)
		thread.enter(10 + i, "a", "forgotten");
	for (let i = 0; i < 99999; i++)
		thread.leave(200000 + i);
	const { rows, tooDeep } = encoder.trace().lanes[0];
	assert.deepEqual([rows.length, tooDeep], [MOST_DEPTH, 100000 - MOST_DEPTH]);
	assert.deepEqual([rows[1].flags[0], rows[0].flags[0]], [0, UNENDED]);
});

test("test_reader_times_of_all_lengths_are_exact", () => {
	const encoder = new Encoder(), thread = encoder.thread(encoder.process(1, "a"), 0, "main"), times = [];
	for (let time = 0, step = 1; step < 2 ** 45; step *= 2)
		times.push(...[step - 1, step, step + 1].map((by) => time += by));
	times.forEach((time, at) => at % 2 ? thread.leave(time) : thread.enter(time, `c${at}`, "region"));
	const { start, end } = encoder.trace().lanes[0].rows[0];
	assert.deepEqual([...start], times.filter((_, at) => at % 2 === 0));
	assert.deepEqual([...end].slice(0, times.length >> 1), times.filter((_, at) => at % 2));
});

test("test_processes_forked_have_the_name_of_their_parent", () => {
	const encoder = new Encoder();
	const add = (pid, sid, startTicks, name) => {
		const thread = encoder.thread(encoder.process(pid, sid, startTicks), 0, "main");
		thread.point(10 * pid, name ? "start" : "step", "", "", null, name);
	};
	add(4, "a/f/g", "700", "");
	add(1, "a", "700", "/bin/daemon -x");
	add(2, "a/x", "701", "");
	add(3, "a/f", "700", "");
	add(5, "a/f/w", "700", "worker");
	add(1, "a", "700", "");
	add(6, "a", "700", "");
	add(7, "b", "0", "other");
	add(8, "b/x", "0", "");
	const titles = encoder.trace().processes.map(({ pid, title }) => `${pid} ${title}`);
	assert.deepEqual(titles.sort(), ["1 daemon", "1 daemon", "2 process 2", "3 daemon [fork]", "4 daemon [fork]",
		"5 worker [fork]", "6 daemon [fork]", "7 other", "8 process 8"]);
});

test("test_reader_section_with_fewer_numbers_than_events_throws", () => {
	for (const column of [0, 1]) {
		const encoder = new Encoder(), thread = encoder.thread(encoder.process(1, "a"), 0, "main");
		thread.enter(1, "a", "b").leave(300);
		thread.columns[column].length = 1;
		assert.throws(() => encoder.trace(), /cut off/);
	}
});

test("test_reader_unknown_thread_throws", () => {
	const encoder = new Encoder();
	encoder.thread(encoder.process(1, "a"), 0, "main").enter(1, "a", "b");
	encoder.flush();
	encoder.facts.threads = [];
	assert.throws(() => encoder.trace(), /thread 0/);
});

test("test_trace_process_is_named_after_its_program", () => {
	assert.deepEqual(small().processes.map(({ title }) => title), ["parent", "child"]);
});

test("test_trace_series_has_the_values_in_order", () => {
	const [series] = small().processes[0].series;
	assert.equal(series.title, "db/rows");
	assert.deepEqual([[...series.time], [...series.value]], [[1050, 1060], [5, 9]]);
});

test("test_series_of_several_threads_is_in_the_order_of_time", () => {
	const encoder = new Encoder(), process = encoder.process(1, "a"), wanted = [];
	for (let tid = 0; tid < 5; tid++) {
		const thread = encoder.thread(process, tid, `th${tid}`);
		for (let i = 0; i < 20; i++) {
			const time = 100 * (i * 7 % 20) + 10 * i + tid;      // the clock goes back now and then
			thread.point(time, "data", "a", "b", null, String(time));
			wanted.push(time);
		}
	}
	const [{ time, value }] = encoder.trace().processes[0].series;
	wanted.sort((a, b) => a - b);
	assert.deepEqual([[...time], [...value]], [wanted, wanted]);
});

test("test_texts_of_data_are_numbers_only_if_all_of_them_is", () => {
	const encoder = new Encoder(), thread = encoder.thread(encoder.process(1, "a"), 0, "main");
	const says = ["12", "-7.5", "", "12 apples", "-", "1e3", "path/7", "5."];
	says.forEach((text, at) => {
		thread.point(at, "data", "a", "b", null, text);
		encoder.flush();
	});
	const trace = encoder.trace(), { value, text } = trace.lanes[0].points;
	assert.deepEqual([...text].map((number) => trace.texts.get(number)), says);
	assert.deepEqual([...value], [12, -7.5, ...says.slice(2).map(() => NaN)]);
});

test("test_series_walk_shows_the_span_of_each_pixel", () => {
	const encoder = new Encoder(), thread = encoder.thread(encoder.process(1, "a"), 0, "main");
	[[100, 5], [101, 9], [102, -3], [500, 7]].forEach(([time, value]) =>
		thread.point(time, "data_intmax", "a", "b", value));
	const trace = encoder.trace(), [series] = trace.processes[0].series, seen = [];
	series.walk(0, new View(100, 600, 50), (...step) => seen.push(step));
	assert.deepEqual(seen, [[0, 40, -3, 9, -3], [40, 50, 7, 7, 7]]);
	assert.deepEqual(series.spread(0, 4), { low: -3, high: 9 });
	assert.deepEqual(series.spread(3, 4), { low: 0, high: 7 });
});

test("test_flows_families_are_ordered_parents_first", () => {
	const encoder = new Encoder();
	[["b", 50], ["a/y", 40], ["a", 10], ["a/x", 20], ["a/x/z", 60]].forEach(([sid, time], at) =>
		encoder.thread(encoder.process(at, sid), 0, "main").enter(time, "c", "d").leave(time + 1));
	const ordered = encoder.trace().processes.map(({ sid, depth }) => [sid, depth]);
	assert.deepEqual(ordered, [["a", 0], ["a/x", 1], ["a/x/z", 2], ["a/y", 1], ["b", 0]]);
});

test("test_flows_child_start_leads_to_the_child", () => {
	const trace = small();
	assert.deepEqual(trace.flows.map(({ fromTime, toTime, to }) => [fromTime, toTime, to.index]), [[50, 120, 2]]);
});

test("test_columns_first_above_is_the_next_larger", () => {
	const column = Float64Array.from([1, 3, 3, 7]);
	assert.deepEqual([0, 1, 3, 6, 7].map((limit) => firstAbove(column, 4, limit)), [0, 1, 3, 3, 4]);
});

test("test_pyramid_busy_time_is_that_of_the_regions", () => {
	const [lane] = largeTrace(20000, 1).trace().lanes;
	for (const row of lane.rows) {
		const busy = row.end.reduce((sum, end, i) => sum + end - row.start[i], 0);
		for (const level of row.pyramid.levels)
			assert.equal(level.busy.reduce((sum, part) => sum + part, 0), busy);
		const longest = row.pyramid.levels.at(-1).longest;
		const best = Math.max(...[...longest].map((at) => row.end[at] - row.start[at]));
		assert.equal(best, Math.max(...[...row.end].map((end, at) => end - row.start[at])));
	}
});

test("test_raster_walk_loses_no_time_at_any_zoom", () => {
	const trace = largeTrace(30000, 1).trace(), row = trace.lanes[0].rows[1], random = makeRandom(3);
	for (let i = 0; i < 50; i++) {
		const at = random() * row.length * 0.8 | 0, start = row.start[at];
		const end = row.end[Math.min(row.length - 1, at + 1 + (random() ** 2 * row.length * 0.2 | 0))];
		const view = new View(start, end, 400);
		let seen = 0, lastX = -1;
		walkRow(row, view, (index) => seen += row.end[index] - row.start[index], (x, _, busy) => {
			assert.ok(x > lastX);
			lastX = x;
			seen += busy;
		});
		const wanted = row.end.reduce((sum, to, j) =>
			to > start && row.start[j] < end ? sum + to - row.start[j] : sum, 0);
		assert.ok(Math.abs(seen - wanted) <= wanted * 0.001 + view.nsPerPixel * 2, `${seen} of ${wanted}`);
	}
});

test("test_raster_far_away_looks_at_few_blocks", () => {
	const trace = largeTrace(200000, 1).trace(), row = trace.lanes[0].rows[1];
	let looks = 0;
	const climb = row.pyramid.climb.bind(row.pyramid);
	row.pyramid.climb = (...args) => (looks++, climb(...args));
	walkRow(row, new View(trace.start, trace.end, 1000), () => looks++, () => {});
	assert.ok(row.length > 50000 && looks < 20000, `${looks} of ${row.length}`);
});

test("test_raster_wide_region_fills_its_pixels", () => {
	const trace = small(), line = new Uint32Array(120), colors = new Uint32Array(20).fill(0xff00ff00);
	const wide = paintRow(trace.lanes[0].rows[1], new View(0, 1200, 120), line, colors, 7, 10);
	assert.deepEqual(wide, [{ index: 0, from: 20, to: 70 }, { index: 1, from: 80, to: 100 }]);
	assert.equal(line[19], 7);
	assert.equal(line[20], 0xff00ff00);
	assert.equal(line[75], 7);
});

test("test_scale_zoom_keeps_the_time_under_the_pointer", () => {
	const view = new View(0, 1000, 500), closer = view.zoomed(0.5, 300, { start: 0, end: 1000 });
	assert.equal(closer.x(300), view.x(300));
	assert.equal(closer.span, 500);
});

test("test_scale_view_stays_at_the_trace", () => {
	const bounds = { start: 0, end: 1000 };
	const view = new View(0, 100, 500).moved(1e6, bounds);
	assert.ok(view.start <= 1000 && view.span === 100);
	assert.ok(new View(0, 1000, 10).zoomed(1e9, 500, bounds).span <= 1200);
});

test("test_scale_times_are_readable", () => {
	assert.deepEqual([3, 1500, 12345678, 2.5e9].map(formatDuration), ["3 ns", "1.500 µs", "12.35 ms", "2.500 s"]);
	assert.equal(formatTick(1500000, 500000), "1.5 ms");
	assert.equal(formatClock(1790000000000000000n, 1, 3600), "2026-09-21 14:13:20.000000001".replace("14", "15"));
	const { step, times } = ticks(new View(5, 1005, 1000), 100, 5);
	assert.equal(step, 100);
	assert.deepEqual([times.length, times[0]], [11, 5]);
});

test("test_stats_totals_are_exact", () => {
	const totals = new Map(summarize(small()).map((total) => [`${total.category}/${total.label}`, total]));
	const read = totals.get("io/read"), open = totals.get("db/open");
	assert.deepEqual([read.count, read.total, read.min, read.max, read.p50], [3, 710, 10, 500, 200]);
	assert.deepEqual([open.total, open.self], [1000, 300]);
});

test("test_stats_of_a_range_are_cut_to_it", () => {
	const totals = summarize(small(), { start: 600, end: 900 });
	const read = totals.find(({ label }) => label === "read"), open = totals.find(({ label }) => label === "open");
	assert.deepEqual([read.count, read.total, open.total, open.self], [2, 200, 300, 100]);
});

test("test_stats_percentile_is_the_nearest_rank", () => {
	assert.deepEqual([0.5, 0.9, 0.99, 1].map((part) => rankOf(100, part)), [49, 89, 98, 99]);
	assert.equal(rankOf(1, 0.99), 0);
});

test("test_stats_order_is_what_sorting_gives", () => {
	const random = makeRandom(7);
	const shapes = [(at) => at, (at) => 70000 - at, () => 5, () => random() * 9 | 0, () => 1e6 * random() ** 9 | 0];
	for (const shape of shapes)
		for (const count of [1, 2, 10, 20000, 70000]) {
			const values = Float64Array.from({ length: count }, (_, at) => shape(at));
			const ranks = [0, 0.2, 0.5, 0.9, 0.99, 1].map((part) => rankOf(count, part));
			const sorted = values.slice().sort(), found = order(values);
			assert.deepEqual(ranks.map(found), ranks.map((rank) => sorted[rank]));
		}
});

test("test_stats_of_a_range_that_is_no_whole_number_count_all", () => {
	const trace = largeTrace(200000).trace(), half = (trace.start + trace.end) / 2;
	const totals = summarize(trace, { start: trace.start + 0.25, end: half + 0.3 });
	for (const { count, min, p50, max, total } of totals)
		assert.ok(count && min >= 0 && min <= p50 && p50 <= max && max <= total && Number.isInteger(p50));
});

test("test_stats_slowest_come_first", () => {
	const trace = largeTrace(30000).trace(), [total] = summarize(trace).filter(({ label }) => label === "read");
	const best = slowest(trace, total.name, 10).map(({ lane, depth, index }) =>
		lane.rows[depth].end[index] - lane.rows[depth].start[index]);
	assert.equal(best[0], total.max);
	assert.equal(best.length, 10);
	assert.deepEqual(best, [...best].sort((a, b) => b - a));
});

test("test_stats_histogram_counts_each_region_once", () => {
	const trace = largeTrace(30000).trace(), [total] = summarize(trace).filter(({ label }) => label === "read");
	const bins = histogram(trace, total.name, 40);
	assert.equal(bins.reduce((sum, { count }) => sum + count, 0), total.count);
	assert.ok(bins[0].from <= total.min + 1e-6 && bins[39].to >= total.max - 1e-3);
});

test("test_stats_values_have_least_mean_and_last", () => {
	const [rows] = summarizeValues(small());
	assert.deepEqual([rows.count, rows.min, rows.mean, rows.max, rows.last], [2, 5, 7, 9, 9]);
});

test("test_search_finds_names_and_texts", () => {
	const trace = small();
	assert.equal(new Search(trace, "READ").count, 3);
	assert.equal(new Search(trace, "file b").count, 1);
	assert.equal(new Search(trace, "").count, 0);
	assert.equal(new Search(trace, "nowhere").next(null), null);
});

test("test_search_next_and_previous_go_around_in_the_order_of_time", () => {
	const trace = largeTrace(3000, 3).trace(), search = new Search(trace, "query");
	const starts = [];
	let at = search.next(null);
	const first = at;
	for (let i = 0; i < search.count; i++, at = search.next(at)) {
		starts.push(at.lane.rows[at.depth].start[at.index]);
		assert.equal(search.position(at), i + 1);
	}
	assert.deepEqual(at, first);
	assert.deepEqual(starts, [...starts].sort((a, b) => a - b));
	for (let i = search.count; i > 0; i--) {
		at = search.next(at, -1);
		assert.equal(search.position(at), i);
	}
});

test("test_colors_of_few_categories_are_told_apart_by_label", () => {
	const hues = (/** @type {number} */ categories) => {
		const encoder = new Encoder(), thread = encoder.thread(encoder.process(1, "a"), 0, "main");
		for (let i = 0; i < 40; i++)
			thread.enter(i, `category ${i % categories}`, `label ${i}`).leave(i);
		const { css } = makePalette(encoder.trace(), false, 0);
		const some = css.slice(0, 40).filter((_, at) => at % categories === 0);
		return new Set(some.map((color) => {
			const [red, green, blue] = color.match(/\d+/g).map(Number);
			return [red > green, green > blue, blue > red].join();
		})).size;
	};
	assert.ok(hues(1) > 4, `${hues(1)} of one category`);
	assert.ok(hues(10) < 4, `${hues(10)} of one of many`);
});
