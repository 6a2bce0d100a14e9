// SPDX-License-Identifier: MIT
/**
 * A trace, or a part of it, in the file format of speedscope: a profile for each thread.  Up to MOST_EVENTS it has
 * every region in its time; above, regions with the same names below the same names are one, with their self times
 * added up, which is all that its Left Heavy and Sandwich views look at.
 */
import { firstAbove } from "./columns.mjs";

export const MOST_EVENTS = 400000;
const SCHEMA = "https://www.speedscope.app/file-format-schema.json";

/** @typedef {import("./trace.mjs").Trace} Trace */
/** @typedef {import("./trace.mjs").Lane} Lane */
/** @typedef {{ start: number, end: number }} Range */

/**
 * @param {Trace} trace
 * @param {Range} range
 * @returns {{ file: object, isExact: boolean }}
 */
export function toSpeedscope(trace, range) {
	const lanes = trace.lanes.filter((lane) => countRegions(lane, range));
	const events = 2 * lanes.reduce((sum, lane) => sum + countRegions(lane, range), 0);
	const isExact = events <= MOST_EVENTS, make = isExact ? makeEvented : makeSampled;
	const profiles = lanes.map((lane) => make(trace, lane, range));
	return {
		isExact,
		file: {
			$schema: SCHEMA, name: trace.source || "trace", activeProfileIndex: busiest(lanes, range),
				exporter: "t2expand",
			shared: { frames: trace.sites.map(makeFrame) }, profiles,
		},
	};
}

/** @param {import("./trace.mjs").Site} site */
function makeFrame({ category, label, file, line }) {
	return { name: category ? `${category}/${label}` : label, ...file ? { file, line } : {} };
}

/** @param {Lane[]} lanes @param {Range} range */
function busiest(lanes, range) {
	const counts = lanes.map((lane) => countRegions(lane, range));
	return Math.max(0, counts.indexOf(Math.max(...counts)));
}

/**
 * The regions of a row in a range, as [first, behind].
 * @param {import("./columns.mjs").Row} row
 * @param {Range} range
 */
function part(row, range) {
	const first = firstAbove(row.end, row.length, range.start);
	let behind = firstAbove(row.start, row.length, range.end);
	while (behind > first && row.start[behind - 1] >= range.end)
		behind--;
	return [first, behind];
}

/** @param {Lane} lane @param {Range} range */
function countRegions(lane, range) {
	return lane.rows.reduce((sum, row) => {
		const [first, behind] = part(row, range);
		return sum + behind - first;
	}, 0);
}

/** @param {Lane} lane */
const nameOf = (lane) => `${lane.process.title} ${lane.process.pid} · ${lane.name}`;

/** @param {Trace} trace @param {Lane} lane @param {Range} range */
function makeEvented(trace, lane, range) {
	/** @type {{ type: string, frame: number, at: number }[]} */
	const events = [];
	const next = lane.rows.map((row) => part(row, range)[0]), behind = lane.rows.map((row) => part(row, range)[1]);
	const cut = (/** @type {number} */ time) => Math.max(range.start, Math.min(range.end, time));
	/** Puts what is below one region, which is open until its end, at a depth. */
	const put = (/** @type {number} */ depth, /** @type {number} */ end) => {
		const row = lane.rows[depth];
		for (; row && next[depth] < behind[depth] && row.start[next[depth]] < end; next[depth]++) {
			const at = next[depth], to = Math.min(end, cut(row.end[at]));
			events.push({ type: "O", frame: row.site[at], at: cut(row.start[at]) });
			put(depth + 1, to);
			events.push({ type: "C", frame: row.site[at], at: to });
		}
	};
	put(0, range.end);
	return {
		type: "evented", name: nameOf(lane), unit: "nanoseconds", events,
		startValue: events[0]?.at ?? range.start, endValue: events[events.length - 1]?.at ?? range.end,
	};
}

/** @param {Trace} trace @param {Lane} lane @param {Range} range */
function makeSampled(trace, lane, range) {
	/** Number of the stack of each region of the row above. */
	let above = new Uint32Array(0), aboveFirst = 0;
	/** @type {{ frames: number[], weight: number }[]} */
	const stacks = [{ frames: [], weight: 0 }];
	/** @type {Map<number, number>} */
	const numbers = new Map();
	for (const row of lane.rows) {
		const [first, behind] = part(row, range), own = new Uint32Array(behind - first);
		for (let at = first; at < behind; at++) {
			const parent = lane.rows[0] === row ? 0 : above[row.parent[at] - aboveFirst] ?? 0,
				site = row.site[at];
			const key = parent * trace.sites.length + site;
			let stack = numbers.get(key);
			if (stack === undefined) {
				stack = stacks.push({ frames: [...stacks[parent].frames, site], weight: 0 }) - 1;
				numbers.set(key, stack);
			}
			const length = Math.min(row.end[at], range.end) - Math.max(row.start[at], range.start);
			stacks[stack].weight += length;
			stacks[parent].weight -= length;
			own[at - first] = stack;
		}
		above = own;
		aboveFirst = first;
	}
	const used = stacks.slice(1).filter(({ weight }) => weight > 0);
	const total = used.reduce((sum, { weight }) => sum + weight, 0);
	return {
		type: "sampled", name: nameOf(lane), unit: "nanoseconds", startValue: 0, endValue: total,
		samples: used.map(({ frames }) => frames), weights: used.map(({ weight }) => weight),
	};
}
