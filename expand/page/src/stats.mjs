// SPDX-License-Identifier: MIT
/** Numbers about regions by name: counts, times, percentiles, histograms; of the whole trace, or of a part of it. */
import { firstAbove } from "./columns.mjs";

/**
 * @typedef {object} Total
 * @property {number} name
 * @property {string} category
 * @property {string} label
 * @property {number} count
 * @property {number} total nanoseconds, as all below
 * @property {number} self without the regions within
 * @property {number} mean
 * @property {number} min
 * @property {number} p50
 * @property {number} p90
 * @property {number} p99
 * @property {number} max
 */
/** @typedef {import("./trace.mjs").Trace} Trace */
/** @typedef {import("./trace.mjs").Lane} Lane */
/** @typedef {{ start: number, end: number }} Range */

/**
 * Calls visit for each region that is at least partly in the range.
 * @param {Trace} trace
 * @param {Range} range
 * @param {(row: import("./columns.mjs").Row, index: number, lane: Lane, depth: number) => void} visit
 */
function eachRegion(trace, range, visit) {
	for (const lane of trace.lanes)
		lane.rows.forEach((row, depth) => {
			let at = firstAbove(row.end, row.length, range.start);
			for (; at < row.length && row.start[at] < range.end; at++)
				visit(row, at, lane, depth);
		});
}

/**
 * @param {Trace} trace
 * @param {Range} [range] times are cut to it
 * @returns {Total[]} one for each name that occurs
 */
export function summarize(trace, range = { start: -Infinity, end: Infinity }) {
	const names = trace.names.length, nameOf = trace.sites.map((site) => site.name);
	const counts = new Uint32Array(names + 1), total = new Float64Array(names), self = new Float64Array(names);
	eachRegion(trace, range, (row, at, lane, depth) => {
		const name = nameOf[row.site[at]];
		const length = Math.min(row.end[at], range.end) - Math.max(row.start[at], range.start);
		counts[name]++;
		total[name] += length;
		self[name] += length;
		if (depth)
			self[nameOf[lane.rows[depth - 1].site[row.parent[at]]]] -= length;
	});
	const durations = gather(trace, range, counts, nameOf);
	return trace.names.flatMap((names, name) => counts[name] ? [{
		name, category: names.category, label: names.label, count: counts[name], total: total[name],
		self: Math.max(0, self[name]), ...spread(durations[name]),
	}] : []);
}

/**
 * The durations of each name, sorted.
 * @param {Trace} trace
 * @param {Range} range
 * @param {Uint32Array} counts
 * @param {number[]} nameOf
 */
function gather(trace, range, counts, nameOf) {
	const durations = trace.names.map((_, name) => new Float64Array(counts[name]));
	const filled = new Uint32Array(durations.length);
	eachRegion(trace, range, (row, at) => {
		const name = nameOf[row.site[at]];
		durations[name][filled[name]++] =
			Math.min(row.end[at], range.end) - Math.max(row.start[at], range.start);
	});
	for (const of of durations)
		of.sort();
	return durations;
}

/**
 * The value below which that part of sorted ones is: the nearest rank, as --summary takes it.
 * @param {Float64Array} sorted
 * @param {number} part
 */
export function percentile(sorted, part) {
	return sorted.length ? sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] : 0;
}

/** @param {Float64Array} sorted */
function spread(sorted) {
	return {
		mean: sorted.reduce((sum, value) => sum + value, 0) / sorted.length,
		min: sorted[0], max: sorted[sorted.length - 1],
		p50: percentile(sorted, 0.5), p90: percentile(sorted, 0.9), p99: percentile(sorted, 0.99),
	};
}

/**
 * All regions of a name, the longest first.
 * @param {Trace} trace
 * @param {number} name
 * @param {number} most
 * @returns {import("./trace.mjs").Region[]}
 */
export function slowest(trace, name, most) {
	/** @type {{ lane: Lane, depth: number, index: number, length: number }[]} */
	let best = [];
	let least = -1;
	const isIt = trace.sites.map((site) => site.name === name);
	const keep = () => {
		best = best.sort((a, b) => b.length - a.length).slice(0, most);
		least = best.length === most ? best[most - 1].length : -1;
	};
	eachRegion(trace, { start: -Infinity, end: Infinity }, (row, index, lane, depth) => {
		const length = row.end[index] - row.start[index];
		if (!isIt[row.site[index]] || length <= least)
			return;
		best.push({ lane, depth, index, length });
		if (best.length >= 4 * most)
			keep();
	});
	keep();
	return best.map(({ lane, depth, index }) => ({ lane, depth, index }));
}

/** @typedef {{ from: number, to: number, count: number }} Bin */

/** @param {Trace} trace @param {number} name @param {(length: number) => void} visit with 1 for 0 */
function eachLength(trace, name, visit) {
	const isIt = trace.sites.map((site) => site.name === name);
	for (const lane of trace.lanes)
		for (const { site, start, end, length } of lane.rows)
			for (let at = 0; at < length; at++)
				if (isIt[site[at]])
					visit(Math.max(1, end[at] - start[at]));
}

/**
 * How many regions of a name are how long, in bins that are equally wide on a scale of powers.
 * @param {Trace} trace
 * @param {number} name
 * @param {number} bins
 * @returns {Bin[]}
 */
export function histogram(trace, name, bins) {
	let least = Infinity, most = 1;
	eachLength(trace, name, (length) => {
		least = Math.min(least, length);
		most = Math.max(most, length);
	});
	if (least === Infinity)
		return [];
	const low = Math.log(least), step = Math.max((Math.log(most) - low) / bins, 1e-9);
	const counts = new Uint32Array(bins);
	eachLength(trace, name, (length) => counts[Math.min(bins - 1, (Math.log(length) - low) / step | 0)]++);
	return Array.from(counts, (count, bin) => ({
		from: Math.exp(low + bin * step), to: Math.exp(low + (bin + 1) * step), count,
	}));
}

/**
 * Data of each series: count, least, mean, most, last; counters and timers as they were told at the end.
 * @param {Trace} trace
 */
export function summarizeValues(trace) {
	return trace.processes.flatMap((process) => process.series.map((series) => ({
		process: process.title, pid: process.pid, name: series.title, count: series.value.length,
		min: series.value.reduce((a, b) => Math.min(a, b), Infinity),
		mean: series.value.reduce((a, b) => a + b, 0) / series.value.length,
		max: series.high, last: series.value[series.value.length - 1],
	})));
}
