// SPDX-License-Identifier: MIT
/** Traces that tests look at: a small one with everything in it, and one as large as wanted. */
import { Encoder } from "./encode.mjs";

/** Numbers below 1 that are the same in every run. */
export function makeRandom(seed = 1) {
	let state = seed;
	return () => {
		state = Math.imul(state ^ state >>> 15, state | 1);
		state ^= state + Math.imul(state ^ state >>> 7, state | 61);
		return ((state ^ state >>> 14) >>> 0) / 2 ** 32;
	};
}

/** A parent with two threads and a child; nested regions, data, an error, a gap, an open region. */
export function smallTrace() {
	const encoder = new Encoder();
	const parent = encoder.process(100, "p"), child = encoder.process(101, "p/c");
	const main = encoder.thread(parent, 0, "main"), worker = encoder.thread(parent, 1, "th01:worker");
	const other = encoder.thread(child, 0, "main");
	main.point(0, "start", "", "", null, "/usr/bin/parent -v");
	main.point(50, "child_start", "", "", null, "[ch0] argv:[child]");
	main.enter(100, "db", "open").enter(200, "io", "read", "file a").leave(700);
	main.enter(800, "io", "read", "file b").leave(1000);
	main.point(1050, "data_intmax", "db", "rows", 5).point(1060, "data_intmax", "db", "rows", 9);
	main.leave(1100).point(1150, "child_exit", "", "", null, "[ch0] pid:101 code:0");
	main.point(1200, "error", "", "", null, "disk full");
	worker.enter(300, "net", "send").lost(900, 40, 600).leave(950);
	worker.enter(1000, "net", "wait");
	other.point(120, "start", "", "", null, "child").enter(150, "io", "read").leave(160);
	return encoder;
}

/** Two threads with samples of several profiles, and regions around some. */
export function profiledTrace() {
	const encoder = new Encoder(), process = encoder.process(100, "p");
	const main = encoder.thread(process, 0, "main"), worker = encoder.thread(process, 1, "th01:worker");
	main.enter(90, "app", "step");
	main.sample(110, "cpu", ["main", "work"], [1, 10, 1]).sample(115, "heap", ["main", "grow"], [1, 4096, 1]);
	main.sample(120, "cpu", ["main", "work"], [2, 20, 1], "user=me");
	main.sample(125, "heap", ["main", "grow"], [-1, -4096, 1]);
	main.sample(140, "cpu", ["main", "work", "hash"], [2, 20, 1]).sample(150, "cpu", [], [1, 10, 1]);
	main.sample(155, "heap", ["main", "work", "grow"], [1, 1000, 1]);
	main.sample(160, "files", ["main", "open"], [3, 0, 1]);
	main.leave(170);
	worker.sample(130, "cpu", ["run", "hash"], [1, 10, 1]).sample(180, "block", ["run", "wait"], [1, 40, 1]);
	return encoder;
}

/**
 * A server at work: threads with nested regions of lengths that are spread over powers.
 * @param {number} events about so many
 * @param {number} [threads]
 */
export function largeTrace(events, threads = 8) {
	const encoder = new Encoder(), random = makeRandom(7);
	const process = encoder.process(4242, "s");
	const lanes = Array.from({ length: threads }, (_, i) =>
		encoder.thread(process, i, i ? `th${String(i).padStart(2, "0")}:worker` : "main"));
	const names = [["http", "request"], ["db", "query"], ["db", "fetch"], ["io", "read"], ["io", "write"],
		["json", "encode"]];
	lanes.forEach((lane) => lane.clock = 1000);
	for (let made = 0; made < events;) {
		for (const lane of lanes) {
			let time = lane.clock + 200 + 3000 * random() ** 3 | 0;
			const [category, label] = names[0];
			lane.enter(time, category, label);
			for (let i = 0, inner = 1 + 6 * random() | 0; i < inner; i++) {
				const [c, l] = names[1 + 5 * random() | 0];
				lane.enter(time += 40 + 200 * random() | 0, c, l);
				lane.leave(time += 60 + 60000 * random() ** 12 | 0);
				made += 2;
			}
			lane.point(time += 30, "data_intmax", "http", "bytes", 1000 * random() | 0);
			lane.leave(time += 30);
			made += 3;
		}
		if (lanes[0].columns[0].length > 50000)
			encoder.flush();
	}
	return encoder;
}
