// SPDX-License-Identifier: MIT
/** What stands where, what a link says, what speedscope is given. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { largeTrace, smallTrace } from "./samples.mjs";
import { makePalette } from "../../expand/page/src/colors.mjs";
import { Motion } from "../../expand/page/src/keys.mjs";
import { Arrangement, Layout, SIZES, rowsTop } from "../../expand/page/src/layout.mjs";
import { emptyState, readHash, writeHash } from "../../expand/page/src/state.mjs";
import { MOST_EVENTS, toSpeedscope } from "../../expand/page/src/speedscope.mjs";
import { summarize } from "../../expand/page/src/stats.mjs";

const small = () => smallTrace().trace();
const ids = (items) => items.map(({ id }) => id);

test("test_layout_groups_threads_by_process", () => {
	const layout = new Layout(small(), new Arrangement());
	assert.deepEqual(ids(layout.items), ["p0", "s0.0", "t0", "t1", "p1", "t2"]);
	layout.items.reduce((y, item) => (assert.equal(item.y, y), y + item.height), 0);
});

test("test_layout_value_that_was_said_once_is_no_curve", () => {
	const encoder = smallTrace();
	encoder.threads[0].point(1210, "data_intmax", "db", "once", 1);
	const trace = encoder.trace();
	assert.equal(trace.processes[0].series.length, 2);
	assert.ok(!ids(new Layout(trace, new Arrangement()).items).includes("s0.1"));
});

/** Processes "web", "db", "web" and one that has no name, with a thread each. */
function familyTrace() {
	const encoder = smallTrace();
	for (const [pid, name] of [[200, "web"], [201, "db"], [202, "web"], [203, ""]]) {
		const thread = encoder.thread(encoder.process(pid, `${pid}`), 0, "main");
		thread.point(10 + pid, "start", "", "", null, name ? `/bin/${name} -x` : "");
		thread.enter(600, "a", "b").leave(650);
	}
	return encoder.trace();
}

test("test_layout_grouped_processes_stand_below_their_programs", () => {
	const arrangement = new Arrangement(), trace = familyTrace();
	arrangement.isGrouped = true;
	const headers = () => new Layout(trace, arrangement).items
		.filter(({ kind }) => kind === "program" || kind === "process");
	const web = trace.processes.find(({ name }) => name === "web");
	const all = headers(), at = all.findIndex(({ id }) => id === `g${web.index}`);
	assert.equal(all[at].processes, 2);
	assert.deepEqual(all.slice(at + 1, at + 3).map(({ process }) => process.name), ["web", "web"]);
	assert.equal(all.filter(({ kind }) => kind === "process").length, trace.processes.length);
	arrangement.toggleFold(`g${web.index}`);
	assert.equal(headers().filter(({ kind }) => kind === "process").length, trace.processes.length - 2);
	assert.ok(arrangement.unfold(trace, web));
	assert.equal(headers().length, all.length);
});

test("test_layout_all_processes_are_folded_and_unfolded", () => {
	const arrangement = new Arrangement(), trace = familyTrace(), all = new Layout(trace, arrangement).items.length;
	arrangement.toggleFold("p0");
	arrangement.toggleAll(trace);
	assert.ok(new Layout(trace, arrangement).items.every(({ kind }) => kind === "process"));
	arrangement.toggleAll(trace);
	assert.equal(new Layout(trace, arrangement).items.length, all);
	arrangement.isGrouped = true;
	arrangement.toggleAll(trace);
	assert.ok(new Layout(trace, arrangement).items.every(({ kind }) => kind === "program"));
});

test("test_colors_of_a_name_are_the_same_in_each_trace", () => {
	const one = smallTrace(), other = smallTrace();
	for (const category of ["a", "b", "c", "d"])
		other.threads[0].enter(1300, category, "x").leave(1310);
	const colorIn = (trace) => makePalette(trace, false, 0)
		.css[trace.sites.findIndex(({ kind, label }) => kind === "region_enter" && label === "read")];
	assert.match(colorIn(one.trace()), /^rgb/);
	assert.equal(colorIn(one.trace()), colorIn(other.trace()));
});

test("test_trace_times_of_timers_have_units", () => {
	const encoder = smallTrace();
	encoder.threads[0].point(1210, "timer", "db", "query", null,
		"intervals:3 total:0.001234567 min:0.000000280 max:1.500000000");
	const trace = encoder.trace(), [lane] = trace.lanes;
	const at = [...lane.points.site].findIndex((site) => trace.sites[site].kind === "timer");
	assert.equal(trace.textOf(lane, at), "intervals:3 total:1.235 ms min:280 ns max:1.500 s");
});

