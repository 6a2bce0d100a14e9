// SPDX-License-Identifier: MIT
/** Data over time: what all threads of a process have said under one name. */
import { firstAbove } from "./columns.mjs";

/** Values of one name in one process over time. */
export class Series {
	/**
	 * @param {number} name
	 * @param {string} title
	 * @param {number} count of values
	 */
	constructor(name, title, count) {
		this.name = name;
		this.title = title;
		this.time = new Float64Array(count);
		this.value = new Float64Array(count);
		this.high = 0;
	}

	/** Its values, which came thread by thread, in the order of time. */
	finish() {
		const { time } = this;
		let runs = [0];
		for (let at = 1; at < time.length; at++)
			if (time[at] < time[at - 1])
				runs.push(at);
		while (runs.length > 1)
			runs = this.mergeRuns(runs);
		this.high = this.spread(0, this.value.length).high;
	}

	/**
	 * Each two neighbours of what is in order become one.
	 * @param {number[]} runs where they begin
	 * @returns {number[]} the same of these
	 */
	mergeRuns(runs) {
		const { time, value } = this, times = new Float64Array(time.length);
		const values = new Float64Array(time.length);
		for (let run = 0; run < runs.length; run += 2) {
			const middle = runs[run + 1] ?? time.length, end = runs[run + 2] ?? time.length;
			let left = runs[run], right = middle;
			for (let at = left; at < end; at++) {
				const isLeft = right === end || left < middle && time[left] <= time[right];
				const from = isLeft ? left++ : right++;
				times[at] = time[from];
				values[at] = value[from];
			}
		}
		this.time = times;
		this.value = values;
		return runs.filter((_, run) => run % 2 === 0);
	}

	/**
	 * The least and the largest of some values; 0 is always within.
	 * @param {number} first
	 * @param {number} behind
	 */
	spread(first, behind) {
		let low = 0, high = -Infinity;
		for (let at = first; at < behind; at++) {
			low = Math.min(low, this.value[at]);
			high = Math.max(high, this.value[at]);
		}
		return { low, high: behind > first ? high : 0 };
	}

	/**
	 * Calls visit(from, to, least, most, last) for each pixel in which a value begins, with where it ends.
	 * @param {number} first index of a value
	 * @param {import("./scale.mjs").View} view
	 * @param {(from: number, to: number, least: number, most: number, last: number) => void} visit
	 */
	walk(first, view, visit) {
		const { time, value } = this;
		for (let at = first; at < time.length && time[at] < view.end;) {
			const x = Math.max(0, Math.floor(view.x(time[at]))), next = view.time(x + 1);
			const behind = Math.max(at + 1, firstAbove(time, time.length, next));
			let least = value[at], most = least;
			for (let one = at + 1; one < behind; one++) {
				least = Math.min(least, value[one]);
				most = Math.max(most, value[one]);
			}
			const to = behind < time.length ? view.x(time[behind]) : view.width;
			visit(x, to, least, most, value[behind - 1]);
			at = behind;
		}
	}
}

/** Totals at the end of a thread or process are no series. */
const SERIES_KINDS = new Set(["data_intmax", "data"]);

/**
 * @param {import("./trace.mjs").Trace} trace
 * @param {import("./trace.mjs").Process} process
 * @returns {Series[]}
 */
export function makeSeries(trace, process) {
	const nameOf = Int32Array.from(trace.sites, ({ kind, name }) => SERIES_KINDS.has(kind) ? name : -1);
	const counts = new Uint32Array(trace.names.length), filled = new Uint32Array(counts.length);
	for (const { points: { length, site, value } } of process.lanes)
		for (let at = 0; at < length; at++)
			if (nameOf[site[at]] >= 0 && value[at] === value[at])
				counts[nameOf[site[at]]]++;
	const all = trace.names.map(({ category, label }, name) => counts[name]
		? new Series(name, category ? `${category}/${label}` : label, counts[name]) : null);
	for (const { points } of process.lanes)
		fillSeries(all, points, nameOf, filled);
	const made = all.filter((series) => series !== null);
	made.forEach((series) => series.finish());
	return made;
}

/**
 * The values of a thread, behind those of others.
 * @param {(Series | null)[]} all by name
 * @param {import("./columns.mjs").Points} points
 * @param {Int32Array} nameOf by site; -1: it has no values over time
 * @param {Uint32Array} filled how many values each has already
 */
function fillSeries(all, { length, site, time, value }, nameOf, filled) {
	for (let at = 0; at < length; at++) {
		const name = nameOf[site[at]];
		if (name < 0 || value[at] !== value[at])
			continue;
		const series = /** @type {Series} */ (all[name]), to = filled[name]++;
		series.time[to] = time[at];
		series.value[to] = value[at];
	}
}