test("test_keys_no_frame_moves_backwards", () => {
	const motion = new Motion();
	motion.press("d", 1000);
	assert.deepEqual(motion.step(993), { d: 0 });      // a frame that had begun before the key
	assert.deepEqual(motion.step(1016), { d: 16 });
	assert.deepEqual(motion.step(1500), { d: 50 });    // nobody jumps after a long frame
});

test("test_keys_tap_moves_however_short_it_is", () => {
	const motion = new Motion();
	let moved = 0;
	motion.press("a", 1000);
	motion.release("a");
	for (let now = 995; !motion.isOver && now < 2000; now += 16)
		moved += motion.step(now).a;
	assert.equal(moved, 70);
	assert.ok(motion.isOver);
	motion.press("a", 2000);
	motion.clear();
	assert.ok(motion.isOver);
});

test("test_layout_pinned_lane_is_above_and_only_there", () => {
	const arrangement = new Arrangement();
	arrangement.togglePin("t2");
	const layout = new Layout(small(), arrangement);
	assert.deepEqual(ids(layout.pinned), ["t2"]);
	assert.ok(!ids(layout.items).includes("t2"));
	assert.equal(layout.at(3, 1000)?.item.id, "t2");
	assert.equal(layout.at(layout.pinnedHeight + 1, 0)?.item.id, "p0");
	arrangement.togglePin("t2");
	assert.deepEqual(new Layout(small(), arrangement).pinned, []);
});

test("test_layout_folded_process_shows_its_header_only", () => {
	const arrangement = new Arrangement();
	arrangement.toggleFold("p0");
	arrangement.toggleFold("t2");
	const layout = new Layout(small(), arrangement);
	assert.deepEqual(ids(layout.items), ["p0", "p1", "t2"]);
	assert.equal(layout.find("t2")?.rows, 1);
});

test("test_layout_moved_lane_stays_in_its_process", () => {
	const arrangement = new Arrangement(), trace = small();
	arrangement.move(trace, "t1", "t0");
	assert.deepEqual(ids(new Layout(trace, arrangement).items), ["p0", "s0.0", "t1", "t0", "p1", "t2"]);
	arrangement.move(trace, "t1", "");
	arrangement.move(trace, "t1", "t2");
	assert.deepEqual(ids(new Layout(trace, arrangement).items), ["p0", "s0.0", "t0", "t1", "p1", "t2"]);
});

test("test_layout_finds_the_item_below_the_pointer", () => {
	const trace = small(), layout = new Layout(trace, new Arrangement());
	const item = layout.find("t0"), top = rowsTop(trace.lanes[0]);
	const found = layout.at(item.y + top + SIZES.row + 2 - 10, 10);
	assert.deepEqual([found.item.id, Math.floor((found.y - top) / SIZES.row)], ["t0", 1]);
	assert.equal(layout.at(1e6, 0), null);
	assert.deepEqual(ids(layout.visible(item.y + 1, item.y + 2)), ["t0"]);
});

test("test_state_hash_says_the_same_again", () => {
	const state = {
		tab: "statistics", view: [-5, 1e15], range: [10, 20], region: [3, 1, 77], profile: "block",
			thread: 3, query: "a&b #c",
			theme: "dark",
		pinned: ["t3", "s0.1"], folded: ["p2", "g0"], order: ["t2", "t1"], isGrouped: true, top: 340,
	};
	assert.deepEqual(readHash(`#${writeHash(state)}`), state);
	assert.equal(writeHash(emptyState()), "");
	assert.deepEqual(readHash(""), emptyState());
});

test("test_state_wrong_hash_is_left_out", () => {
	assert.deepEqual(readHash("#view=5-1&region=1-2&tab=evil&theme=x&pin=<b>&range=a-b"), emptyState());
});

test("test_speedscope_events_open_and_close_in_order", () => {
	const trace = small(), { file, isExact } = toSpeedscope(trace, trace);
	assert.ok(isExact);
	for (const profile of file.profiles) {
		const open = [];
		let last = profile.startValue;
		for (const { type, frame, at } of profile.events) {
			assert.ok(at >= last && at <= profile.endValue);
			last = at;
			if (type === "O")
				open.push(frame);
			else
				assert.equal(open.pop(), frame);
		}
		assert.equal(open.length, 0);
	}
});

test("test_speedscope_many_regions_are_merged_with_the_same_total", () => {
	const trace = largeTrace(MOST_EVENTS * 1.3, 2).trace(), { file, isExact } = toSpeedscope(trace, trace);
	assert.ok(!isExact);
	const self = summarize(trace).reduce((sum, total) => sum + total.self, 0);
	const given = file.profiles.reduce((sum, { endValue }) => sum + endValue, 0);
	assert.ok(Math.abs(self - given) < 1e-6 * self);
	assert.ok(file.profiles[0].samples.length < 20);
});
